//! Two states of a tree as notices, which can be applied one after the other.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::super::trunk::{State, Trunk};
use super::mark;
use crate::snapshot::{Difference, DifferenceKind, DifferenceStream, Moves, diff_beneath};
use crate::tree::{Body, Node};
use crate::watch::{Cursor, Mark};
use crate::{Notice, NoticeKind, Result, SandboxPath};

/// With more differences than these, what moved is told as removed and created.
const FEW: usize = 1024;

/// What is watched.
#[derive(Debug)]
pub(super) struct Scope {
    /// What the watch is confined to.
    pub(super) floor: SandboxPath,
    pub(super) dir: SandboxPath,
    pub(super) recursive: bool,
}

/// What differs between two states, and how much of it was told.
pub(super) struct Telling {
    trunk: Arc<Trunk>,
    from: Arc<State>,
    to: Arc<State>,
    differences: DifferenceStream,
    /// How many differences were taken from there.
    taken: u64,
    /// The next notice, and how many differences there are up to it.
    next: Option<(NoticeKind, u64)>,
    is_begun: bool,
}

impl Telling {
    /// Begins behind so many differences.
    pub(super) async fn begin(
        trunk: &Arc<Trunk>,
        scope: &Scope,
        from: Arc<State>,
        to: Arc<State>,
        told: u64,
    ) -> Result<Self> {
        let nodes = (
            directory(trunk.node_at(&from, scope).await?, &to),
            directory(trunk.node_at(&to, scope).await?, &to),
        );
        let differences = |moves| {
            let (trunk, states) = (Arc::clone(trunk), (Arc::clone(&from), Arc::clone(&to)));
            diff_beneath(trunk, states, &scope.dir, (&nodes.0, &nodes.1), moves)
        };
        let few = differences(Moves::Together).take(FEW + 1).try_collect::<Vec<_>>().await?;
        let mut differences = match few.len() <= FEW && is_in_sequence(&few) {
            true => stream::iter(few.into_iter().map(Ok)).boxed(),
            false => in_sequence(differences(Moves::Apart)),
        };
        for _ in 0..told {
            if differences.try_next().await?.is_none() {
                break;
            }
        }
        let trunk = Arc::clone(trunk);
        Ok(Self { trunk, from, to, differences, taken: told, next: None, is_begun: false })
    }

    pub(super) fn to(&self) -> &Arc<State> {
        &self.to
    }

    /// The next notice; none at the end.
    pub(super) async fn next(&mut self, scope: &Scope) -> Result<Option<Notice>> {
        if !self.is_begun {
            self.next = self.find(scope).await?;
            self.is_begun = true;
            if self.next.is_some() {
                // Whoever is cut off in between needs both.
                self.trunk.watching.remember(&self.from);
                self.trunk.watching.remember(&self.to);
            }
        }
        let Some((kind, told)) = self.next.take() else { return Ok(None) };
        self.next = self.find(scope).await?;
        let (from, to) = (mark(&self.from.root), mark(&self.to.root));
        let mark = match self.next {
            Some(_) => Mark::Between { from, to, told, scope: scope.hash() },
            None => Mark::State(to),
        };
        Ok(Some(Notice { cursor: Cursor(mark), kind }))
    }

    /// The next difference that is within the scope.
    async fn find(&mut self, scope: &Scope) -> Result<Option<(NoticeKind, u64)>> {
        while let Some(difference) = self.differences.try_next().await? {
            self.taken += 1;
            if let Some(kind) = scope.notice(difference) {
                return Ok(Some((kind, self.taken)));
            }
        }
        Ok(None)
    }
}

