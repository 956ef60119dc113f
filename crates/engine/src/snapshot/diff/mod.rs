//! What differs between two states of a tree, told in the order of the paths.
//!
//! - `walk`: two trees side by side, only where they differ
//! - `renames`: which of what went is the same as something that came
//! - `same`: when two nodes are the same

mod renames;
mod same;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use self::renames::{Renames, Search};
use self::walk::{Found, Walk};
use super::{Difference, DifferenceKind, DifferenceStream};
use crate::tree::{Need, Node, Source};
use crate::virtual_fs::{State, Trunk, entry};
use crate::{Error, Result, SandboxPath};

/// How many differences are told, or gathered, at a time: about as many as the pages hold that are
/// fetched at once.
const AT_ONCE: usize = 1024;
/// Renames are looked for as long as what differs takes no more than this in memory, which is some
/// 10,000 paths. Beyond that, what moved is told as removed and added.
const HELD: usize = 4 << 20;

/// What must happen to `from` to become `to`.
///
/// - Paths come in the order of the tree: a directory before what is beneath it, names by their
///   bytes. Of two lines for one path, which is of another kind now, that of a directory is last.
/// - What came or went is told with everything beneath it, path by path. What is of another kind
///   now went and came.
/// - A file or link is modified when its content, its mode or its time is another. A directory is
///   modified when its mode is; its time tells that names came or went, which those names tell.
/// - What went and is the same as something that came was renamed, with all that is beneath it:
///   one line, at the new place. It was there before any of the other differences happened.
///
/// Costs what differs: pages that both states share are not looked at.
pub(crate) fn diff(trunk: Arc<Trunk>, from: Arc<State>, to: Arc<State>) -> DifferenceStream {
    let (here, told) = (SandboxPath::root(), Told { moves: Moves::Together, gone: Gone::Whole });
    let walk = Walk::new(here, &from.root.tree, &to.root.tree);
    tell(Account::new(trunk, (from, to), walk, told))
}

/// The same beneath one directory, `from` and `to` being what it is in both states, for those who
/// know a directory that moved by its path only: what is beneath it is told as added. What is
/// beneath something that went is not told.
pub(crate) fn diff_beneath(
    trunk: Arc<Trunk>,
    states: (Arc<State>, Arc<State>),
    dir: &SandboxPath,
    (from, to): (&Node, &Node),
    moves: Moves,
) -> DifferenceStream {
    let walk = Walk::new(dir.clone(), from, to);
    tell(Account::new(trunk, states, walk, Told { moves, gone: Gone::Top }))
}

/// How what moved is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// As renamed.
    Together,
    /// As removed and added.
    Apart,
}

/// How a directory that went or moved is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    /// One that went with everything that was beneath it, one that moved as one.
    Whole,
    /// One that went as one, one that moved with everything beneath it.
    Top,
}

/// What is told, and how.
#[derive(Clone, Copy, Debug)]
struct Told {
    moves: Moves,
    gone: Gone,
}

fn tell(account: Account) -> DifferenceStream {
    let parts = stream::try_unfold(account, |mut account| async {
        let part = account.next().await?;
        Ok::<_, Error>((!part.is_empty()).then_some((part, account)))
    });
    parts.map_ok(|part| stream::iter(part.into_iter().map(Ok))).try_flatten().boxed()
}

/// What was told of the differences, and what is still to be told.
struct Account {
    trunk: Arc<Trunk>,
    // Held so that nothing of either can be collected.
    _from: Arc<State>,
    to: Arc<State>,
    is_begun: bool,
    rest: Rest,
}

/// What is still to be told.
struct Rest {
    /// Gathered while it was not known what moved.
    held: VecDeque<Found>,
    walk: Walk,
    /// Within a directory that came or went.
    beneath: Option<Walk>,
    renames: Renames,
    gone: Gone,
}

