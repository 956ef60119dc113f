//! What the keys of a store are called.
//!
//! The part in braces decides where a cluster keeps a key: what changes together has the same.

use std::fmt;

use redis::cluster_routing::{Route, SlotAddr};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Domain, ObjectKey, RefKey};

/// Into how many groups refs are divided. Part of the layout: never to be changed.
const REF_GROUPS: u8 = 16;

/// What every key of a store begins with.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
}

/// Keys that a cluster keeps together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// The domains that begin with this byte, and their objects.
    Domains(u8),
    /// The refs whose keys hash to this number.
    Refs(u8),
}

impl Group {
    pub(super) fn of_domain(domain: Domain) -> Self {
        let [first, ..] = domain.0;
        Self::Domains(first)
    }

    pub(super) fn of_ref(key: &RefKey) -> Self {
        let hash = xxh3_64(key.as_str().as_bytes());
        Self::Refs((hash % u64::from(REF_GROUPS)) as u8)
    }

    /// Every group of refs.
    pub(super) fn all_of_refs() -> impl Iterator<Item = Self> {
        (0..REF_GROUPS).map(Self::Refs)
    }

    /// A number by which groups are spread over connections.
    pub(super) fn number(self) -> usize {
        match self {
            Self::Domains(number) | Self::Refs(number) => usize::from(number),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domains(first) => write!(f, "{first:02x}"),
            Self::Refs(number) => write!(f, "r{number:x}"),
        }
    }
}

impl Names {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix }
    }

    /// The sorted set of the domains of a group that have objects.
    pub(super) fn domains(&self, group: Group) -> Vec<u8> {
        self.key(group, ":domains", &[])
    }

    /// The sorted set of the ids of a domain's objects.
    pub(super) fn ids(&self, domain: Domain) -> Vec<u8> {
        self.key(Group::of_domain(domain), ":i:", &[&domain.0])
    }

    /// The object itself. Its key ends in its id.
    pub(super) fn object(&self, key: &ObjectKey) -> Vec<u8> {
        self.key(Group::of_domain(key.domain), ":o:", &[&key.domain.0, &key.id.0])
    }

    /// The sorted set of the names of a group's refs.
    pub(super) fn refs(&self, group: Group) -> Vec<u8> {
        self.key(group, ":refs", &[])
    }

    /// The ref itself: its token and its value.
    pub(super) fn stored_ref(&self, key: &RefKey) -> Vec<u8> {
        self.key(Group::of_ref(key), ":r:", &[key.as_str().as_bytes()])
    }

    /// What is written for no other reason than to be waited for.
    pub(super) fn pulse(&self, group: Group) -> Vec<u8> {
        self.key(group, ":pulse", &[])
    }

    /// Where a cluster keeps a group.
    pub(super) fn route(&self, group: Group) -> Route {
        Route::with_key(self.key(group, "", &[]), SlotAddr::Master)
    }

    fn key(&self, group: Group, kind: &str, parts: &[&[u8]]) -> Vec<u8> {
        let mut key = format!("{{{}:{group}}}{kind}", self.prefix).into_bytes();
        key.extend(parts.iter().copied().flatten());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectId;

    #[test]
    fn keys_are_laid_out_as_they_always_were() {
        let names = Names::new("demo".to_owned());
        let (domain, id) = (Domain([b'D'; 16]), ObjectId([b'i'; 32]));
        let text = |key: Vec<u8>| String::from_utf8(key).unwrap();
        let (d, i) = ("D".repeat(16), "i".repeat(32));
        assert_eq!(text(names.domains(Group::of_domain(domain))), "{demo:44}:domains");
        assert_eq!(text(names.ids(domain)), format!("{{demo:44}}:i:{d}"));
        assert_eq!(text(names.object(&ObjectKey { domain, id })), format!("{{demo:44}}:o:{d}{i}"));
        let key = RefKey::new("s/demo/root").unwrap();
        assert_eq!(text(names.stored_ref(&key)), "{demo:rb}:r:s/demo/root");
        assert_eq!(text(names.refs(Group::of_ref(&key))), "{demo:rb}:refs");
    }

    #[test]
    fn what_changes_together_is_kept_together() {
        let names = Names::new("demo".to_owned());
        let key = ObjectKey { domain: Domain(*b"}{}{}{}{}{}{}{}{"), id: ObjectId([b'{'; 32]) };
        let group = Group::of_domain(key.domain);
        let route = |key| Route::with_key(key, SlotAddr::Master);
        assert_eq!(route(names.object(&key)), names.route(group));
        assert_eq!(route(names.ids(key.domain)), names.route(group));
        assert_eq!(route(names.domains(group)), names.route(group));
    }
}
