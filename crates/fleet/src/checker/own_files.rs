//! The files that one client alone uses are exactly what its acknowledged acts made of them.

use std::collections::{BTreeMap, BTreeSet};

use super::shown;
use crate::history::{Act, Deed};
use crate::outfit;
use crate::piece::{Piece, content};
use crate::tree::Tree;

/// What is wrong with the files of all clients.
pub(super) fn complaints(deeds: &[&Deed], tree: &Tree) -> Vec<String> {
    let mut clients: BTreeSet<u32> = deeds.iter().map(|deed| deed.client).collect();
    let owners = tree.files.keys().filter_map(|path| path.strip_prefix("/own/"));
    clients.extend(owners.filter_map(|path| path.split('/').next()?.parse::<u32>().ok()));
    clients.into_iter().filter_map(|client| of_client(client, deeds, tree)).collect()
}

/// What is wrong with the files of one client.
fn of_client(client: u32, deeds: &[&Deed], tree: &Tree) -> Option<String> {
    let own = || deeds.iter().copied().filter(move |deed| deed.client == client);
    let expected = Expected::of(own());
    let found = Found::of(client, tree);
    let sweeps = || deeds.iter().filter(|deed| deed.act == Act::Sweep { client });
    let is_right = if sweeps().any(|sweep| sweep.is_done()) {
        found.0.is_empty()
    } else {
        let may_be_swept = sweeps().any(|sweep| sweep.is_in_doubt());
        expected.is_met_by(&found) || may_be_swept && found.0.is_empty()
    };
    if is_right {
        return None;
    }
    let sizes: Vec<_> = found.0.iter().map(|(name, bytes)| (name, bytes.len())).collect();
    let changes = shown(own().chain(sweeps().copied()).filter(|deed| is_of_files(&deed.act)));
    Some(format!("client {client} has files {sizes:?}, and not {expected:?}{changes}"))
}

/// The files of a client by name.
type Files = BTreeMap<u32, Vec<Piece>>;

/// What a client's files must be.
#[derive(Debug, Default)]
struct Expected {
    certain: Files,
    /// Before and after each act in doubt: what it was about is one or the other. A client never
    /// touches that again, so no two are about the same names.
    doubts: Vec<(Files, Files)>,
}

impl Expected {
    fn of<'a>(own: impl Iterator<Item = &'a Deed>) -> Self {
        let mut expected = Self::default();
        for deed in own {
            if deed.is_done() {
                apply(&deed.act, &mut expected.certain);
            } else if deed.is_in_doubt() {
                let names = names(&deed.act);
                let before = names.iter().filter_map(|name| expected.certain.remove_entry(name));
                let before: Files = before.collect();
                let mut after = before.clone();
                apply(&deed.act, &mut after);
                expected.doubts.push((before, after));
            }
        }
        expected
    }

    fn is_met_by(&self, found: &Found<'_>) -> bool {
        let mut rest = found.clone();
        let doubts = self.doubts.iter().all(|(before, after)| {
            let names = before.keys().chain(after.keys());
            let about = rest.take(names);
            about.is(after) || about.is(before)
        });
        doubts && rest.is(&self.certain)
    }
}

/// The files of a client that are there.
#[derive(Clone)]
struct Found<'a>(BTreeMap<u32, &'a [u8]>);

impl<'a> Found<'a> {
    fn of(client: u32, tree: &'a Tree) -> Self {
        let prefix = format!("{}/", outfit::own_dir(client));
        let own = |(path, bytes): (&String, &'a bytes::Bytes)| {
            // A name that is no number was never given.
            let name = path.strip_prefix(&prefix)?.parse().unwrap_or(u32::MAX);
            Some((name, &bytes[..]))
        };
        Self(tree.files.iter().filter_map(own).collect())
    }

    /// Takes out those of some names that are there.
    fn take<'n>(&mut self, names: impl Iterator<Item = &'n u32>) -> Self {
        Self(names.filter_map(|name| self.0.remove_entry(name)).collect())
    }

    /// Whether these files are there, and no others.
    fn is(&self, files: &Files) -> bool {
        let is_there = |(name, pieces): (&u32, &Vec<Piece>)| {
            self.0.get(name).is_some_and(|bytes| *bytes == content(pieces))
        };
        self.0.len() == files.len() && files.iter().all(is_there)
    }
}

fn is_of_files(act: &Act) -> bool {
    !names(act).is_empty() || matches!(act, Act::Sweep { .. })
}

/// The own files that an act is about.
fn names(act: &Act) -> Vec<u32> {
    match act {
        Act::Write { name, .. } | Act::Append { name, .. } | Act::Remove { name } => vec![*name],
        Act::Move { from, to } => vec![*from, *to],
        Act::Count { .. }
        | Act::Pair { .. }
        | Act::Carry { .. }
        | Act::Snapshot
        | Act::Forget
        | Act::Fork
        | Act::Discard
        | Act::Sweep { .. } => Vec::new(),
    }
}

fn apply(act: &Act, files: &mut Files) {
    match act {
        Act::Write { name, piece } => drop(files.insert(*name, vec![*piece])),
        Act::Append { name, piece } => files.entry(*name).or_default().push(*piece),
        Act::Move { from, to } => {
            let moved = files.remove(from);
            files.extend(moved.map(|pieces| (*to, pieces)));
        }
        Act::Remove { name } => drop(files.remove(name)),
        Act::Count { .. }
        | Act::Pair { .. }
        | Act::Carry { .. }
        | Act::Snapshot
        | Act::Forget
        | Act::Fork
        | Act::Discard
        | Act::Sweep { .. } => {}
    }
}
