//! The services that OpenDAL speaks to, on this machine's loopback: what is put comes back, what is missing is so, what
//! is too large, slow, closed or away is told by its kind. `redis` and `moto` are skipped where a machine lacks them.

use invdiff_remote::{Credentials, Location, Remote, Secret, Trouble, open};
use invdiff_testing::server::{self, HttpServer, Manner};
use invdiff_testing::{scratch, tier};
use std::net::TcpListener;

const LIMIT: usize = 1 << 20;

fn opened(address: &str) -> Box<dyn Remote> {
    let location = Location::parse(address).expect(address);
    open(&location, &Credentials::default()).expect(address)
}

/// What every service does.
#[track_caller]
fn check(address: &str) {
    let remote = opened(address);
    assert_eq!(remote.get("v1-00", LIMIT), Ok(None));
    let large: Vec<u8> = (0..LIMIT).map(|k| (k % 251) as u8).collect();
    for value in [&b"value"[..], b"\0\xff\r\n", &large] {
        assert_eq!(remote.put("v1-00", value), Ok(()));
        assert_eq!(remote.get("v1-00", LIMIT).as_ref().map(|v| v.as_deref()), Ok(Some(value)));
    }
    assert_eq!(remote.get("v1-01", LIMIT), Ok(None));
    assert_eq!(remote.get("v1-00", LIMIT - 1), Err(Trouble::TooLarge));
    // Another run sees the same.
    assert_eq!(opened(address).get("v1-00", LIMIT).map(|v| v.map(|v| v.len())), Ok(Some(LIMIT)));
}

#[track_caller]
fn unreachable(remote: &dyn Remote, why: &str) {
    let expected = Trouble::Unreachable(why.to_owned());
    assert_eq!(remote.get("v1-00", LIMIT), Err(expected.clone()));
    assert_eq!(remote.put("v1-00", b"value"), Err(expected));
}

/// A port at which nobody listens.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

#[test]
fn a_folder() {
    let folder = scratch();
    check(&format!("file://{}", folder.path().display()));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the value, and the folder of what is not finished: {names:?}");
    assert_eq!(std::fs::read_dir(folder.path().join(".unfinished")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_not_made() {
    let folder = scratch();
    let missing = folder.path().join("mounted/cache");
    let location = Location::parse(&format!("fs:{}", missing.display())).unwrap();
    let error = open(&location, &Credentials::default()).err().expect("an error");
    assert_eq!(error, "the folder: entity not found");
    assert!(!missing.exists());
}

#[test]
fn a_value_that_is_no_file_is_no_value() {
    let folder = scratch();
    std::fs::create_dir(folder.path().join("v1-00")).unwrap();
    let remote = opened(&format!("file://{}", folder.path().display()));
    assert!(remote.get("v1-00", LIMIT).is_err());
    // A pipe that nobody writes to keeps who opens it waiting.
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("v1-01")).status();
    if made.is_ok_and(|status| status.success()) {
        let expected = Trouble::Unreachable("no answer within 1 s".to_owned());
        assert_eq!(remote.get("v1-01", LIMIT), Err(expected));
        // Whoever has opened it is let go.
        let _ = std::fs::File::options().write(true).open(folder.path().join("v1-01"));
    }
}

#[test]
fn http() {
    let server = HttpServer::start(Manner::Keeps);
    check(&format!("http://{}/team/cache", server.address()));
    let paths: Vec<String> = server.values.lock().unwrap().keys().cloned().collect();
    assert_eq!(paths, ["/team/cache/v1-00"]);
    let reader = HttpServer::with(Manner::ReadOnly, server.values.clone());
    let remote = opened(&format!("http://{}/team/cache", reader.address()));
    assert!(matches!(remote.get("v1-00", LIMIT), Ok(Some(_))));
    assert_eq!(remote.put("v1-00", b"value"), Err(Trouble::Refused));
}

#[test]
fn http_with_a_login() {
    let server = HttpServer::start(Manner::Closed);
    let remote = opened(&format!("http://{}/", server.address()));
    assert_eq!(remote.get("v1-00", LIMIT), Err(Trouble::Refused));
    check(&format!("http://me:secret@{}/", server.address()));
    let location = Location::parse(&format!("http://{}/", server.address())).unwrap();
    let token = Credentials { token: Some(Secret::new("t")), ..Credentials::default() };
    assert!(matches!(open(&location, &token).unwrap().get("v1-00", LIMIT), Ok(Some(_))));
}

#[test]
fn http_that_is_silent_endless_or_away() {
    let silent = HttpServer::start(Manner::Silent);
    unreachable(&*opened(&format!("http://{}/", silent.address())), "no answer within 1 s");
    let endless = HttpServer::start(Manner::Endless);
    let remote = opened(&format!("http://{}/", endless.address()));
    assert_eq!(remote.get("v1-00", LIMIT), Err(Trouble::TooLarge));
    unreachable(&*opened(&format!("http://127.0.0.1:{}/", closed_port())), "connection refused");
}

#[test]
fn redis() {
    let folder = scratch();
    let Some(server) = server::redis(folder.path(), None) else {
        return tier::skipped("redis", "no redis-server");
    };
    check(&format!("redis://127.0.0.1:{}/3", server.port));
    assert_eq!(opened(&format!("redis://127.0.0.1:{}/0", server.port)).get("v1-00", LIMIT), Ok(None));
    drop(server);
    let remote = opened(&format!("redis://127.0.0.1:{}/0", closed_port()));
    assert!(matches!(remote.get("v1-00", LIMIT), Err(Trouble::Unreachable(_))));
}

#[test]
fn redis_with_a_password() {
    let folder = scratch();
    let Some(server) = server::redis(folder.path(), Some("hunter2")) else {
        return tier::skipped("redis", "no redis-server");
    };
    check(&format!("redis://:hunter2@127.0.0.1:{}", server.port));
    let remote = opened(&format!("redis://:wrong@127.0.0.1:{}", server.port));
    let trouble = remote.get("v1-00", LIMIT).expect_err("an error");
    assert!(!format!("{trouble:?}").contains("wrong"), "{trouble:?}");
}

/// The credentials of S3 come from the environment, so a test of them is one process: this one again.
#[test]
fn s3() {
    let folder = scratch();
    if let Ok(address) = std::env::var("INVDIFF_TEST_S3") {
        check(&address);
        let closed =
            format!("s3://bucket/cache?region=us-east-1&endpoint=http://127.0.0.1:{}", closed_port());
        unreachable(&*opened(&closed), "connection refused");
        return;
    }
    let Some(server) = server::moto(folder.path()) else {
        return tier::skipped("moto", "no moto_server");
    };
    server.make_bucket("bucket");
    let address =
        format!("s3://bucket/team/cache?region=us-east-1&endpoint=http://127.0.0.1:{}", server.port);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "s3", "--nocapture"])
        .env("INVDIFF_TEST_S3", address)
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env("HOME", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
