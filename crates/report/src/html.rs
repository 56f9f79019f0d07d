//! A report as one HTML file that needs nothing else: no network, no other file, and no script to be
//! read.
//!
//! The parts: what each commit changed, facts beside the source (`changes.rs`, `source.rs`) and before them what
//! the code does otherwise where its text differs (`local.rs`); what stayed,
//! the control flow of every function with several bodies (`drawing.rs`, placed by `layout.rs`), and what
//! stayed open (`rest.rs`). The page of `check` tells what became of each property instead (`properties.rs`); that of
//! `quantify` has tables (`figures.rs`) and trees (`tree.rs`). `style.css` and `script.js` are put in as they are; the script filters,
//! points from facts to lines, and switches between light and dark.
//!
//! Everything that comes from a repository goes through [`markup::Html::text`]. Should that ever fail, the
//! page's policy (CSP) still runs no script but ours: its nonce is a hash of the page's content, which
//! nothing inside that content can know. The same report gives the same bytes.

mod changes;
mod drawing;
pub mod figures;
mod layout;
mod local;
mod markup;
mod properties;
mod rest;
mod source;
pub mod tree;

use super::object::told_objects;
use super::text::{self, TextOptions};
use super::{FunctionReport, HunkVerdict, LeftAlone, RepoPath, Report, Summary, Version, VersionInfo};
use crate::mvicfg::picture::Picture;
use markup::Html;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");
/// Bytes of the content, beyond which parts are left out.
const MAX_BYTES: usize = 8_000_000;

/// Text of the versions' files.
pub trait Sources {
    /// The lines of a file; none where a version does not have it.
    fn lines(&self, version: Version, file: &RepoPath) -> Arc<Vec<String>>;
}

/// What a page shows beside the report.
pub struct Surroundings<'a> {
    pub sources: &'a dyn Sources,
    pub illustrations: &'a [Illustration],
    /// Abbreviated ids by full id.
    pub short_ids: BTreeMap<String, String>,
    /// Who made a commit and when, by full id.
    pub signatures: BTreeMap<String, Signature>,
    /// Facts were filtered out.
    pub filtered: bool,
    /// The report is one of properties: no facts were sought.
    pub properties: bool,
    /// Ids of findings that block nothing, with why.
    pub left_alone: BTreeMap<String, LeftAlone>,
}

/// Who made a commit.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    pub author: String,
    /// When the author made it, RFC 3339.
    pub date: String,
}

/// Where a function stands, and its control flow.
#[derive(Clone, Debug, Default)]
pub struct Illustration {
    /// In the newest version that has the function.
    pub file: RepoPath,
    pub function: String,
    pub extents: BTreeMap<Version, Extent>,
    /// Where the function has more than one body.
    pub picture: Option<Picture>,
}

/// The lines of a function in one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub file: RepoPath,
    pub first: u32,
    pub last: u32,
}

/// Writes the whole page.
pub fn render(report: &Report, surroundings: &Surroundings, out: &mut dyn Write) -> io::Result<()> {
    write_page(report, surroundings, MAX_BYTES, out)
}

fn write_page(
    report: &Report,
    surroundings: &Surroundings,
    room: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let options = TextOptions {
        verbose: true,
        filtered: surroundings.filtered,
        short_ids: surroundings.short_ids.clone(),
        left_alone: surroundings.left_alone.clone(),
        ..TextOptions::default()
    };
    let view = View { report, surroundings, words: text::View { report, options: &options } };
    document(&view.title(), &view.content(room), Some(SCRIPT), out)
}

/// Writes a page around its content. Its policy runs nothing but our script, if there is one.
fn document(title: &str, content: &Html, script: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let nonce = blake3::hash(content.as_bytes()).to_hex();
    let nonce = nonce.get(..32).unwrap_or_default();
    let mut heading = Html::default();
    heading.text(title);
    let scripts = script.map_or(String::new(), |_| format!("script-src 'nonce-{nonce}'; "));
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'; \
         {scripts}base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>"
    )?;
    out.write_all(heading.as_bytes())?;
    write!(out, " · git invdiff</title>\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n")?;
    out.write_all(content.as_bytes())?;
    if let Some(script) = script {
        write!(out, "<script nonce=\"{nonce}\">\n{script}</script>\n")?;
    }
    writeln!(out, "</body>\n</html>")
}

