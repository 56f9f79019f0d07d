//! Numbers that stand for what is compared.
//!
//! A *version* is a position in the range of versions that is compared, oldest first. A *class* is the versions of a
//! function that have the same body and the same surroundings, so that what holds in one of them holds in all; classes
//! are numbered by their oldest version. Where two bodies are compared, the older one is class 0 and the newer one
//! class 1.

use crate::MvId;
use crate::ir::VarId;
use std::fmt;
use std::ops::{Index, IndexMut};

/// Small number that stands for one thing of a kind, as an [`IdSet`](crate::IdSet) holds.
pub trait Id: Copy {
    fn from_index(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The first one; of two, the older one.
            pub const OLD: $name = $name(0);
            /// Of two, the newer one.
            pub const NEW: $name = $name(1);
            pub const PAIR: [$name; 2] = [$name::OLD, $name::NEW];

            pub const fn new(index: usize) -> $name {
                $name(index as u32)
            }

            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The first `n`, ascending.
            pub fn first(n: usize) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone {
                (0..n).map($name::new)
            }

            /// The items of a list that has one for each, with whose they are.
            pub fn each<T>(list: &[T]) -> impl DoubleEndedIterator<Item = ($name, &T)> + ExactSizeIterator {
                $name::first(list.len()).zip(list)
            }

            /// The one before, where there is one.
            pub fn previous(self) -> Option<$name> {
                self.0.checked_sub(1).map($name)
            }
        }

        impl Id for $name {
            fn from_index(index: usize) -> $name {
                $name::new(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl<T> Index<$name> for [T] {
            type Output = T;

            fn index(&self, id: $name) -> &T {
                &self[id.index()]
            }
        }

        impl<T> IndexMut<$name> for [T] {
            fn index_mut(&mut self, id: $name) -> &mut T {
                &mut self[id.index()]
            }
        }

        impl<T> Index<$name> for Vec<T> {
            type Output = T;

            fn index(&self, id: $name) -> &T {
                &self[id.index()]
            }
        }

        impl<T> IndexMut<$name> for Vec<T> {
            fn index_mut(&mut self, id: $name) -> &mut T {
                &mut self[id.index()]
            }
        }
    };
}

id! {
    /// Class of versions of one function.
    ClassId
}

id! {
    /// Version of the range.
    VersionId
}

impl ClassId {
    /// The class of a graph of one body.
    pub const ONLY: ClassId = ClassId(0);

    /// The other class of a pair.
    pub fn other(self) -> ClassId {
        ClassId(1 - self.0)
    }
}

impl VersionId {
    /// As people and reports count versions, from 1.
    pub fn number(self) -> u32 {
        self.0 + 1
    }

    pub fn of_number(number: u32) -> Option<VersionId> {
        number.checked_sub(1).map(VersionId)
    }

    pub fn next(self) -> VersionId {
        VersionId(self.0 + 1)
    }

    /// The two versions of a step, which is numbered as the older one.
    pub fn of_step(step: usize) -> [VersionId; 2] {
        [step, step + 1].map(VersionId::new)
    }

    /// Which of the two versions of a step it is: 0 is the older one.
    pub fn side(self, step: usize) -> usize {
        self.index() - step
    }
}

/// A position in a table that has no ids of its own.
impl Id for usize {
    fn from_index(index: usize) -> usize {
        index
    }

    fn index(self) -> usize {
        self
    }
}

impl Id for MvId {
    fn from_index(index: usize) -> MvId {
        MvId(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for VarId {
    fn from_index(index: usize) -> VarId {
        VarId(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_for_what_lists_hold() {
        let mut list = vec!["old", "new"];
        assert_eq!(ClassId::PAIR.map(|class| list[class.other()]), ["new", "old"]);
        list[ClassId::NEW] = "newer";
        let found: Vec<_> = VersionId::each(&list).rev().map(|(v, text)| (v.number(), *text)).collect();
        assert_eq!(found, [(2, "newer"), (1, "old")]);
        assert_eq!(format!("{:?} {}", ClassId::PAIR, VersionId::NEW), "[0, 1] 1");
    }

    #[test]
    fn a_step_is_between_neighbours() {
        let [from, to] = VersionId::of_step(3);
        assert_eq!((from.next(), to.previous()), (to, Some(from)));
        assert_eq!([from, to].map(|v| v.side(3)), [0, 1]);
        assert_eq!((VersionId::OLD.previous(), VersionId::of_number(0)), (None, None));
    }
}