impl Scope {
    /// Tells cursors apart that count the differences of different directories.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = blake3::Hasher::new();
        hash.update(&[u8::from(self.recursive)]);
        hash.update(self.dir.as_str().as_bytes());
        let mut short = DefaultHasher::new();
        hash.finalize().as_bytes().hash(&mut short);
        short.finish()
    }

    fn holds(&self, path: &SandboxPath) -> bool {
        // The directory itself is not beneath itself.
        match path.strip(&self.dir) {
            None | Some("") => false,
            Some(rest) => self.recursive || !rest.contains('/'),
        }
    }

    /// What a difference means to whoever watches only a part.
    fn notice(&self, difference: Difference) -> Option<NoticeKind> {
        let Difference { path, kind, before, after } = difference;
        let entry = after.or(before).map(|entry| entry.kind);
        match kind {
            DifferenceKind::Renamed { from } => match (self.holds(&from), self.holds(&path)) {
                (true, true) => Some(NoticeKind::Renamed { from, path, entry }),
                (true, false) => Some(NoticeKind::Removed { path: from, entry }),
                (false, true) => Some(NoticeKind::Created { path, entry }),
                (false, false) => None,
            },
            _ if !self.holds(&path) => None,
            DifferenceKind::Added => Some(NoticeKind::Created { path, entry }),
            DifferenceKind::Removed => Some(NoticeKind::Removed { path, entry }),
            DifferenceKind::Modified => Some(NoticeKind::Modified { path, entry }),
        }
    }
}

/// A directory as it is, or an empty one in place of what is none.
fn directory(node: Option<Node>, state: &State) -> Node {
    let empty = || Node { body: Body::Directory(Box::default()), ..state.root.tree };
    node.filter(|node| node.directory().is_some()).unwrap_or_else(empty)
}

/// Whether differences, whose renames happened before all others, may be told one after the other
/// as they are: nothing else but a change of a mode happened to either end of a rename, nor above
/// or beneath it, unless what it moved into is new.
fn is_in_sequence(differences: &[Difference]) -> bool {
    let renamed =
        |difference: &Difference| matches!(difference.kind, DifferenceKind::Renamed { .. });
    let mut gone = BTreeSet::new();
    let mut come = BTreeSet::new();
    let mut sources = BTreeSet::new();
    for difference in differences {
        let path = difference.path.as_str();
        match &difference.kind {
            DifferenceKind::Added => drop(come.insert(path)),
            DifferenceKind::Removed => drop(gone.insert(path)),
            DifferenceKind::Modified => {}
            DifferenceKind::Renamed { from } => drop(sources.insert(from.as_str())),
        }
    }
    let is_replaced = gone.iter().any(|path| come.contains(path));
    !is_replaced
        && differences.iter().filter(|difference| renamed(difference)).all(|difference| {
            let to = difference.path.as_str();
            let DifferenceKind::Renamed { from } = &difference.kind else { return true };
            let from = from.as_str();
            let meets_none = |set: &BTreeSet<&str>, path| !meets(set, path);
            meets_none(&gone, from)
                && meets_none(&come, from)
                && meets_none(&gone, to)
                && meets_none(&sources, to)
        })
}

/// Whether a path, one above it or one beneath it is in a set.
fn meets(set: &BTreeSet<&str>, path: &str) -> bool {
    let mut above = Some(path);
    while let Some(ancestor) = above.filter(|ancestor| !ancestor.is_empty()) {
        if set.contains(ancestor) {
            return true;
        }
        above = ancestor.rsplit_once('/').map(|(parent, _)| parent);
    }
    let beneath = [path, "/"].concat();
    set.range(&*beneath..).next().is_some_and(|next| next.starts_with(&beneath))
}

/// Differences without renames in an order in which they can be told: what took the place of a
/// directory is told after the directory went.
fn in_sequence(differences: DifferenceStream) -> DifferenceStream {
    let is_pair = |first: &Difference, second: &Difference| {
        first.path == second.path
            && first.kind == DifferenceKind::Added
            && second.kind == DifferenceKind::Removed
    };
    let pairs = stream::try_unfold((differences, None), move |(mut rest, held)| async move {
        let first = match held {
            Some(first) => Some(first),
            None => rest.try_next().await?,
        };
        let Some(first) = first else { return Ok(None) };
        match rest.try_next().await? {
            Some(second) if is_pair(&first, &second) => Ok(Some((second, (rest, Some(first))))),
            second => Ok(Some((first, (rest, second)))),
        }
    });
    pairs.boxed()
}
