//! Whether and how to colour and page: git's rules, git's configuration.
//!
//! The configuration is read by `git config`, which alone knows all of its sources (`git -c`,
//! `GIT_CONFIG_COUNT`, conditional includes).

use super::globals::{ColourChoice, GlobalArgs};
use crate::report::palette::{Paint, Palette, Slot};
use std::collections::BTreeMap;

/// What of git's configuration the display depends on. Keys are in lower case, the last value wins.
#[derive(Clone, Debug, Default)]
pub struct DisplayConfig {
    /// `None` stands for a key without a value, which means true.
    values: BTreeMap<String, Option<String>>,
}

impl DisplayConfig {
    /// Asks git; without git, or with a configuration that git rejects, there is none.
    pub fn read(globals: &GlobalArgs) -> DisplayConfig {
        let keys = r"^(color\.ui|color\.invdiff(\..*)?|pager\.invdiff)$";
        let output = globals.git().args(["config", "-z", "--get-regexp", keys]).output();
        output.map(|o| DisplayConfig::parse(&o.stdout)).unwrap_or_default()
    }

    /// Reads the output of `git config -z --get-regexp`: `key LF value NUL`, or `key NUL`.
    fn parse(bytes: &[u8]) -> DisplayConfig {
        let text = String::from_utf8_lossy(bytes);
        let entries = text.split_terminator('\0').map(|entry| match entry.split_once('\n') {
            Some((key, value)) => (key.to_lowercase(), Some(value.to_owned())),
            None => (entry.to_lowercase(), None),
        });
        DisplayConfig { values: entries.collect() }
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|value| value.as_deref().unwrap_or("true"))
    }

    /// What `pager.invdiff` says: no pager, another command, or nothing special.
    pub fn pager(&self) -> PagerConfig {
        match self.get("pager.invdiff") {
            None => PagerConfig::Default,
            Some(value) => match boolean(value) {
                Some(true) => PagerConfig::Default,
                Some(false) => PagerConfig::Off,
                None => PagerConfig::Command(value.to_owned()),
            },
        }
    }

    /// `color.invdiff`, else `color.ui`, else automatic.
    fn colour_choice(&self) -> ColourChoice {
        let value = self.get("color.invdiff").or_else(|| self.get("color.ui")).unwrap_or("auto");
        match value.to_ascii_lowercase().as_str() {
            "always" => ColourChoice::Always,
            "never" => ColourChoice::Never,
            other if boolean(other) == Some(false) => ColourChoice::Never,
            _ => ColourChoice::Auto,
        }
    }
}

/// How `pager.invdiff` changes the pager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagerConfig {
    Default,
    Off,
    Command(String),
}

/// Reads a boolean as git does; `None` if the text is none.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" | "" => Some(false),
        number => number.parse::<i64>().ok().map(|n| n != 0),
    }
}

/// What the decision about colours depends on, besides options and configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings {
    pub stdout_is_terminal: bool,
    /// Git has started a pager that we write to.
    pub pager_in_use: bool,
    /// `NO_COLOR` is set, or the terminal is dumb.
    pub colour_unwelcome: bool,
}

impl Surroundings {
    pub fn look(stdout_is_terminal: bool) -> Surroundings {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        Surroundings {
            stdout_is_terminal,
            pager_in_use: pager_in_use(),
            colour_unwelcome: is_set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|t| t == "dumb"),
        }
    }
}

/// Whether git has started a pager already.
pub fn pager_in_use() -> bool {
    std::env::var("GIT_PAGER_IN_USE").is_ok_and(|value| boolean(&value) == Some(true))
}

/// Decides on colours: options before configuration before the look of the surroundings.
pub fn palette(option: Option<ColourChoice>, config: &DisplayConfig, around: Surroundings) -> Palette {
    let coloured = match option.unwrap_or_else(|| config.colour_choice()) {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto => (around.stdout_is_terminal || around.pager_in_use) && !around.colour_unwelcome,
    };
    if !coloured {
        return Palette::plain();
    }
    let mut palette = Palette::coloured();
    for slot in Slot::ALL {
        let paint = config.get(&format!("color.invdiff.{}", slot.name())).and_then(Paint::parse);
        if let Some(paint) = paint {
            palette.set(slot, paint);
        }
    }
    palette
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(option: Option<ColourChoice>, config: &str, around: &str, expected: bool) {
        let config = DisplayConfig::parse(config.replace('=', "\n").replace(' ', "\0").as_bytes());
        let around = Surroundings {
            stdout_is_terminal: around.contains("tty"),
            pager_in_use: around.contains("pager"),
            colour_unwelcome: around.contains("dumb"),
        };
        assert_eq!(palette(option, &config, around).is_coloured(), expected, "{config:?} {around:?}");
    }

    #[test]
    fn options_beat_configuration_beats_surroundings() {
        check(None, "", "", false);
        check(None, "", "tty", true);
        check(None, "", "pager", true);
        check(None, "", "tty dumb", false);
        check(None, "color.ui=always", "", true);
        check(None, "color.ui=always color.invdiff=false", "tty", false);
        check(None, "color.ui=false color.invdiff=true", "tty", true);
        check(None, "color.invdiff", "", false);
        check(Some(ColourChoice::Always), "color.ui=never", "dumb", true);
        check(Some(ColourChoice::Never), "color.ui=always", "tty", false);
        check(Some(ColourChoice::Auto), "color.ui=always", "", false);
    }

    #[test]
    fn slots_are_configurable() {
        let config =
            DisplayConfig::parse(b"color.invdiff.removed\nbold blue\0color.invdiff.added\nno such\0");
        let palette = palette(Some(ColourChoice::Always), &config, Surroundings::default());
        assert_eq!(palette.paint(Slot::Removed, "x").to_string(), "\x1b[1;34mx\x1b[0m");
        assert_eq!(palette.paint(Slot::Added, "x").to_string(), "\x1b[32mx\x1b[0m");
    }

    #[test]
    fn the_pager_can_be_turned_off_or_replaced() {
        for (config, expected) in [
            (&b""[..], PagerConfig::Default),
            (b"pager.invdiff\nfalse\0", PagerConfig::Off),
            (b"pager.invdiff\0", PagerConfig::Default),
            (b"pager.invdiff\nless -S\0", PagerConfig::Command("less -S".into())),
        ] {
            assert_eq!(DisplayConfig::parse(config).pager(), expected);
        }
    }
}
