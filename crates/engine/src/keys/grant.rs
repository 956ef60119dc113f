//! What a key allows, and what keys its holder may make.

use std::collections::BTreeSet;

use crate::virtual_fs::now;
use crate::{Error, ErrorKind, Result, Role, SandboxId, SandboxPath, UnixTime};

/// The most sandboxes that a key can name.
pub(super) const MOST_SANDBOXES: usize = 1024;

/// What somebody may do, where, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What he may do.
    pub role: Role,
    /// The sandboxes that he may see.
    pub scope: Scope,
    /// The directory that he may see of each of them, with what is beneath it; all if there is none.
    pub prefix: Option<SandboxPath>,
    /// From when on he may do nothing any more.
    pub expires: Option<UnixTime>,
}

/// Some sandboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that there are and will be.
    All,
    /// Those with these ids.
    Only(BTreeSet<SandboxId>),
}

impl Grant {
    /// What the server's own token allows: everything, everywhere, for ever.
    pub fn everything() -> Self {
        Self { role: Role::Owner, scope: Scope::All, prefix: None, expires: None }
    }

    /// Whether a sandbox may be seen at all.
    pub fn may_see(&self, sandbox: &SandboxId) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Only(ids) => ids.contains(sandbox),
        }
    }

    /// Whether it is over by now.
    pub fn is_expired(&self) -> bool {
        self.expires.is_some_and(|end| end <= now())
    }

    /// Refuses what whoever has this grant may not give to others, nor take from them: he must be an
    /// owner, and nobody gets more than he has himself.
    pub fn covers(&self, other: &Self) -> Result<()> {
        let refuse = |message| Err(Error::new(ErrorKind::Forbidden, message));
        if self.role < Role::Owner {
            return refuse("only an owner may deal with keys");
        }
        if other.role > self.role {
            return refuse("the key may have no greater role than the one that deals with it");
        }
        if !self.scope.covers(&other.scope) {
            return refuse("the key may see no other sandboxes than the one that deals with it");
        }
        let root = SandboxPath::root();
        let [ours, theirs] = [self, other].map(|grant| grant.prefix.as_ref().unwrap_or(&root));
        if !theirs.starts_with(ours) {
            return refuse("the key may see no other directory than the one that deals with it");
        }
        let outlives = |end| other.expires.is_none_or(|theirs| theirs > end);
        if self.expires.is_some_and(outlives) {
            return refuse("the key may not live longer than the one that deals with it");
        }
        Ok(())
    }

    /// The same in the form that is kept, if a key can have it.
    pub(super) fn checked(mut self) -> Result<Self> {
        let refuse = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
        if let Scope::Only(ids) = &self.scope
            && !(1..=MOST_SANDBOXES).contains(&ids.len())
        {
            return refuse(format!("a key names 1 to {MOST_SANDBOXES} sandboxes, or sees all"));
        }
        if self.is_expired() {
            return refuse("the key would have expired already".to_owned());
        }
        if self.expires.is_some_and(|end| end.nanoseconds >= 1_000_000_000) {
            return refuse("a time has fewer than 1,000,000,000 nanoseconds".to_owned());
        }
        self.prefix = self.prefix.filter(|prefix| !prefix.is_root());
        Ok(self)
    }
}

impl Scope {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Only(_), Self::All) => false,
            (Self::Only(ours), Self::Only(theirs)) => theirs.is_subset(ours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DotDot;

    fn only(ids: &[&str]) -> Scope {
        Scope::Only(ids.iter().map(|id| SandboxId::parse(id).unwrap()).collect())
    }

    fn beneath(path: &str) -> Option<SandboxPath> {
        Some(SandboxPath::parse(path, DotDot::Refuse).unwrap())
    }

    fn until(seconds: i64) -> Option<UnixTime> {
        Some(UnixTime { seconds, nanoseconds: 0 })
    }

    fn covers(one: &Grant, other: &Grant) -> bool {
        match one.covers(other) {
            Ok(()) => true,
            Err(err) => {
                assert_eq!(err.kind(), ErrorKind::Forbidden);
                false
            }
        }
    }

    #[test]
    fn who_may_do_everything_may_give_everything() {
        assert!(covers(&Grant::everything(), &Grant::everything()));
    }

    #[test]
    fn only_an_owner_gives_keys() {
        let viewer = Grant { role: Role::Viewer, ..Grant::everything() };
        let developer = Grant { role: Role::Developer, ..Grant::everything() };
        assert!(covers(&Grant::everything(), &viewer) && covers(&Grant::everything(), &developer));
        assert!(!covers(&developer, &viewer) && !covers(&viewer, &viewer));
    }

    #[test]
    fn nobody_gives_a_sandbox_that_he_does_not_see() {
        let grant = |scope| Grant { scope, ..Grant::everything() };
        let own = grant(only(&["a", "b"]));
        assert!(covers(&own, &grant(only(&["b"]))) && covers(&own, &own));
        assert!(!covers(&own, &grant(only(&["b", "c"]))) && !covers(&own, &grant(Scope::All)));
        let id = |text| SandboxId::parse(text).unwrap();
        assert!(own.may_see(&id("a")) && !own.may_see(&id("c")) && !own.may_see(&id("a-b")));
        assert!(grant(Scope::All).may_see(&id("c")));
    }

    #[test]
    fn nobody_gives_a_directory_that_he_does_not_see() {
        let grant = |prefix| Grant { prefix, ..Grant::everything() };
        let own = grant(beneath("/src"));
        assert!(covers(&own, &grant(beneath("/src/lib"))) && covers(&own, &own));
        for wider in [None, beneath("/"), beneath("/srcs"), beneath("/lib")] {
            assert!(!covers(&own, &grant(wider)));
        }
    }

    #[test]
    fn nobody_gives_a_key_that_lives_longer_than_his() {
        let grant = |expires| Grant { expires, ..Grant::everything() };
        let own = grant(until(100));
        assert!(covers(&own, &grant(until(99))) && covers(&own, &own));
        assert!(!covers(&own, &grant(until(101))) && !covers(&own, &grant(None)));
        assert!(covers(&grant(None), &own));
    }

    #[test]
    fn a_key_names_no_more_sandboxes_than_it_can_and_at_least_one() {
        let named = |count: usize| {
            let ids = (0..count).map(|id| SandboxId::parse(&format!("s{id}")).unwrap());
            Grant { scope: Scope::Only(ids.collect()), ..Grant::everything() }.checked()
        };
        assert!(named(1).is_ok() && named(MOST_SANDBOXES).is_ok());
        assert_eq!(named(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(named(MOST_SANDBOXES + 1).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn a_key_that_has_expired_is_not_made() {
        let expired = Grant { expires: until(1), ..Grant::everything() };
        assert_eq!(expired.checked().unwrap_err().kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn the_root_as_a_directory_is_no_limit() {
        let grant = Grant { prefix: beneath("/"), ..Grant::everything() };
        assert_eq!(grant.checked().unwrap(), Grant::everything());
    }
}