/// A report together with what it is shown with.
struct View<'a> {
    report: &'a Report,
    surroundings: &'a Surroundings<'a>,
    words: text::View<'a>,
}

/// A part of the page with its heading; parts are left out, smallest loss first, where there is no room.
struct Section {
    id: &'static str,
    title: &'static str,
    /// What stands beside the title in the table of contents.
    count: usize,
    intro: &'static str,
    pieces: Vec<Html>,
}

impl<'a> View<'a> {
    fn lines(&self, version: Version, file: &RepoPath) -> Arc<Vec<String>> {
        self.surroundings.sources.lines(version, file)
    }

    fn illustration(&self, function: &FunctionReport) -> Option<&'a Illustration> {
        let is_it = |i: &&Illustration| i.file == function.file && i.function == function.name;
        self.surroundings.illustrations.iter().find(is_it)
    }

    fn extents(&self, function: &FunctionReport) -> Option<&'a BTreeMap<Version, Extent>> {
        self.illustration(function).map(|i| &i.extents)
    }

    fn version(&self, index: Version) -> Option<&'a VersionInfo> {
        self.report.versions.iter().find(|v| v.index == index)
    }

    fn short_name(&self, index: Version) -> String {
        self.version(index).map(|v| self.words.short_name(v)).unwrap_or_default()
    }

    /// `9f3c2e1..c0ffee0`.
    fn title(&self) -> String {
        match self.report.versions.as_slice() {
            [] => "no versions".to_owned(),
            [only] => self.short_name(only.index),
            [first, .., last] => format!("{}..{}", self.short_name(first.index), self.short_name(last.index)),
        }
    }

    /// Everything between the style sheet and the script.
    fn content(&self, room: usize) -> Html {
        let mut sections = match self.surroundings.properties {
            true => properties::sections(self),
            false => vec![
                changes::broken(self),
                changes::changes(self),
                rest::hunks(self),
                rest::held(self),
                rest::flow(self),
                rest::open(self),
            ],
        };
        sections.retain(|s| !s.pieces.is_empty());
        let left_out = fit(&mut sections, room);
        let mut html = Html::default();
        self.head(left_out, &mut html);
        self.filters(&mut html);
        html.markup("<div class=\"page\">\n");
        self.contents(&sections, &mut html);
        html.markup("<main>\n");
        if sections.is_empty() {
            self.nothing(&mut html);
        }
        for section in &sections {
            html.open("section", &[("id", section.id), ("data-group", "")]);
            html.leaf("h2", &[], section.title);
            html.leaf("p", &[("class", "intro")], section.intro);
            section.pieces.iter().for_each(|piece| html.push(piece));
            html.close("section");
            html.markup("\n");
        }
        html.markup("</main>\n</div>\n");
        self.foot(&mut html);
        html
    }

    fn head(&self, left_out: usize, html: &mut Html) {
        html.markup("<header class=\"top\">\n<div class=\"bar\"><p class=\"brand\">git invdiff</p>");
        html.markup("<button type=\"button\" id=\"theme\" hidden>Dark</button></div>\n");
        html.leaf("h1", &[], &self.title());
        let line = match self.surroundings.properties {
            true => text::check_line(self.report, self.words.options),
            false => text::summary_line(self.report, self.words.options),
        };
        html.leaf("p", &[("class", "summary")], &capitalised(&line));
        if !self.surroundings.properties {
            self.tiles(html);
        }
        self.versions(html);
        if left_out > 0 {
            let text = format!(
                "This page is cut: {} left out, the least important first. --json and -v tell everything.",
                text::counted(left_out, "part")
            );
            html.leaf("p", &[("class", "warning"), ("id", "cut")], &text);
        }
        for notice in &self.report.notices {
            html.leaf("p", &[("class", "warning")], notice);
        }
        html.markup(HOW_TO_READ);
        html.markup("</header>\n");
    }

    /// The counts, large.
    fn tiles(&self, html: &mut Html) {
        let summary = Summary::of(self.report);
        html.markup("<ul class=\"tiles\">");
        let own = self.report.own_churns();
        let churns: usize = own.iter().map(Vec::len).sum();
        let seen = own.iter().flatten().filter(|c| c.observable).count();
        let neutral = self.report.hunks.iter().filter(|h| h.verdict == HunkVerdict::Neutral).count();
        let unseen = summary.hunks_not_analysed;
        for (class, count, one, many) in [
            ("seen", seen, "change that callers see", "changes that callers see"),
            (
                "inner",
                local::count(self.report),
                "place where the code does something else",
                "places where the code does something else",
            ),
            (
                "inner",
                told_objects(self.report).count(),
                "object whose definition differs",
                "objects whose definitions differ",
            ),
            ("inner", churns - seen, "change that callers do not see", "changes that callers do not see"),
            ("kept", summary.version_invariants, "fact that stayed", "facts that stayed"),
            ("quiet", neutral, "hunk that changes no fact", "hunks that change no fact"),
            ("open", unseen, "hunk not analysed", "hunks not analysed"),
        ] {
            if count > 0 || class == "seen" {
                html.open("li", &[("class", if count == 0 { "none" } else { class })]);
                html.leaf("b", &[], &count.to_string());
                html.text(" ");
                html.leaf("span", &[], if count == 1 { one } else { many });
                html.close("li");
            }
        }
        html.markup("</ul>\n");
    }

    /// The versions, oldest first; the middle of very many is left out.
    fn versions(&self, html: &mut Html) {
        const SHOWN: usize = 100;
        let versions = &self.report.versions;
        let fold = versions.len() > 12;
        if fold {
            html.markup("<details class=\"versions\"><summary>");
            html.text(&text::counted(versions.len(), "version"));
            html.markup("</summary>");
        }
        html.markup("<ol class=\"versions\">");
        for (position, version) in versions.iter().enumerate() {
            if versions.len() > SHOWN && position == SHOWN / 2 {
                html.leaf("li", &[("class", "more")], &format!("⋯ {} more", versions.len() - SHOWN));
            }
            if versions.len() > SHOWN && position >= SHOWN / 2 && position < versions.len() - SHOWN / 2 {
                continue;
            }
            html.open("li", &[("value", &version.index.to_string())]);
            html.leaf("code", &[("class", "id")], &self.words.short_name(version));
            html.text(" ");
            html.leaf("span", &[], &version.summary);
            self.signature(version, html);
            html.close("li");
        }
        html.markup("</ol>");
        if fold {
            html.markup("</details>");
        }
        html.markup("\n");
    }

    fn signature(&self, version: &VersionInfo, html: &mut Html) {
        let Some(signature) = version.commit.as_ref().and_then(|id| self.surroundings.signatures.get(id))
        else {
            return;
        };
        let day = signature.date.split('T').next().unwrap_or_default();
        html.text(" ");
        html.element("span", &[("class", "who")], |html| {
            html.text(&signature.author);
            html.text(", ");
            html.leaf("time", &[("datetime", &signature.date)], day);
        });
    }

    fn filters(&self, html: &mut Html) {
        let functions = &self.report.functions;
        let mut files: Vec<String> = functions.iter().map(|f| f.file.to_string()).collect();
        let mut names: Vec<String> = functions.iter().map(|f| f.name.clone()).collect();
        for list in [&mut files, &mut names] {
            list.sort();
            list.dedup();
        }
        html.markup("<form class=\"filters\" id=\"filters\" role=\"search\" aria-label=\"Filter\" hidden>");
        html.markup("<input type=\"search\" id=\"filter-text\" placeholder=\"Filter by text  ( / )\" aria-label=\"Text\" autocomplete=\"off\" spellcheck=\"false\">");
        let select = |id: &'static str,
                      label: &'static str,
                      all: &'static str,
                      list: &[(&str, &str)],
                      html: &mut Html| {
            html.open("select", &[("id", id), ("aria-label", label)]);
            html.leaf("option", &[("value", "")], all);
            list.iter().for_each(|(value, text)| html.leaf("option", &[("value", value)], text));
            html.close("select");
        };
        fn same(list: &[String]) -> Vec<(&str, &str)> {
            list.iter().map(|text| (text.as_str(), text.as_str())).collect()
        }
        select("filter-file", "File", "all files", &same(&files), html);
        select("filter-function", "Function", "all functions", &same(&names), html);
        select("filter-kind", "Kind", "everything", &KINDS, html);
        html.markup("<button type=\"reset\">Clear</button><output id=\"filter-count\" aria-live=\"polite\"></output></form>\n");
    }

    fn contents(&self, sections: &[Section], html: &mut Html) {
        html.markup("<nav class=\"contents\" aria-label=\"Contents\"><ul>");
        for section in sections {
            html.open("li", &[]);
            html.link("part", section.id, section.title);
            html.leaf("span", &[("class", "count")], &section.count.to_string());
            if section.id == changes::ID {
                changes::contents(self, html);
            }
            html.close("li");
        }
        html.markup("</ul></nav>\n");
    }

    fn nothing(&self, html: &mut Html) {
        html.markup("<section class=\"nothing\"><h2>Nothing to show</h2>");
        let why = match self.surroundings.filtered {
            true => "The filters of the command line let nothing through.",
            false if self.report.hunks.is_empty() => {
                "No file that is analysed differs between these versions."
            }
            false if self.surroundings.properties => {
                "The source differs between these versions, but states no property that a change could break."
            }
            false => "The source differs between these versions, but no fact about any function does.",
        };
        html.leaf("p", &[], why);
        html.markup("</section>\n");
    }

    fn foot(&self, html: &mut Html) {
        let tool = &self.report.tool;
        let mut text = format!("{} {}", tool.name, tool.version);
        if !tool.z3.is_empty() {
            text.push_str(&format!(", Z3 {}", tool.z3));
        }
        if !self.report.settings.data_model.is_empty() {
            text.push_str(&format!(", {}", self.report.settings.data_model));
        }
        html.leaf("footer", &[], &text);
        html.markup("\n");
    }

    /// Opens an element that the filters look at.
    fn open_item(&self, tag: &'static str, class: &str, kind: &str, f: &FunctionReport, html: &mut Html) {
        html.open(
            tag,
            &[
                ("class", class),
                ("data-kind", kind),
                ("data-file", &f.file.to_string()),
                ("data-function", &f.name),
            ],
        );
    }
}

