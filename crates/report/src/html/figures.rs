//! A page of numbers: parts with sentences, tables and trees. It has no script.

use super::markup::Html;
use super::{document, tree};
use crate::tree::Tree;
use std::io::{self, Write};

/// A part of a page, with its heading.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub title: String,
    pub sentences: Vec<String>,
    pub tables: Vec<Table>,
    pub trees: Vec<Tree>,
}

/// A table; the first cell of a row says what it is about.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub title: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"key affected\">a change can affect it</span>\
<span class=\"key success\">returns, or exits</span><span class=\"key failure\">fails</span>\
<span class=\"key grey\">not known</span><span class=\"key folded\">folded: more below</span></p>";

/// Writes the whole page.
pub fn render(title: &str, lead: &[String], parts: &[Part], out: &mut dyn Write) -> io::Result<()> {
    let mut html = Html::default();
    html.markup("<header class=\"top\">\n<div class=\"bar\"><p class=\"brand\">git invdiff</p></div>\n");
    html.leaf("h1", &[], title);
    lead.iter().for_each(|line| html.leaf("p", &[("class", "summary")], line));
    html.markup("</header>\n<div class=\"page alone\">\n<main>\n");
    parts.iter().for_each(|part| write_part(part, &mut html));
    html.markup("</main>\n</div>\n");
    document(title, &html, None, out)
}

fn write_part(part: &Part, html: &mut Html) {
    html.open("section", &[]);
    html.leaf("h2", &[], &part.title);
    part.sentences.iter().for_each(|line| html.leaf("p", &[], line));
    part.tables.iter().for_each(|table| write_table(table, html));
    if !part.trees.is_empty() {
        html.markup("<h3>Trees</h3>");
        html.markup(LEGEND);
    }
    for one in &part.trees {
        html.markup("<div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"tree, scrolls\">");
        tree::write(one, html);
        html.markup("</div>\n");
    }
    html.close("section");
    html.markup("\n");
}

fn write_table(table: &Table, html: &mut Html) {
    html.markup("<figure class=\"figures\">");
    html.leaf("figcaption", &[], &table.title);
    html.markup("<table><thead><tr>");
    table.head.iter().for_each(|cell| html.leaf("th", &[("scope", "col")], cell));
    html.markup("</tr></thead><tbody>");
    for row in &table.rows {
        html.markup("<tr>");
        for (k, cell) in row.iter().enumerate() {
            match k {
                0 => html.leaf("th", &[("scope", "row")], cell),
                _ => html.leaf("td", &[], cell),
            }
        }
        html.markup("</tr>");
    }
    html.markup("</tbody></table></figure>\n");
}
