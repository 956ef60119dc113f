//! Where the marking begins: what refs lead to, and what somebody still reads.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use storage::{Domain, ObjectId, Ref, RefKey, Storage, Token};

use crate::snapshot::Record;
use crate::tree::{Body, File, Link, Node};
use crate::{Error, ErrorKind, Result};

use super::super::copies::COPIES;
use super::super::meaning::meaning;
use super::super::objects::{Family, damaged};
use super::super::root::Root;
use super::super::shelf::{Shelf, open_trunk};
use super::super::trunk::State;

/// The refs that there may be: those of sandboxes, ours, those of a storage's proof, and those of
/// servers, which lead to no object.
const KNOWN: [&str; 8] =
    ["audit/", "directories/", "expiry/", "gc/", "keys/", "probe/", SANDBOXES, "secrets/"];
const SANDBOXES: &str = "sandboxes/";
/// How many refs are read at a time.
const AT_ONCE: usize = 256;

/// Where the marking begins, family by family.
#[derive(Debug, Default)]
pub(super) struct Roots {
    families: BTreeMap<Domain, Beginnings>,
}

/// Where the marking of one family begins.
#[derive(Debug)]
pub(super) struct Beginnings {
    pub(super) family: Family,
    /// The topmost pages of root directories.
    pub(super) tops: HashSet<ObjectId>,
    /// Files that have no name any more.
    pub(super) files: Vec<File>,
}

impl Roots {
    pub(super) fn of(&self, domain: Domain) -> Option<&Beginnings> {
        self.families.get(&domain)
    }

    /// Reads every ref of a store; gives the announcements of copies that were made long ago.
    ///
    /// A ref that cannot be read, or is of a kind that is not known, ends the collection: whatever
    /// it leads to must stay.
    pub(super) async fn add_refs(
        &mut self,
        storage: &dyn Storage,
        now: SystemTime,
        grace: Duration,
    ) -> Result<Vec<(RefKey, Token)>> {
        check_known(storage).await?;
        each_ref(storage, SANDBOXES, |key, stored| {
            root_of(key, stored)?.iter().for_each(|root| self.add(root));
            Ok(())
        })
        .await?;
        // Read last: see `copies`.
        let mut over = Vec::new();
        each_ref(storage, COPIES, |key, stored| {
            self.add(&Root::decode(&stored.value).map_err(|err| damaged(err.0))?);
            let announced = time_of(key.as_str().strip_prefix(COPIES).unwrap_or_default());
            if announced.is_some_and(|time| time.checked_add(grace).is_some_and(|end| end < now)) {
                over.push((key.clone(), stored.token.clone()));
            }
            Ok(())
        })
        .await?;
        Ok(over)
    }

    /// Adds what is read in this process.
    pub(super) fn add_states(&mut self, states: &[Arc<State>]) {
        states.iter().for_each(|state| self.add(&state.root));
    }

    /// Adds files that somebody has open in this process although their names are gone.
    pub(super) fn add_orphans(&mut self, shelf: &Shelf) {
        let trunks: Vec<_> = shelf.open.lock().values().filter_map(open_trunk).collect();
        for trunk in trunks {
            let family = trunk.state().root.family;
            for Node { body, .. } in trunk.orphans() {
                if let Body::File(file) = body {
                    self.family(family).files.push(file);
                }
            }
        }
    }

    fn add(&mut self, root: &Root) {
        let top = root.tree.directory().and_then(|dir| dir.top.as_ref());
        let family = self.family(root.family);
        match top {
            Some(Link::Stored(id)) => drop(family.tops.insert(*id)),
            // A tree that was not stored yet holds its work.
            Some(Link::Fresh(_)) | None => {}
        }
    }

    fn family(&mut self, family: Family) -> &mut Beginnings {
        let empty = || Beginnings { family, tops: HashSet::new(), files: Vec::new() };
        self.families.entry(family.domain).or_insert_with(empty)
    }
}

/// Refuses a store that has refs of a kind that is not known.
async fn check_known(storage: &dyn Storage) -> Result<()> {
    let mut after = None;
    loop {
        let next = storage.list_refs("", after.as_ref(), 1).await.map_err(meaning)?;
        let Some((key, _)) = next.into_iter().next() else { return Ok(()) };
        let Some(known) = KNOWN.iter().find(|known| key.as_str().starts_with(*known)) else {
            return Err(unknown(&key));
        };
        // A zero is the next letter behind a slash.
        let behind = known.replace('/', "0");
        after = Some(RefKey::new(&behind).map_err(meaning)?);
    }
}

fn unknown(key: &RefKey) -> Error {
    let message = format!("`{key}` is of a kind that is not known, so that nothing is collected");
    Error::new(ErrorKind::Unsupported, message)
}

/// The root that the ref of a sandbox leads to, if it is of a kind that leads to one.
fn root_of(key: &RefKey, stored: &Ref) -> Result<Option<Root>> {
    let unreadable = |err: crate::tree::Damaged| {
        let message = format!("`{key}` cannot be read, so that nothing is collected");
        Error::new(ErrorKind::Io, message).because(err)
    };
    let segments: Vec<&str> = key.as_str().split('/').collect();
    match &segments[..] {
        [_, _, "root" | "index"] => Root::decode(&stored.value).map(Some).map_err(unreadable),
        [_, _, "snapshots", _] => {
            Record::decode(&stored.value).map(|record| Some(record.root)).map_err(unreadable)
        }
        [_, _, "record"] => Ok(None),
        _ => Err(unknown(key)),
    }
}

/// Calls `visit` with every ref behind a prefix.
async fn each_ref(
    storage: &dyn Storage,
    prefix: &str,
    mut visit: impl FnMut(&RefKey, &Ref) -> Result<()>,
) -> Result<()> {
    let mut after = None;
    loop {
        let page = storage.list_refs(prefix, after.as_ref(), AT_ONCE).await.map_err(meaning)?;
        for (key, stored) in &page {
            visit(key, stored)?;
        }
        match page.into_iter().next_back() {
            Some((last, _)) => after = Some(last),
            None => return Ok(()),
        }
    }
}

/// The time that a key begins with.
pub(super) fn time_of(key: &str) -> Option<SystemTime> {
    let millis: u64 = key.split('-').next()?.parse().ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}
