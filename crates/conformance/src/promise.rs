//! One promise, and the line that registers it.

use std::fmt;

use engine::Limits;
use futures::future::BoxFuture;

use crate::Ability;
use crate::tree::Tree;

/// Something that every file system keeps, and how to see that it does.
pub struct Promise {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Ability],
    pub(crate) limits: Limits,
    pub(crate) check: fn(Tree) -> BoxFuture<'static, ()>,
}

impl Promise {
    /// The promise in words, joined by underscores.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What a tree must be able to express to be held to it.
    pub fn needs(&self) -> &'static [Ability] {
        self.needs
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("name", &self.name).field("needs", &self.needs).finish()
    }
}

/// A tree without limits.
pub(crate) const UNLIMITED: Limits = Limits { file_size: None, total_size: None, nodes: None };

/// Registers the promises of a file, one line each:
/// `name;`, `name needs Ability, Ability;`, `name within LIMITS;` or both.
macro_rules! promises {
    ($($name:ident $(needs $($ability:ident),+)? $(within $limits:expr)?;)+) => {
        pub(crate) const PROMISES: &[$crate::Promise] = &[$($crate::Promise {
            name: stringify!($name),
            needs: &[$($($crate::Ability::$ability),+)?],
            limits: $crate::promise::either!($($limits)?),
            check: |tree| Box::pin($name(tree)),
        }),+];
    };
}

/// The limits that a promise asks for, or none.
macro_rules! either {
    () => {
        $crate::promise::UNLIMITED
    };
    ($limits:expr) => {
        $limits
    };
}

pub(crate) use {either, promises};
