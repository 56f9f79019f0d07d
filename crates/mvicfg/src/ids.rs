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

impl ClassId {
    /// Of the two classes of a pair, the older one.
    pub const OLD: ClassId = ClassId(0);
    /// Of the two classes of a pair, the newer one.
    pub const NEW: ClassId = ClassId(1);
    /// The class of a graph of one body.
    pub const ONLY: ClassId = ClassId(0);
    pub const PAIR: [ClassId; 2] = [ClassId::OLD, ClassId::NEW];

    /// The other class of a pair.
    pub fn other(self) -> ClassId {
        ClassId(1 - self.0)
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
