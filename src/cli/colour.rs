//! Whether and how to colour and page: git's rules, git's configuration.
//!
//! The configuration is listed by `git config`, which alone knows all of its sources (`git -c`,
//! `GIT_CONFIG_COUNT`, conditional includes).

use super::globals::ColourChoice;
use crate::config::{Listing, truth};
use crate::report::palette::{Paint, Palette, Slot};
use std::collections::BTreeMap;

/// What of git's configuration the display depends on. Keys are in lower case, the last value wins.
#[derive(Clone, Debug, Default)]
pub struct DisplayConfig {
    /// `None` stands for a key without a value, which means true.
    values: BTreeMap<String, Option<String>>,
}

impl DisplayConfig {
    /// Takes it out of all that is configured.
    pub fn of(listing: &Listing) -> DisplayConfig {
        let own = |key: &str| key.starts_with("color.") || key == "pager.invdiff";
        let entries = listing.entries().map(|entry| (entry.key.to_lowercase(), entry.value));
        DisplayConfig { values: entries.filter(|(key, _)| own(key)).collect() }
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|value| value.as_deref().unwrap_or("true"))
    }

    /// What `pager.invdiff` says: no pager, another command, or nothing special.
    pub fn pager(&self) -> PagerConfig {
        match self.get("pager.invdiff") {
            None => PagerConfig::Default,
            Some(value) => match truth(Some(value)) {
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
            other if truth(Some(other)) == Some(false) => ColourChoice::Never,
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
    std::env::var("GIT_PAGER_IN_USE").is_ok_and(|value| truth(Some(&value)) == Some(true))
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

    /// A configuration of entries `key=value` or `key`.
    fn display(entries: &[&str]) -> DisplayConfig {
        let list: String = entries.iter().map(|e| format!("file:x\0{}\0", e.replace('=', "\n"))).collect();
        DisplayConfig::of(&Listing::new(list.into_bytes()))
    }

    fn check(option: Option<ColourChoice>, config: &str, around: &str, expected: bool) {
        let config = display(&config.split_whitespace().collect::<Vec<_>>());
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
        let config = display(&["color.invdiff.removed=bold blue", "color.invdiff.added=no such"]);
        let palette = palette(Some(ColourChoice::Always), &config, Surroundings::default());
        assert_eq!(palette.paint(Slot::Removed, "x").to_string(), "\x1b[1;34mx\x1b[0m");
        assert_eq!(palette.paint(Slot::Added, "x").to_string(), "\x1b[32mx\x1b[0m");
    }

    #[test]
    fn the_pager_can_be_turned_off_or_replaced() {
        for (config, expected) in [
            (&[][..], PagerConfig::Default),
            (&["pager.invdiff=false"], PagerConfig::Off),
            (&["pager.invdiff"], PagerConfig::Default),
            (&["pager.invdiff=less -S"], PagerConfig::Command("less -S".into())),
        ] {
            assert_eq!(display(config).pager(), expected);
        }
    }
}
