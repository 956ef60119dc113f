//! Where a call may go, as the tree enforces it.
//!
//! A path is never merely compared and then used: links in the tree may lead elsewhere. What is
//! used is a view of a part of the tree in which everything is allowed, out of which no link leads.

use engine::{Error, ErrorKind, Result, SandboxPath};

use crate::settings::Settings;

/// What an operation does with the last name of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// A link there is followed.
    Follow,
    /// A link there is meant itself.
    Keep,
}

/// Where a call may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<'a> {
    allowed: &'a [SandboxPath],
    blocked: &'a [SandboxPath],
}

impl<'a> Reach<'a> {
    pub(crate) fn of(settings: &'a Settings) -> Self {
        Self { allowed: &settings.allowed_paths, blocked: &settings.blocked_paths }
    }

    /// Whether a path that was found without following a link may be told.
    pub(crate) fn shows(self, path: &SandboxPath) -> bool {
        self.floor(path).is_some() && !self.is_blocked(path)
    }

    /// The part of the tree in which the operation must stay: the widest one around `path` in which
    /// nothing is blocked.
    pub(crate) fn part(self, path: &SandboxPath, manner: Manner) -> Result<SandboxPath> {
        let floor = self.demand(path)?;
        let mut narrowest = path.clone();
        if manner == Manner::Keep
            && let Some(parent) = path.parent().filter(|parent| parent.starts_with(floor))
        {
            narrowest = parent;
        }
        Ok(self.widest_clear(floor, &narrowest).unwrap_or(narrowest))
    }

    /// One part of the tree for an operation on two paths, if there is one.
    pub(crate) fn common_part(
        self,
        one: &SandboxPath,
        other: &SandboxPath,
    ) -> Result<Option<SandboxPath>> {
        let (floor, _) = (self.demand(one)?, self.demand(other)?);
        let parent = one.parent().unwrap_or_else(SandboxPath::root);
        let narrowest = if parent.starts_with(floor) { parent } else { one.clone() };
        match self.widest_clear(floor, &narrowest) {
            Some(part) => Ok(Some(part).filter(|part| other.starts_with(part))),
            // Between two names of one directory no link can lie.
            None => Ok(other.parent().filter(|parent| *parent == narrowest)),
        }
    }

    /// Refuses to change what holds something that is blocked.
    pub(crate) fn demand_clear(self, path: &SandboxPath) -> Result<()> {
        if self.is_clear(path) {
            return Ok(());
        }
        let message = "a directory in it is blocked, so it cannot be changed as a whole";
        Err(Error::new(ErrorKind::OutsideSandbox, message).on(path))
    }

    /// The allowed path that `path` is beneath, if it may be named at all.
    fn demand(self, path: &SandboxPath) -> Result<&'a SandboxPath> {
        if self.is_blocked(path) {
            let message = "path is in a directory that is blocked";
            return Err(Error::new(ErrorKind::OutsideSandbox, message).on(path));
        }
        self.floor(path).ok_or_else(|| {
            Error::new(ErrorKind::OutsideSandbox, "path is not among the allowed ones").on(path)
        })
    }

    fn is_blocked(self, path: &SandboxPath) -> bool {
        self.blocked.iter().any(|blocked| path.starts_with(blocked))
    }

    /// Whether nothing in it is blocked.
    pub(crate) fn is_clear(self, part: &SandboxPath) -> bool {
        !self.blocked.iter().any(|blocked| blocked.starts_with(part))
    }

    /// The highest allowed path around this one.
    fn floor(self, path: &SandboxPath) -> Option<&'a SandboxPath> {
        static ROOT: std::sync::LazyLock<SandboxPath> = std::sync::LazyLock::new(SandboxPath::root);
        if self.allowed.is_empty() {
            return Some(&ROOT);
        }
        let around = self.allowed.iter().filter(|allowed| path.starts_with(allowed));
        around.min_by_key(|allowed| allowed.depth())
    }

    /// The highest path from `floor` down to `lowest` in which nothing is blocked.
    fn widest_clear(self, floor: &SandboxPath, lowest: &SandboxPath) -> Option<SandboxPath> {
        let up = std::iter::successors(Some(lowest.clone()), SandboxPath::parent);
        let between = up.take_while(|part| part.starts_with(floor));
        between.filter(|part| self.is_clear(part)).last()
    }
}