/// Kinds of items, with the words for choosing them.
const KINDS: [(&str, &str); 6] = [
    ("change", "changes"),
    ("seen", "changes that callers see"),
    ("held", "what stayed"),
    ("flow", "control flow"),
    ("open", "open questions"),
    ("hunk", "changes without a fact"),
];

const HOW_TO_READ: &str = "<details class=\"how\"><summary>How to read this</summary><dl>\
<dt>fact</dt><dd>A condition at a point of a function that holds whenever execution gets there. <i>proved</i>: on every execution, under the assumptions that are named; <i>bounded(k)</i>: with at most k iterations of each loop; <i>likely(n)</i>: on n executions.</dd>\
<dt>change</dt><dd>A fact that held before a commit and does not after it (\u{2212}), or the other way round (+): an invariant churn. The lines that cause it are links.</dd>\
<dt>when, before, now, else</dt><dd>What the code does where its text differs: from every state at that place that meets the condition, what it did before the commit and what it does after it, whether or not the function gets there in such a state.</dd>\
<dt>seen by callers</dt><dd>It shows in a return value, in memory, in output, or in how the program ends.</dd>\
<dt>replayed</dt><dd>Both versions were run on this input, and differed as shown.</dd>\
<dt>stayed</dt><dd>A fact that holds in every version that is named: a version invariant.</dd>\
<dt>keys</dt><dd>/ filters, j and k go to the next and the previous change and point at its lines, Escape lets go.</dd>\
</dl></details>\n";

/// Leaves out pieces that have no room, from the end of the least important sections; returns how many.
fn fit(sections: &mut [Section], room: usize) -> usize {
    let mut room = room;
    let mut left_out = 0;
    for section in sections {
        let before = section.pieces.len();
        let fits = section.pieces.iter().take_while(|piece| {
            let rest = room.checked_sub(piece.as_bytes().len());
            room = rest.unwrap_or(room);
            rest.is_some()
        });
        let fits = fits.count();
        section.pieces.truncate(fits);
        left_out += before - fits;
    }
    left_out
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect::<String>() + ".")
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
