//! Folders, S3, Redis and HTTP, by Apache OpenDAL (<https://opendal.apache.org>).
//!
//! Values are objects of one folder, `v1-` and a hash; over HTTP they are plain `GET` and `PUT`. A request ends after
//! [`ANSWER`] at the latest, with all that belongs to it: finding the host, connecting, finding credentials. What is
//! read comes in pieces and is given up beyond the limit, so that no length that a service claims is believed; only
//! Redis gives a value as a whole, as much of it as comes in that time. What OpenDAL says of an error is not passed on,
//! as it may hold addresses and what was signed; its kind, and that of the system's error behind it, are.

use crate::location::Service;
use crate::{Credentials, Location, Remote, Secret, Trouble};
use futures::TryStreamExt;
use opendal::services::{Fs, Redis, S3, Webdav};
use opendal::{Error, ErrorKind, Operator};
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Time for one request.
const ANSWER: Duration = Duration::from_secs(1);
/// Where a folder has what is being written.
const UNFINISHED: &str = ".unfinished";

/// One service.
pub struct Services {
    operator: Operator,
    runtime: Runtime,
}

impl Services {
    /// Makes ready to ask. Credentials before the host of an address win over `credentials`; S3 finds its own, in the
    /// variables and files of AWS.
    ///
    /// Errors: why that cannot be, in words of ours.
    pub fn open(location: &Location, credentials: &Credentials) -> Result<Services, String> {
        // An error only says that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| format!("no thread can be started: {}", error.kind()))?;
        let login = if location.login == Credentials::default() { credentials } else { &location.login };
        let operator = operator(&location.service, login)?;
        Ok(Services { operator, runtime })
    }

    fn within<T>(&self, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        self.runtime.block_on(async {
            match tokio::time::timeout(ANSWER, work).await {
                Ok(answer) => answer,
                Err(_) => Err(Trouble::Unreachable(format!("no answer within {} s", ANSWER.as_secs()))),
            }
        })
    }
}

impl Remote for Services {
    fn get(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, Trouble> {
        self.within(async {
            let reader = self.operator.reader(name).await.map_err(|error| trouble(&error))?;
            let mut bytes = Vec::new();
            let mut stream = match reader.into_stream(..).await {
                Ok(stream) => stream,
                Err(error) => return missing_or(&error),
            };
            loop {
                match stream.try_next().await {
                    Ok(Some(piece)) => piece.into_iter().for_each(|part| bytes.extend_from_slice(&part)),
                    // No envelope is empty.
                    Ok(None) => return Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
                    Err(error) => return missing_or(&error),
                }
                if bytes.len() > limit {
                    return Err(Trouble::TooLarge);
                }
            }
        })
    }

    fn put(&self, name: &str, value: &[u8]) -> Result<(), Trouble> {
        self.within(async {
            match self.operator.write(name, value.to_vec()).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_temporary() || system(&error).is_some() => Err(trouble(&error)),
                // Servers that only read say so in many ways.
                Err(_) => Err(Trouble::Refused),
            }
        })
    }
}

fn operator(service: &Service, login: &Credentials) -> Result<Operator, String> {
    let reveal = |secret: &Option<Secret>| secret.as_ref().map_or("", Secret::reveal).to_owned();
    let (user, password, token) = (reveal(&login.user), reveal(&login.password), reveal(&login.token));
    // What is left out by an empty text is so in all builders.
    let operator = match service {
        Service::Folder(folder) => Operator::new(fs(folder)?).map(|b| b.finish()),
        Service::S3 { bucket, prefix, endpoint, region, anonymous } => {
            let mut builder = S3::default().bucket(bucket).root(prefix);
            if let Some(endpoint) = endpoint {
                builder = builder.endpoint(endpoint);
            }
            if let Some(region) = region {
                builder = builder.region(region);
            }
            if *anonymous {
                builder = builder.skip_signature();
            }
            Operator::new(builder).map(|b| b.finish())
        }
        Service::Redis { encrypted, address, database } => {
            let scheme = if *encrypted { "rediss" } else { "redis" };
            let builder =
                Redis::default().endpoint(&format!("{scheme}://{address}")).db(i64::from(*database));
            Operator::new(builder.username(&user).password(&password).root("invdiff")).map(|b| b.finish())
        }
        Service::Http { encrypted, address, path } => {
            let scheme = if *encrypted { "https" } else { "http" };
            let builder = Webdav::default().endpoint(&format!("{scheme}://{address}")).root(path);
            // Folders are not asked for: any server that has GET and PUT will do.
            let builder = builder.disable_create_dir(true);
            Operator::new(builder.username(&user).password(&password).token(&token)).map(|b| b.finish())
        }
    };
    operator.map_err(|error| match error.kind() {
        ErrorKind::ConfigInvalid => "the address or what belongs to it is not complete".to_owned(),
        _ => said(&trouble(&error)),
    })
}

/// A folder that is there: one that is not mounted is not made.
fn fs(folder: &Path) -> Result<Fs, String> {
    let text = folder.to_str().ok_or("the folder has a name that is no UTF-8")?;
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err("there is a file in the place of the folder".to_owned()),
        Err(error) => return Err(format!("the folder: {}", error.kind())),
    }
    let unfinished = folder.join(UNFINISHED);
    let is_there = unfinished.is_dir() || std::fs::create_dir(&unfinished).is_ok();
    let builder = Fs::default().root(text);
    // Who may not write only reads.
    Ok(if is_there { builder.atomic_write_dir(&format!("{text}/{UNFINISHED}")) } else { builder })
}

fn missing_or<T>(error: &Error) -> Result<Option<T>, Trouble> {
    if error.kind() == ErrorKind::NotFound { Ok(None) } else { Err(trouble(error)) }
}

/// An error without its text.
fn trouble(error: &Error) -> Trouble {
    match (error.kind(), system(error)) {
        (ErrorKind::PermissionDenied, _) => Trouble::Refused,
        // The one status of this meaning that OpenDAL has no kind for.
        (ErrorKind::Unexpected, None) if error.to_string().contains("status: 401") => Trouble::Refused,
        (_, Some(kind)) if is_told(kind) => Trouble::Unreachable(kind.to_string()),
        (_, Some(_)) => Trouble::Unreachable("it cannot be found or reached".to_owned()),
        (ErrorKind::RateLimited, None) => Trouble::Unreachable("it wants fewer requests".to_owned()),
        (ErrorKind::ConfigInvalid, None) => {
            Trouble::Unreachable("the address or the credentials are not complete".to_owned())
        }
        _ => Trouble::Unreachable("the service fails".to_owned()),
    }
}

fn said(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Unreachable(why) => why.clone(),
        Trouble::Refused => "access is refused".to_owned(),
        Trouble::TooLarge => "the value is too large".to_owned(),
    }
}

/// The system's error that is behind one of OpenDAL.
fn system(error: &Error) -> Option<io::ErrorKind> {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(system) = inner.downcast_ref::<io::Error>() {
            return Some(system.kind());
        }
        cause = inner.source();
    }
    None
}

/// Whether the system's word for it says something.
fn is_told(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as E;
    matches!(
        kind,
        E::ConnectionRefused
            | E::ConnectionReset
            | E::ConnectionAborted
            | E::HostUnreachable
            | E::NetworkUnreachable
            | E::NotConnected
            | E::AddrNotAvailable
            | E::BrokenPipe
            | E::TimedOut
            | E::UnexpectedEof
            | E::StorageFull
            | E::ReadOnlyFilesystem
            | E::NotADirectory
    )
}
