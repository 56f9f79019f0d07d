//! How much of the tests runs, and what must be there for them.
//!
//! By default every kind of test runs on a few seeds; with `INVDIFF_TESTS=all` on as many as are worth the time of
//! a nightly run. What a machine lacks is skipped and said; `INVDIFF_REQUIRE=cc,shared` makes a failure of that
//! (`cc`: a C compiler, `chromium`, `shared`: the shared subjects, `histories`: real repositories, `barvinok`: a python
//! with `islpy-barvinok`, which `INVDIFF_BARVINOK` names, `ray`, `check-jsonschema`, `kubernetes-validate`: these in the
//! Python environment that `INVDIFF_VENV` names, `redis`: its server, `moto`: a
//! `moto_server`, which `INVDIFF_MOTO` names where PATH does not).

/// How many seeds or rounds: what the variable says, if there is one, or `few`, or all `many`.
pub fn rounds(variable: &str, few: usize, many: usize) -> usize {
    let asked = std::env::var(variable).ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(if is_whole() { many } else { few })
}

/// Whether everything was asked for.
pub fn is_whole() -> bool {
    std::env::var("INVDIFF_TESTS").is_ok_and(|tests| tests == "all")
}

/// Says that a test is skipped for want of something.
///
/// # Panics
/// Where `INVDIFF_REQUIRE` names it.
pub fn skipped(need: &str, why: &str) {
    let required = std::env::var("INVDIFF_REQUIRE").unwrap_or_default();
    assert!(required.split(',').all(|name| name.trim() != need), "required and not there: {need} ({why})");
    println!("skipped: {why}");
}

/// Whether there is a C compiler; a test that wants one is skipped where there is none.
pub fn has_compiler() -> bool {
    let there = std::process::Command::new("cc").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        skipped("cc", "no C compiler");
    }
    there
}
