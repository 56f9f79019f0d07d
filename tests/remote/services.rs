//! What one clone has found, another reads, whatever the service is.

use super::*;
use invdiff_testing::server::{self, HttpServer, Manner};
use support::tier;

/// A clone computes and writes; one with an empty cache of its own then asks the solver nothing, and says the same.
#[track_caller]
fn check(address: &str, variables: &[(&str, &str)]) {
    let repo = two();
    let (said, cost, err) = report(&clone(&repo, address), variables);
    assert!(asked(&cost).0 > 0 && err.is_empty(), "{cost} {err}");
    let reader = clone(&repo, address).config("invdiff.cache.write", "false");
    let (again, cost, err) = report(&reader, variables);
    assert_eq!(again, said);
    assert!(asked(&cost).0 == 0 && asked(&cost).1 > 0, "{cost}");
    assert_eq!(err, "");
    // From now on it has that itself.
    let alone = reader.config("invdiff.cache.remote", "");
    let (again, cost, _) = report(&alone, variables);
    assert_eq!((again, asked(&cost).0), (said.clone(), 0));
    // Without any cache the report is the same.
    let other = repo.clone_with(&[]);
    assert_eq!(report(&other, variables).0, said);
}

#[test]
fn a_folder() {
    let folder = invdiff_testing::scratch();
    check(&format!("file://{}", folder.path().display()), &[]);
}

#[test]
fn http() {
    let server = HttpServer::start(Manner::Keeps);
    check(&format!("http://{}/cache", server.address()), &[]);
    let closed = HttpServer::start(Manner::Closed);
    check(&format!("http://{}", closed.address()), &[("INVDIFF_CACHE_TOKEN", "hunter2")]);
}

#[test]
fn redis() {
    let folder = invdiff_testing::scratch();
    let Some(server) = server::redis(folder.path(), Some("hunter2")) else {
        return tier::skipped("redis", "no redis-server");
    };
    check(&format!("redis://127.0.0.1:{}/1", server.port), &[("INVDIFF_CACHE_PASSWORD", "hunter2")]);
}

#[test]
fn s3() {
    let folder = invdiff_testing::scratch();
    let Some(server) = server::moto(folder.path()) else {
        return tier::skipped("moto", "no moto_server");
    };
    server.make_bucket("team");
    let address = format!("s3://team/invdiff?region=us-east-1&endpoint=http://127.0.0.1:{}", server.port);
    let credentials = [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")];
    check(&address, &credentials);
}

#[test]
fn what_was_asked_is_told() {
    let folder = invdiff_testing::scratch();
    let address = format!("file://{}", folder.path().display());
    let repo = two();
    let told = |repo: &TempRepo| invdiff(repo, &["-v", "HEAD~1..HEAD"]).err;
    let first = told(&clone(&repo, &address));
    assert!(first.contains(&format!("shared cache {address}: 0 hits, ")), "{first}");
    let second = told(&clone(&repo, &address));
    assert!(
        second.contains(&format!("shared cache {address}: 1 hits, 0 misses, 0 not used, 0 written")),
        "{second}"
    );
}

#[test]
fn what_one_check_keeps_serves_another_clone() {
    let folder = invdiff_testing::scratch();
    let address = format!("file://{}", folder.path().display());
    let text = |n: u32| {
        format!(
            "#include <assert.h>\nint f(int a)\n{{\n    if (a > {n}) return 0;\n    assert(a <= {n});\n    return a;\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text(7)).commit("one").file("a.c", text(9)).commit("two");
    let check = |repo: &TempRepo| invdiff(repo, &["check", "--json", "HEAD~1..HEAD"]);
    let (one, two) = (check(&clone(&repo, &address)), check(&clone(&repo, &address)));
    let without = |run: &Run| {
        let mut report: Value = serde_json::from_str(&run.out).expect("JSON");
        report.as_object_mut().and_then(|r| r.remove("cost")).expect("cost");
        report
    };
    assert_eq!(without(&one), without(&two));
    assert!(!entries(folder.path()).is_empty());
}