impl Account {
    fn new(
        trunk: Arc<Trunk>,
        (from, to): (Arc<State>, Arc<State>),
        walk: Walk,
        told: Told,
    ) -> Self {
        let (held, renames) = (VecDeque::new(), Renames::default());
        let rest = Rest { held, walk, beneath: None, renames, gone: told.gone };
        Self { trunk, _from: from, to, is_begun: told.moves == Moves::Apart, rest }
    }

    /// The next few differences; none at the end.
    async fn next(&mut self) -> Result<Vec<Difference>> {
        if !self.is_begun {
            self.find_renames().await?;
            self.is_begun = true;
        }
        let (rest, mut part) = (&mut self.rest, Vec::new());
        let work = self.trunk.read(&self.to, |_, source| {
            while part.len() < AT_ONCE
                && let Some(found) = rest.next(source)?
            {
                part.extend(rest.tell(found));
            }
            Ok(())
        });
        work.await?;
        Ok(part)
    }

    /// Gathers what differs and finds what of it moved, unless it is too much.
    async fn find_renames(&mut self) -> Result<()> {
        let Rest { held, walk, renames, .. } = &mut self.rest;
        let mut room = HELD;
        loop {
            let goal = held.len() + AT_ONCE;
            let work = self.trunk.read(&self.to, |_, source| {
                while held.len() < goal
                    && let Some(found) = walk.next(source)?
                {
                    room = room.saturating_sub(found.weight());
                    held.push_back(found);
                }
                Ok(())
            });
            work.await?;
            if room == 0 {
                return Ok(());
            }
            if held.len() < goal {
                break;
            }
        }
        let mut search = Search::among(held.iter(), HELD);
        while !search.is_done() {
            self.trunk.read(&self.to, |_, source| Ok(search.go_on(AT_ONCE, source)?)).await?;
        }
        *renames = search.into_renames();
        Ok(())
    }
}

impl Rest {
    /// The next thing that differs.
    fn next(&mut self, source: &dyn Source) -> Result<Option<Found>, Need> {
        if let Some(beneath) = &mut self.beneath {
            let next = beneath.next(source).inspect_err(|_| self.foresee(source));
            if let Some(found) = next? {
                return Ok(Some(found));
            }
            self.beneath = None;
        }
        match self.held.pop_front() {
            Some(found) => Ok(Some(found)),
            None => self.walk.next(source),
        }
    }

    /// Says what those that are held will need when they are told.
    fn foresee(&self, source: &dyn Source) {
        let stays = |found: &&Found| {
            !self.renames.is_source(&found.path) && self.renames.source_of(&found.path).is_none()
        };
        let next = self.held.iter().take(AT_ONCE).filter(stays);
        source.foresee(&mut next.filter_map(|found| found.ahead(source)).flatten());
    }

    /// What there is to say about it; nothing about what has moved away.
    fn tell(&mut self, found: Found) -> Option<Difference> {
        let kind = match (&found.before, &found.after) {
            (Some(_), None) if self.renames.is_source(&found.path) => return None,
            (Some(_), None) => DifferenceKind::Removed,
            (None, _) => match self.renames.source_of(&found.path) {
                Some((from, item)) => {
                    let kind = DifferenceKind::Renamed { from: from.clone() };
                    let before = Some(entry(from.clone(), &item.node));
                    if self.gone == Gone::Top {
                        self.enter(&found);
                    }
                    let after = found.after.map(|item| entry(found.path.clone(), &item.node));
                    return Some(Difference { path: found.path, kind, before, after });
                }
                None => DifferenceKind::Added,
            },
            (Some(_), Some(_)) => DifferenceKind::Modified,
        };
        self.enter(&found);
        let Found { path, before, after } = found;
        let before = before.map(|item| entry(path.clone(), &item.node));
        let after = after.map(|item| entry(path.clone(), &item.node));
        Some(Difference { path, kind, before, after })
    }

    /// Goes into a directory that came or went.
    fn enter(&mut self, found: &Found) {
        if self.gone == Gone::Top && found.after.is_none() {
            return;
        }
        match &mut self.beneath {
            Some(beneath) => beneath.enter(found),
            None => self.beneath = Walk::beneath(found),
        }
    }
}
