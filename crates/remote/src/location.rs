//! Addresses of a shared cache, as `invdiff.cache.remote` has them, and as they may be shown.
//!
//! ```text
//! file:///srv/cache, file:/srv/cache, fs:/srv/cache
//! s3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example:9000&anonymous=true
//! redis://host:6379/0, rediss://host:6379/0
//! http://host/path, https://host:8443/path
//! ```
//!
//! The form is that of RFC 3986, read strictly: what has no meaning here is an error, so that nothing is silently left
//! out. A user and a password may stand before the host of the last two; they are never shown, nor is an address that
//! cannot be read.

use crate::Secret;
use std::fmt::Write;
use std::path::PathBuf;

/// Where a shared cache is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub service: Service,
    /// What stands before the host.
    pub login: Credentials,
}

/// Who asks, at services that have no variables of their own for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credentials {
    pub user: Option<Secret>,
    pub password: Option<Secret>,
    /// A bearer token, for HTTP.
    pub token: Option<Secret>,
}

/// A service, with what it needs to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    Folder(PathBuf),
    S3 {
        bucket: String,
        /// Without a slash at either end.
        prefix: String,
        endpoint: Option<String>,
        region: Option<String>,
        /// Requests are not signed.
        anonymous: bool,
    },
    Redis {
        encrypted: bool,
        /// Host and port.
        address: String,
        database: u32,
    },
    Http {
        encrypted: bool,
        address: String,
        /// Without a slash at either end.
        path: String,
    },
}

impl Location {
    /// Reads an address.
    ///
    /// Errors: what is wrong with it, without its text.
    pub fn parse(text: &str) -> Result<Location, String> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the address has a blank or a control character; write %20 for a blank".to_owned());
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(format!("the address has no service in front; known are {SCHEMES}"));
        };
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let mut options = options(query.unwrap_or_default())?;
        let location = match scheme.to_ascii_lowercase().as_str() {
            "file" | "fs" => Location { service: folder(rest)?, login: Credentials::default() },
            "s3" => Location { service: s3(rest, &mut options)?, login: Credentials::default() },
            "redis" => redis(rest, false)?,
            "rediss" => redis(rest, true)?,
            "http" => http(rest, false)?,
            "https" => http(rest, true)?,
            // A word before a colon may be anything, a user of a mistyped address too.
            _ => return Err(format!("the address is of no service that is known: {SCHEMES}")),
        };
        match options.first() {
            // Its name may be the rest of a password.
            Some(_) => {
                Err("the address has an option that its service does not know, behind the '?'".to_owned())
            }
            None => Ok(location),
        }
    }

    /// The address without user, password and options that are not shown.
    pub fn shown(&self) -> String {
        let login = if self.login == Credentials::default() { "" } else { "***@" };
        let s = |encrypted: bool| if encrypted { "s" } else { "" };
        match &self.service {
            Service::Folder(path) => format!("file://{}", path.display()),
            Service::S3 { bucket, prefix, endpoint, region, anonymous } => {
                let mut text = format!("s3://{bucket}");
                let mut add = |before: &str, part: &str| {
                    // Writing to a text does not fail.
                    let _ = write!(text, "{before}{part}");
                };
                if !prefix.is_empty() {
                    add("/", prefix);
                }
                let anonymous = anonymous.then(|| "true".to_owned());
                let options = [("endpoint=", endpoint), ("region=", region), ("anonymous=", &anonymous)];
                let given = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
                for (k, (name, value)) in given.enumerate() {
                    add(if k == 0 { "?" } else { "&" }, name);
                    add("", value);
                }
                text
            }
            Service::Redis { encrypted, address, database } => {
                format!("redis{}://{login}{address}/{database}", s(*encrypted))
            }
            Service::Http { encrypted, address, path } => {
                format!("http{}://{login}{address}/{path}", s(*encrypted))
            }
        }
    }
}

const SCHEMES: &str = "file, s3, redis, rediss, http, https";

/// Names and values behind a `?`.
fn options(query: &str) -> Result<Vec<(String, String)>, String> {
    let one = |part: &str| match part.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), decoded(value)?)),
        None => Err("the address has an option without a value, behind the '?'".to_owned()),
    };
    query.split('&').filter(|part| !part.is_empty()).map(one).collect()
}

/// Undoes `%41`; what comes out has no control character.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || "the address has a '%' that no two hexadecimal digits of UTF-8 follow".to_owned();
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let digits = part.get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit())).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    if text.chars().any(char::is_control) {
        return Err("the address has a control character".to_owned());
    }
    Ok(text)
}

/// A path of names, without slashes at its ends.
fn path(text: &str) -> Result<String, String> {
    let text = decoded(text)?;
    let text = text.trim_matches('/');
    if text.split('/').any(|name| matches!(name, "." | "..") || (name.is_empty() && !text.is_empty())) {
        return Err("the path of the address has an empty name, '.' or '..'".to_owned());
    }
    Ok(text.to_owned())
}

fn folder(rest: &str) -> Result<Service, String> {
    // `file://host/path` would be another machine's.
    let absolute = rest.strip_prefix("//").unwrap_or(rest);
    if !absolute.starts_with('/') {
        return Err("the folder is not an absolute path: file:///srv/cache".to_owned());
    }
    match path(absolute)? {
        path if path.is_empty() => Err("the folder is the root of the file system".to_owned()),
        path => Ok(Service::Folder(PathBuf::from(format!("/{path}")))),
    }
}

