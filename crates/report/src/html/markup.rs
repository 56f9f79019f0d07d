//! HTML that is being written. Names of elements and attributes, and markup, are this program's own
//! (`&'static str`); everything else can only come in as text, which is escaped.

use crate::escape::visible;

/// A piece of a page.
#[derive(Clone, Debug, Default)]
pub struct Html(String);

/// Attributes of an element; the values are escaped.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Writes markup as it is.
    pub fn markup(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Writes text: nothing in it is markup, and control and deceptive characters are spelled out.
    pub fn text(&mut self, text: &str) {
        for c in visible(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
    }

    /// Writes a start tag.
    pub fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.0.push('<');
        self.0.push_str(name);
        for (attribute, value) in attributes {
            self.0.push(' ');
            self.0.push_str(attribute);
            self.0.push_str("=\"");
            self.text(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// Writes an end tag.
    pub fn close(&mut self, name: &'static str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Writes an element around `content`.
    pub fn element(&mut self, name: &'static str, attributes: Attributes, content: impl FnOnce(&mut Html)) {
        self.open(name, attributes);
        content(self);
        self.close(name);
    }

    /// Writes an element that holds text.
    pub fn leaf(&mut self, name: &'static str, attributes: Attributes, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    /// Writes a link inside the page.
    pub fn link(&mut self, class: &str, target: &str, text: &str) {
        self.leaf("a", &[("class", class), ("href", &format!("#{target}"))], text);
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: &Html) {
        self.0.push_str(&piece.0);
    }

    /// What is written so far.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut html = Html::default();
        html.leaf("p", &[("title", text)], text);
        assert_eq!(html.0, format!("<p title=\"{expected}\">{expected}</p>"));
    }

    #[test]
    fn text_is_never_markup() {
        check("</script><b>&", "&lt;/script&gt;&lt;b&gt;&amp;");
        check("\" onclick='x'", "&quot; onclick=&#39;x&#39;");
        check("a\u{202e}\u{0}\n", "a\\u{202e}\\x00\\n");
    }

    proptest! {
        #[test]
        fn no_text_opens_or_ends_anything(text in any::<String>()) {
            let mut html = Html::default();
            html.text(&text);
            prop_assert!(!html.0.contains(['<', '>', '"', '\'']));
            prop_assert!(!html.0.contains(char::is_control));
        }
    }
}
