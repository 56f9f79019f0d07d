//! The HTML report in a real browser: Chromium, without a window, opens pages of small repositories.
//!
//! Each page is copied with one more script, which works the page as a person would and writes what it
//! found into an attribute, with every error and every address that was asked for. The browser prints the page
//! as it is after that (`--dump-dom`), and its log. Without a browser the tests say so and pass: nothing is installed here.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::TempRepo;

const OLD: &str = "float area(float b, float h)\n{\n    float r = 0.5f * b * h;\n    return r;\n}\nint clamp(int x)\n{\n    if (x < 0)\n        return 0;\n    return x;\n}\n";

/// Text that would do something if it were taken for markup or script.
const HOSTILE: &str =
    "</title></script><script>document.title='owned'</script><img src=x onerror=alert(1)> \u{202e}";

/// A repository of which two functions change, one of them with what would do harm.
fn repository() -> TempRepo {
    let new = OLD.replace("0.5f * b * h", "0.5f * b * h + 1.0f /* </script><script>alert(1)</script> */");
    let last = new.replace("return 0;", "return 1;");
    TempRepo::new()
        .file("a<b>&'.c", OLD)
        .commit("first")
        .file("a<b>&'.c", &new)
        .commit(HOSTILE)
        .file("a<b>&'.c", &last)
        .commit("clamp to one")
}

fn invdiff(repo: &TempRepo, words: &[&str]) -> Vec<u8> {
    let output = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words).output().expect("runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn page(repo: &TempRepo, words: &[&str]) -> String {
    String::from_utf8(invdiff(repo, &[&["--format", "html"], words].concat())).expect("UTF-8")
}

/// The browser to use: what `INVDIFF_CHROMIUM` names, else the first of the usual names on the path.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("INVDIFF_CHROMIUM").filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    names
        .iter()
        .find_map(|name| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file()))
}

/// What the browser made of a page.
struct Seen {
    dom: String,
    log: String,
}

/// Opens a page; `arguments` are added to the browser's own. `None`, and a word about it, without a browser.
fn open(page: &str, arguments: &[&str]) -> Option<Seen> {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("page.html"), page).expect("written");
    let mut child = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args([
            "--enable-logging=stderr",
            "--window-size=1200,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", at("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", at("page.html").display()))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(at("dom")).expect("a file"))
        .stderr(std::fs::File::create(at("log")).expect("a file"))
        .spawn()
        .expect("the browser starts");
    let start = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            panic!("the browser did not end: {}", text(&at("log")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(Seen { dom: text(&at("dom")), log: text(&at("log")) })
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// Runs `steps` (JavaScript that returns a text) in a page and returns what came of it. Errors of the page
/// and of the steps, and what the page asked for, are part of that.
fn run(page: &str, steps: &str, arguments: &[&str]) -> Option<(String, Seen)> {
    let nonce = page.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a nonce");
    let first = format!(
        "<script nonce=\"{nonce}\">window.failures = []; \
         addEventListener('error', (e) => failures.push(e.message)); \
         addEventListener('securitypolicyviolation', (e) => failures.push('policy ' + e.violatedDirective));</script>"
    );
    let last = format!(
        "<script nonce=\"{nonce}\">addEventListener('load', () => {{ let found; \
         try {{ found = (() => {{ {steps} }})(); }} catch (e) {{ found = 'threw ' + e; }} \
         const asked = performance.getEntriesByType('resource').map((r) => 'asked for ' + r.name); \
         document.body.dataset.found = [found, ...failures, ...asked].join(' | '); }});</script>"
    );
    let page = page.replacen("<body>", &format!("<body>{first}"), 1).replacen(
        "</body>",
        &format!("{last}</body>"),
        1,
    );
    let seen = open(&page, arguments)?;
    let found = seen.dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
    let found = found.unwrap_or_else(|| panic!("the steps did not run:\n{}", seen.log)).to_owned();
    Some((found, seen))
}

/// The console is empty.
#[track_caller]
fn check_quiet(seen: &Seen) {
    let console: Vec<&str> = seen.log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:#?}");
}

#[test]
fn the_page_works_in_a_browser() {
    let repo = repository();
    let page = page(&repo, &["HEAD~2..HEAD"]);
    let steps = "
        const shown = (selector) => Array.from(document.querySelectorAll(selector)).filter((e) => e.checkVisibility()).length;
        const put = (id, value) => {
            const field = document.getElementById(id);
            field.value = value;
            field.dispatchEvent(new Event('input', { bubbles: true }));
        };
        const said = [];
        const cards = shown('.card');
        said.push('cards ' + cards, 'steps ' + shown('.step'), 'drawings ' + shown('svg .block.only-new'));
        put('filter-text', 'CLAMP to one');
        said.push('by text ' + shown('.card') + ' of ' + shown('.step'));
        put('filter-text', 'no such words');
        said.push('none ' + shown('.card') + shown('main section'));
        put('filter-text', '');
        put('filter-function', 'area');
        said.push('by function ' + shown('.step'));
        put('filter-function', '');
        put('filter-kind', 'flow');
        said.push('by kind ' + shown('.card') + (shown('.flow') > 0));
        document.getElementById('filters').reset();
        put('filter-text', '');
        said.push('again ' + (shown('.card') === cards));
        const card = document.querySelector('.card[data-lines]');
        card.click();
        said.push('lit ' + (document.querySelectorAll('tr.lit').length === card.dataset.lines.split(' ').length));
        document.querySelector('tr.lit').click();
        said.push('dark ' + document.querySelectorAll('.lit').length);
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
        said.push('key ' + document.querySelectorAll('.card.lit').length);
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
        said.push('focus ' + document.activeElement.id);
        const paper = () => getComputedStyle(document.body).backgroundColor;
        const before = paper();
        document.getElementById('theme').click();
        said.push('toggled ' + (before !== paper()));
        document.getElementById('theme').click();
        said.push('back ' + (before === paper()));
        const css = (e) => getComputedStyle(e).whiteSpace;
        said.push(css(document.querySelector('.source .code')));
        return said.join('; ');";
    let Some((found, seen)) = run(&page, steps, &[]) else { return };
    assert_eq!(
        found,
        "cards 2; steps 2; drawings 2; by text 1 of 1; none 00; by function 1; by kind 0true; again true; lit true; \
         dark 0; key 1; focus filter-text; toggled true; back true; pre"
    );
    check_quiet(&seen);
}

/// What the first test rests on: a page that does something forbidden is found out.
#[test]
fn a_page_that_misbehaves_is_found_out() {
    let page = page(&repository(), &["HEAD~1..HEAD"]);
    let asks = page.replacen("<main>", "<main><img src=\"http://127.0.0.1:9/x.png\">", 1);
    let runs = page.replacen("<main>", "<main><script>document.title = 'owned'</script>", 1);
    for page in [&asks, &runs] {
        let Some((found, seen)) = run(page, "return document.title", &[]) else { return };
        assert!(found.contains("policy ") && !found.contains("owned"), "{found}");
        assert!(seen.log.contains("CONSOLE"), "{}", seen.log);
    }
    // Without a policy what is asked for shows.
    let open = asks.replacen("Content-Security-Policy", "x", 1);
    let Some((found, _)) = run(&open, "return ''", &[]) else { return };
    assert!(found.contains("asked for http://127.0.0.1:9/x.png"), "{found}");
    let Some((found, _)) = run(&page, "throw new Error('no')", &[]) else { return };
    assert!(found.contains("threw Error: no"), "{found}");
}