fn s3(rest: &str, options: &mut Vec<(String, String)>) -> Result<Service, String> {
    let rest = rest.strip_prefix("//").ok_or("two slashes follow 's3:'")?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if bucket.is_empty() || !bucket.chars().all(is_name) {
        return Err("the name of the bucket has other characters than letters, digits, '.', '-' and '_'; \
                    credentials come from the environment"
            .to_owned());
    }
    let mut take = |name: &str| {
        let at = options.iter().position(|(other, _)| other == name)?;
        Some(options.remove(at).1)
    };
    let anonymous = match take("anonymous").as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err("the option 'anonymous' is true or false".to_owned()),
    };
    let endpoint = take("endpoint");
    if let Some(endpoint) = &endpoint {
        let host = ["http://", "https://"].iter().find_map(|scheme| endpoint.strip_prefix(scheme));
        authority(host.ok_or("the option 'endpoint' begins with http:// or https://")?.trim_end_matches('/'))
            .map_err(|_| "the option 'endpoint' is no host with a port if need be".to_owned())?;
    }
    let region = take("region");
    if region.as_ref().is_some_and(|region| region.is_empty() || !region.chars().all(is_name)) {
        return Err("the option 'region' is no name of a region".to_owned());
    }
    Ok(Service::S3 { bucket: bucket.to_owned(), prefix: path(prefix)?, endpoint, region, anonymous })
}

fn redis(rest: &str, encrypted: bool) -> Result<Location, String> {
    let (login, address, path) = host(rest)?;
    let database = match path.as_str() {
        "" => 0,
        number => number.parse().map_err(|_| "a number of a database follows the host".to_owned())?,
    };
    Ok(Location { service: Service::Redis { encrypted, address, database }, login })
}

fn http(rest: &str, encrypted: bool) -> Result<Location, String> {
    let (login, address, path) = host(rest)?;
    Ok(Location { service: Service::Http { encrypted, address, path }, login })
}

/// Who asks, the host with its port, and the path.
fn host(rest: &str) -> Result<(Credentials, String, String), String> {
    let rest = rest.strip_prefix("//").ok_or("two slashes and a host follow the service")?;
    let (before, behind) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, address) =
        before.rsplit_once('@').map_or((None, before), |(login, host)| (Some(login), host));
    authority(address)?;
    let part = |text: &str| Ok::<_, String>(Some(decoded(text)?).filter(|t| !t.is_empty()).map(Secret::new));
    let login = match login {
        None => Credentials::default(),
        Some(login) => {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            Credentials { user: part(user)?, password: part(password)?, token: None }
        }
    };
    Ok((login, address.to_owned(), path(behind)?))
}

/// Checks a host and its port: letters, digits, dots, hyphens, and an IPv6 address in brackets.
fn authority(text: &str) -> Result<(), String> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) if host.chars().all(|c| c.is_ascii_hexdigit() || ":.".contains(c)) => (host, port),
        Some(_) => return Err("the host in brackets is no IPv6 address".to_owned()),
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    if host.is_empty() || !host.chars().all(is_name) {
        return Err("the host has other characters than letters, digits, '.' and '-'".to_owned());
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok(()),
        Some(port) if port.parse::<u16>().is_ok() => Ok(()),
        _ => Err("a port is a number below 65536".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let location = Location::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(location.shown(), shown);
        assert!(!format!("{location:?}").contains("hunter"), "{location:?}");
    }

    #[test]
    fn addresses_are_read() {
        check("file:///srv/cache", "file:///srv/cache");
        check("fs:/srv/cache/", "file:///srv/cache");
        check("file:///srv/a%20b", "file:///srv/a b");
        check("s3://bucket", "s3://bucket");
        check(
            "s3://bucket/a/b/?region=eu-central-1&endpoint=http://127.0.0.1:9000&anonymous=true",
            "s3://bucket/a/b?endpoint=http://127.0.0.1:9000&region=eu-central-1&anonymous=true",
        );
        check("redis://localhost", "redis://localhost/0");
        check("REDISS://[::1]:6380/2", "rediss://[::1]:6380/2");
        check("https://cache.example:8443/a/b", "https://cache.example:8443/a/b");
    }

    #[test]
    fn logins_are_used_and_not_shown() {
        check("redis://:hunter2@localhost:1/3", "redis://***@localhost:1/3");
        check("https://me:hunt%65r2@h/p", "https://***@h/p");
        let location = Location::parse("https://me:hunt%65r2@h/p").expect("an address");
        assert_eq!(location.login.user.as_ref().map(Secret::reveal), Some("me"));
        assert_eq!(location.login.password.as_ref().map(Secret::reveal), Some("hunter2"));
    }

    #[test]
    fn what_cannot_be_read_is_told_without_its_text() {
        for text in [
            "hunter2",
            "hunter2:x",
            "hunter2://host/x",
            "file://hunter2/x",
            "file:hunter2",
            "file:///",
            "file:///hunter2/../x",
            "file:///a?hunter2=x",
            "file:///a?hunter2",
            "s3:hunter2",
            "s3://hunter2:me@bucket/x",
            "s3://bucket?endpoint=hunter2",
            "s3://bucket?endpoint=http://me:hunter2@host",
            "s3://bucket?region=hunter2/x",
            "s3://bucket?anonymous=hunter2",
            "redis://me:hunter2@/0",
            "redis://host/hunter2",
            "redis://host:hunter2",
            "http://me:hunter2%@host/",
            "http://me:hunter%0a2@host/",
            "http://me:hunter2@ho st/",
            "http://me:hunter2@ho\u{1b}st/",
            "http://host/a//hunter2",
        ] {
            let error = Location::parse(text).expect_err(text);
            assert!(!error.contains("hunter"), "{error}");
            assert!(!error.contains(char::is_control), "{error}");
        }
    }
}
