//! The steps of a batch, read from JSON without more memory than their bytes explain.
//!
//! What serde derives for an enum with a tag gathers each step as a tree before it looks at the tag,
//! at ten to thirty times the bytes of the step. Here the fields of all steps are read as one flat
//! struct, and lists have an end.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::batch::{Versions, WireMode, WireStep};
use super::relocate::WireTarget;

/// The most steps of a batch.
const MOST_STEPS: usize = 10_000;
/// The most versions that one condition names.
const MOST_VERSIONS: usize = 64;

/// All steps of a batch.
#[derive(Debug)]
pub(super) struct Steps(pub(super) Vec<WireStep>);

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Write,
    Mkdir,
    Link,
    Remove,
    Move,
    Copy,
    Chmod,
    Check,
}

/// The fields of every step there is.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    op: Op,
    path: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// What a link holds, or what may be at a destination.
    target: Option<String>,
    text: Option<String>,
    base64: Option<String>,
    /// How a write treats what is there, or permission bits.
    mode: Option<String>,
    modified: Option<String>,
    offset: Option<u64>,
    total: Option<u64>,
    parents: Option<bool>,
    recursive: Option<bool>,
    if_match: Option<Versions>,
    if_none_match: Option<Versions>,
}

impl Fields {
    fn step<E: de::Error>(mut self) -> Result<WireStep, E> {
        let step = match self.op {
            Op::Write => WireStep::Write {
                path: needed(self.path.take(), "path")?,
                text: self.text.take(),
                base64: self.base64.take(),
                mode: self.mode.take().map(word::<WireMode, E>).transpose()?.unwrap_or_default(),
                offset: self.offset.take(),
                total: self.total.take(),
                parents: self.parents.take(),
                if_match: self.if_match.take(),
                if_none_match: self.if_none_match.take(),
            },
            Op::Mkdir => WireStep::Mkdir {
                path: needed(self.path.take(), "path")?,
                parents: self.parents.take(),
            },
            Op::Link => WireStep::Link {
                path: needed(self.path.take(), "path")?,
                target: needed(self.target.take(), "target")?,
            },
            Op::Remove => WireStep::Remove {
                path: needed(self.path.take(), "path")?,
                recursive: self.recursive.take(),
                if_match: self.if_match.take(),
                if_none_match: self.if_none_match.take(),
            },
            Op::Move => {
                let (from, to, target) = self.trip()?;
                WireStep::Move { from, to, target }
            }
            Op::Copy => {
                let (from, to, target) = self.trip()?;
                WireStep::Copy { from, to, target }
            }
            Op::Chmod => WireStep::Chmod {
                path: needed(self.path.take(), "path")?,
                mode: self.mode.take(),
                modified: self.modified.take(),
            },
            Op::Check => WireStep::Check {
                path: needed(self.path.take(), "path")?,
                if_match: self.if_match.take(),
                if_none_match: self.if_none_match.take(),
            },
        };
        self.nothing_left().map(|()| step)
    }

    fn trip<E: de::Error>(&mut self) -> Result<(String, String, WireTarget), E> {
        let target = self.target.take().map(word::<WireTarget, E>).transpose()?;
        let (from, to) = (needed(self.from.take(), "from")?, needed(self.to.take(), "to")?);
        Ok((from, to, target.unwrap_or_default()))
    }

    /// Refuses what another step would take: a condition that is not checked is worse than none.
    fn nothing_left<E: de::Error>(self) -> Result<(), E> {
        let left = [
            ("path", self.path.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("target", self.target.is_some()),
            ("text", self.text.is_some()),
            ("base64", self.base64.is_some()),
            ("mode", self.mode.is_some()),
            ("modified", self.modified.is_some()),
            ("offset", self.offset.is_some()),
            ("total", self.total.is_some()),
            ("parents", self.parents.is_some()),
            ("recursive", self.recursive.is_some()),
            ("if_match", self.if_match.is_some()),
            ("if_none_match", self.if_none_match.is_some()),
        ];
        match left.iter().find(|(_, is_left)| *is_left) {
            Some((name, _)) => Err(E::custom(format_args!("this `op` has no field `{name}`"))),
            None => Ok(()),
        }
    }
}

fn needed<T, E: de::Error>(field: Option<T>, name: &'static str) -> Result<T, E> {
    field.ok_or_else(|| E::missing_field(name))
}

/// One of the words that an enum has.
fn word<T: for<'de> Deserialize<'de>, E: de::Error>(text: String) -> Result<T, E> {
    T::deserialize(de::value::StringDeserializer::new(text))
}

impl<'de> Deserialize<'de> for WireStep {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Fields::deserialize(from)?.step()
    }
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Bounded { most: MOST_STEPS, what: "steps", item: PhantomData })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Versions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = Versions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version, `*`, or a list of versions")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Versions, E> {
        Ok(Versions::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Versions, A::Error> {
        Bounded { most: MOST_VERSIONS, what: "versions", item: PhantomData }
            .visit_seq(list)
            .map(Versions::Many)
    }
}

/// A list that has an end.
struct Bounded<T> {
    most: usize,
    what: &'static str,
    item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Bounded<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {} {}", self.most, self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == self.most {
                return Err(de::Error::invalid_length(self.most + 1, &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}
