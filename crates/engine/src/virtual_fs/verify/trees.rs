//! Which trees there are to check: those of sandboxes, and those of their snapshots.

use std::sync::Arc;

use storage::{Domain, Ref, RefKey};

use crate::snapshot::Record;
use crate::tree::Damaged;
use crate::{Result, SandboxId, SandboxPath, SnapshotId};

use super::super::meaning::meaning;
use super::super::root::Root;
use super::super::shelf::{Shelf, Store};
use super::super::trunk::State;
use super::{Check, MOST, Problem, Verified};

/// How many refs, sandboxes or snapshots are looked up at a time.
const AT_ONCE: usize = 256;
const SANDBOXES: &str = "sandboxes/";

/// The trees of some sandboxes, family by family.
pub(super) struct Trees<'a> {
    store: &'a Store,
    trees: Vec<Tree>,
}

/// One tree, and where it is found.
struct Tree {
    /// What it shares objects with; none if it cannot be read.
    family: Option<Domain>,
    owner: Owner,
    /// Where the store keeps it; none for a tree in memory.
    key: Option<RefKey>,
}

/// Whose tree it is.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) sandbox: SandboxId,
    pub(super) snapshot: Option<SnapshotId>,
}

impl Owner {
    pub(super) fn problem(&self, path: SandboxPath, message: &str) -> Problem {
        let Self { sandbox, snapshot } = self.clone();
        Problem { sandbox, snapshot, path, message: message.to_owned() }
    }
}

impl<'a> Trees<'a> {
    /// Those of one sandbox.
    pub(super) async fn of(store: &'a Store, id: &SandboxId) -> Result<Self> {
        let trees = if store.shelf.is_resident() {
            resident(store, id).await?
        } else {
            stored(&store.shelf, &format!("{SANDBOXES}{id}/")).await?
        };
        Ok(Self { store, trees })
    }

    /// Those of all sandboxes.
    pub(super) async fn all(store: &'a Store) -> Result<Self> {
        if !store.shelf.is_resident() {
            return Ok(Self { store, trees: stored(&store.shelf, SANDBOXES).await? });
        }
        let mut trees = Vec::new();
        for id in store.list(None, usize::MAX).await? {
            trees.extend(resident(store, &id).await?);
        }
        Ok(Self { store, trees })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Checks one after the other. What a family shares is looked at once.
    pub(super) async fn check(mut self, watch: &(dyn Fn(&Verified) + Sync)) -> Result<Verified> {
        // What is found first of what is shared is that of a sandbox as it is now.
        self.trees.sort_by_key(|tree| (tree.family, tree.owner.snapshot.is_some()));
        let cache = &self.store.shelf.cache;
        let mut verified = Verified::default();
        for family in self.trees.chunk_by(|one, other| one.family == other.family) {
            let mut check = Check::new(cache, verified, watch);
            for tree in family {
                if check.verified.problems.len() < MOST {
                    self.look(tree, &mut check).await?;
                }
            }
            verified = check.verified;
        }
        Ok(verified)
    }

    async fn look(&self, tree: &Tree, check: &mut Check<'_>) -> Result<()> {
        let found = match &tree.key {
            None => resident_state(self.store, &tree.owner).await?.map(Ok),
            Some(key) => stored_state(&self.store.shelf, key).await?,
        };
        // It may be gone since it was listed.
        let Some(found) = found else { return Ok(()) };
        match tree.owner.snapshot {
            Some(_) => check.verified.snapshots += 1,
            None if tree.key.as_ref().is_none_or(is_root) => check.verified.sandboxes += 1,
            None => {}
        }
        match found {
            Ok(state) => check.run(&state.root, &tree.owner).await,
            Err(Damaged(message)) => {
                let message = format!("its record cannot be read: {message}");
                let problem = tree.owner.problem(SandboxPath::root(), &message);
                check.verified.problems.push(problem);
                Ok(())
            }
        }
    }
}

/// The trees that refs with a prefix lead to.
async fn stored(shelf: &Shelf, prefix: &str) -> Result<Vec<Tree>> {
    let (mut trees, mut after) = (Vec::new(), None);
    loop {
        let page = shelf.cache.storage().list_refs(prefix, after.as_ref(), AT_ONCE).await;
        let page = page.map_err(meaning)?;
        for (key, Ref { value, .. }) in &page {
            if let Some(owner) = owner(key) {
                let family = decode(key, value).ok().map(|root| root.family.domain);
                trees.push(Tree { family, owner, key: Some(key.clone()) });
            }
        }
        match page.into_iter().next_back() {
            Some((last, _)) => after = Some(last),
            None => return Ok(trees),
        }
    }
}

/// Whose tree a ref leads to, if it leads to one.
fn owner(key: &RefKey) -> Option<Owner> {
    let segments: Vec<&str> = key.as_str().split('/').collect();
    let (sandbox, snapshot) = match &segments[..] {
        [_, sandbox, "root" | "index"] => (sandbox, None),
        [_, sandbox, "snapshots", snapshot] => (sandbox, Some(SnapshotId::parse(snapshot).ok()?)),
        _ => return None,
    };
    Some(Owner { sandbox: SandboxId::parse(sandbox).ok()?, snapshot })
}

fn is_root(key: &RefKey) -> bool {
    key.as_str().ends_with("/root")
}

fn decode(key: &RefKey, value: &bytes::Bytes) -> Result<Root, Damaged> {
    if key.as_str().contains("/snapshots/") {
        return Record::decode(value).map(|record| record.root);
    }
    Root::decode(value)
}

/// The state that a ref leads to, to be read for as long as it is held; none if it is gone.
async fn stored_state(shelf: &Shelf, key: &RefKey) -> Result<Option<Result<Arc<State>, Damaged>>> {
    let entered = shelf.pins.enter().await;
    let stored = shelf.cache.storage().load(key).await.map_err(meaning)?;
    let Some(Ref { value, token }) = stored else { return Ok(None) };
    let state = decode(key, &value)
        .map(|root| shelf.pins.hold_seen(State { root, token: Some(token) }, &entered));
    Ok(Some(state))
}

/// The trees of a sandbox in memory.
async fn resident(store: &Store, id: &SandboxId) -> Result<Vec<Tree>> {
    let trunk = store.shelf.trunk(id).await?;
    let family = Some(trunk.state().root.family.domain);
    let owner = |snapshot| Owner { sandbox: id.clone(), snapshot };
    let mut trees = vec![Tree { family, owner: owner(None), key: None }];
    let mut after = None;
    loop {
        let page = trunk.snapshots().list(after.as_ref(), AT_ONCE).await?;
        let ids = page.into_iter().map(|(id, _)| id);
        let before = trees.len();
        trees.extend(ids.map(|id| Tree { family, owner: owner(Some(id)), key: None }));
        if trees.len() == before {
            return Ok(trees);
        }
        after = trees.last().and_then(|last| last.owner.snapshot.clone());
    }
}

async fn resident_state(store: &Store, owner: &Owner) -> Result<Option<Arc<State>>> {
    let trunk = store.shelf.trunk(&owner.sandbox).await?;
    match &owner.snapshot {
        None => Ok(Some(trunk.state())),
        Some(id) => Ok(trunk.snapshots().state(id).await.ok()),
    }
}
