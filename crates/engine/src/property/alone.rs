//! Programs in which one assertion of a function is left, or none: what a replay of an assertion that
//! is judged alone runs.

use super::Version;
use crate::interp::Program;
use crate::ir::{TermPool, Unit};
use crate::symex::{Site, Sites, without};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The programs of one version, linked when first asked for.
pub(super) struct Alone<'a> {
    version: Version<'a>,
    sites: Sites,
    linked: BTreeMap<Option<usize>, Arc<Program>>,
}

impl<'a> Alone<'a> {
    pub fn new(version: Version<'a>) -> Alone<'a> {
        let sites = Sites::of(version.written, version.unit, &mut TermPool::new());
        Alone { version, sites, linked: BTreeMap::new() }
    }

    pub fn name(&self) -> &str {
        &self.version.written.name
    }

    /// The program with no assertion of the function but this one.
    pub fn with(&mut self, site: Option<&Site>) -> Option<Arc<Program>> {
        let left = match site {
            Some(site) => Some(self.sites.sites.iter().position(|s| s == site)?),
            None => None,
        };
        if let Some(known) = self.linked.get(&left) {
            return Some(known.clone());
        }
        let f = without(self.version.written, &self.sites, |s| Some(s) != left);
        let mut unit = Unit {
            path: self.version.unit.path.clone(),
            files: self.version.unit.files.clone(),
            records: self.version.unit.records.clone(),
            globals: self.version.unit.globals.clone(),
            prototypes: self.version.unit.prototypes.clone(),
            functions: self.version.unit.functions.clone(),
            ..Unit { data_model: self.version.unit.data_model, ..Unit::default() }
        };
        unit.is_whole = self.version.unit.is_whole;
        let place = unit.functions.iter_mut().find(|g| g.name == f.name)?;
        *place = Arc::new(f);
        let program = Arc::new((self.version.link)(Arc::new(unit)));
        self.linked.insert(left, program.clone());
        Some(program)
    }
}
