//! The HTML report in a real browser: Chromium, without a window, opens pages of small repositories.
//!
//! Each page is copied with one more script, which works the page as a person would and writes what it
//! found into an attribute, with every error and every address that was asked for. The browser prints the page
//! as it is after that (`--dump-dom`), and its log. Without a browser the tests say so and pass: nothing is installed here.

use crate::support::TempRepo;
use crate::support::tier;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
        tier::skipped("chromium", "no Chromium");
        return None;
    };
    let folder = invdiff_testing::scratch();
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

/// What the page says its title is.
fn title(page: &str) -> String {
    page.split("<title>").nth(1).and_then(|rest| rest.split('<').next()).expect("a title").to_owned()
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
        said.push(document.images.length + ' images, ' + document.scripts.length + ' scripts, ' + document.title);
        const css = (e) => getComputedStyle(e).whiteSpace;
        said.push(css(document.querySelector('.source .code')));
        return said.join('; ');";
    let Some((found, seen)) = run(&page, steps, &[]) else { return };
    assert_eq!(
        found.replace(&title(&page), "TITLE"),
        "cards 4; steps 2; drawings 2; by text 2 of 1; none 00; by function 1; by kind 0true; again true; lit true; \
         dark 0; key 1; focus filter-text; toggled true; back true; 0 images, 3 scripts, TITLE; pre-wrap"
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

/// JavaScript: the texts of the page that stand out too little from what is behind them (WCAG AA: 4.5).
const TOO_FAINT: &str = "
    const luminance = ([r, g, b]) => {
        const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const colour = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const isSolid = (c) => c.length === 3 || c[3] === 1;
    const behind = (element) => {
        const box = element.closest('g.block');
        if (box) {
            const fill = colour(getComputedStyle(box.querySelector('rect')).fill);
            if (fill.length && element.getAttribute('class') !== 'tag') { return fill; }
        }
        for (let at = element; at; at = at.parentElement) {
            const c = colour(getComputedStyle(at).backgroundColor);
            if (isSolid(c)) { return c; }
        }
        return [255, 255, 255];
    };
    const faint = [];
    let looked = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || element.closest('script, style, title, option') || !element.checkVisibility()) { continue; }
        const style = getComputedStyle(element);
        const ink = colour(element.closest('svg') ? style.fill : style.color);
        const [a, b] = [luminance(ink), luminance(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        looked += 1;
        if (contrast < 4.5) { faint.push(text.slice(0, 20) + ' ' + contrast.toFixed(2)); }
    }
    return [looked > 60, isDark(), ...new Set(faint)].join('; ');
    function isDark() { return luminance(colour(getComputedStyle(document.body).backgroundColor)) < 0.5; }";

#[test]
fn text_stands_out_in_light_and_dark() {
    let page = page(&repository(), &["HEAD~2..HEAD"]).replace("<details", "<details open");
    // What the surroundings prefer is what is shown.
    for (setting, expected) in [("1", "true; false"), ("0", "true; true")] {
        let scheme = format!("--blink-settings=preferredColorScheme={setting}");
        let Some((found, seen)) = run(&page, TOO_FAINT, &[&scheme]) else { return };
        assert_eq!(found, expected);
        check_quiet(&seen);
    }
    let faint = page.replacen("--soft: light-dark(#56606b", "--soft: light-dark(#b0b0b0", 1);
    let Some((found, _)) = run(&faint, TOO_FAINT, &["--blink-settings=preferredColorScheme=1"]) else {
        return;
    };
    assert!(found.starts_with("true; false; "), "{found}");
}

#[test]
fn the_same_range_is_the_same_page() {
    let repo = repository();
    let words = ["--format", "html", "--no-cache", "HEAD~2..HEAD"];
    let one = invdiff(&repo, &[&words[..], &["-j", "1"]].concat());
    assert_eq!(one, invdiff(&repo, &[&words[..], &["-j", "4"]].concat()));
    // From the cache, too, and into a file.
    let file = repo.root().join("out.html");
    let name = file.to_string_lossy().into_owned();
    for _ in 0..2 {
        assert!(invdiff(&repo, &["--format", "html", "HEAD~2..HEAD", "--output", &name]).is_empty());
        assert_eq!(std::fs::read(&file).expect("written"), one);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let repo = repository();
    let output = repo
        .command_of(env!("CARGO_BIN_EXE_git-invdiff"))
        .args(["--format", "html", "-o", "/nonexistent/report.html", "HEAD~1..HEAD"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(128));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("fatal: cannot write '/nonexistent/report.html'"), "{said}");
    let output = repo
        .command_of(env!("CARGO_BIN_EXE_git-invdiff"))
        .args(["graph", "--format", "html"])
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(129) && said.contains("hint: formats: dot, svg"), "{said}");
}

/// Three functions: one that now divides by zero, one whose assertion now holds, one that stays.
fn asserted() -> TempRepo {
    let text = |guard: &str, limit: u32| {
        format!(
            "#include <assert.h>\nint ratio(int a, int b)\n{{\n{guard}    return a / b;\n}}\n\
             int cap(int a)\n{{\n    if (a > {limit})\n        a = 9;\n    assert(a < 10);\n    return a;\n}}\n"
        )
    };
    TempRepo::new()
        .file("a<b>.c", text("    if (b == 0 || b == -1)\n        return 0;\n", 10))
        .commit("first")
        .file("a<b>.c", text("", 9))
        .commit(HOSTILE)
}

#[test]
fn the_page_of_a_check_tells_what_became_of_each_property() {
    let repo = asserted();
    let output = repo
        .command_of(env!("CARGO_BIN_EXE_git-invdiff"))
        .args(["check", "--format", "html", "HEAD~1..HEAD"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    let steps = "
        const text = (selector) => Array.from(document.querySelectorAll(selector), (e) => e.textContent.trim());
        const kinds = document.getElementById('filter-kind');
        const shown = () => Array.from(document.querySelectorAll('.card')).filter((e) => e.checkVisibility()).length;
        const all = shown();
        kinds.value = 'seen';
        kinds.dispatchEvent(new Event('input', { bubbles: true }));
        const seen = shown();
        return [text('.summary')[0], text('h2').join('/'), text('#broken code, #fixed .facts code').join('/'), all, seen,
            document.querySelectorAll('#hunks tr').length > 4, document.scripts.length].join('; ');";
    let Some((found, seen)) = run(&page, steps, &[]) else { return };
    assert_eq!(
        found,
        "1 regression, 1 fixed; 2 changed functions looked at.; No longer kept/Fixed/What changed/Control flow; \
         no division by zero/a = 0, b = 0/before: returns 0/after: undefined (division-by-zero, line 4)/a &lt; 10; 2; 1; true; 3"
    );
    check_quiet(&seen);
}

/// An interpreter's loop: a switch whose cases all stand on one level, several of them changed.
fn interpreter(step: u32) -> String {
    let case = |n: u32| {
        let by = if n.is_multiple_of(7) { n + step } else { n };
        format!(
            "        case {n}: state->registers[{n}] = state->registers[{}] * {by} + state->carry; break;\n",
            n + 1
        )
    };
    let cases: String = (0..24).map(case).collect();
    format!(
        "struct vm {{ int registers[64]; int carry; const unsigned char *at; }};\nint run(struct vm *state)\n{{\n    \
         for (;;) {{\n        switch (*state->at++) {{\n{cases}        default: return state->carry;\n        }}\n    }}\n}}\n"
    )
}

/// However many ways a function goes at once, its drawing is as wide as a screen or two, scrolls in a box
/// of its own, with letters of their full size, and can be seen as a whole.
#[test]
fn a_large_drawing_stays_readable() {
    let repo =
        TempRepo::new().file("vm.c", interpreter(0)).commit("one").file("vm.c", interpreter(1)).commit("two");
    let page = page(&repo, &["HEAD~1..HEAD"]);
    let steps = "
        const drawing = document.querySelector('.drawing');
        const svg = drawing.querySelector('svg');
        const letters = () => svg.querySelector('text').getBoundingClientRect().height;
        const said = ['blocks ' + (svg.querySelectorAll('.block').length > 24)];
        const whole = svg.getBoundingClientRect().width;
        said.push(whole < 2400 ? 'width fits' : 'width ' + whole);
        said.push('scrolls ' + (drawing.scrollWidth > drawing.clientWidth));
        said.push('page ' + (document.documentElement.scrollWidth <= innerWidth));
        const size = letters();
        said.push('letters ' + (size >= 10));
        drawing.scrollLeft = 1e6;
        const right = () => svg.getBoundingClientRect().right <= drawing.getBoundingClientRect().right + 10;
        said.push('end is reached ' + right());
        const fit = drawing.parentElement.querySelector('.fit input');
        fit.click();
        said.push('fit ' + (drawing.scrollWidth <= drawing.clientWidth) + (letters() < size) + right());
        fit.click();
        said.push('back ' + (letters() === size));
        return said.join('; ');";
    let Some((found, seen)) = run(&page, steps, &[]) else { return };
    assert_eq!(
        found,
        "blocks true; width fits; scrolls true; page true; letters true; end is reached true; fit truetruetrue; back true"
    );
    check_quiet(&seen);
}

#[test]
fn a_check_without_a_property_is_a_page_too() {
    let page = page(&repository(), &["check", "HEAD~1..HEAD"]);
    assert!(page.contains("No regression") && !page.contains("class=\"card"), "{page}");
    assert!(!page.contains("changes no fact"), "no facts were sought");
}

#[test]
fn a_range_without_a_change_is_a_page_too() {
    let repo = repository();
    let page = page(&repo, &["HEAD"]);
    assert!(page.contains("Nothing to show") && page.contains("No file that is analysed differs"), "{page}");
    let Some((found, seen)) = run(&page, "return document.querySelector('h2').textContent", &[]) else {
        return;
    };
    assert_eq!(found, "Nothing to show");
    check_quiet(&seen);
}
