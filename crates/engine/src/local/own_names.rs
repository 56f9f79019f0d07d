//! Names and types of a version's variables at a point: hundreds in a long function, asked for by each effect that is
//! told, and the same for all effects of a region.

use super::machine::{memory_leaf, variable_leaf};
use super::words::Speaker;
use crate::ir::{ARRAY_LENGTH, CType, Leaf, TermId, Var, VarKind};
use crate::mvicfg::ClassId;
use crate::semantics::c_text::Named;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Types of leaves, and names of terms.
pub(super) type OwnNames = (Rc<BTreeMap<Leaf, CType>>, Rc<BTreeMap<TermId, Named>>);

impl Speaker<'_> {
    /// Names and types of a version's variables at the point; cost: a walk over them, once.
    pub(super) fn own_names(&mut self, class: ClassId) -> OwnNames {
        if let Some(known) = &self.own[class] {
            return known.clone();
        }
        let body = &self.graph.bodies[class];
        let bits = self.sides[class].version.unit.data_model.pointer_bits();
        let named = |var: &Var| Named { text: var.name.to_string(), ty: var.ty.clone() };
        let (mut types, mut names) = (BTreeMap::new(), BTreeMap::new());
        for (var, mv) in body.vars.iter().zip(&self.graph.var_map[class]) {
            let key = format!("{}#{}", var.name, var.ordinal).into();
            types.insert(Leaf::LocalAddr { key, bits }, var.ty.clone());
            if var.kind != VarKind::Temp && !var.in_memory && var.sort.is_some() && *var.name != *ARRAY_LENGTH
            {
                names.insert(self.pool.leaf(variable_leaf(self.graph, *mv)), named(var));
            }
        }
        for (shown, source) in self.retyped(class).into_iter().chain(self.kept(class)) {
            names.insert(self.pool.leaf(variable_leaf(self.graph, shown)), named(body.var(source)));
        }
        types.insert(memory_leaf(), CType::Void);
        let made = (Rc::new(types), Rc::new(names));
        self.own[class] = Some(made.clone());
        made
    }
}
