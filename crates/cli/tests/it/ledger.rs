//! What one client asked for, in order, and how much of it was acknowledged. After a crash the
//! files must be as they were after some number of the attempts: at least the acknowledged ones.

use std::collections::BTreeMap;

/// Files by name, each with the version that it holds.
pub(crate) type State = BTreeMap<String, u64>;

/// One change.
#[derive(Clone, Debug)]
pub(crate) enum Attempt {
    /// A file is put in place.
    Write { name: String, version: u64, len: usize },
    /// A file is removed.
    Remove { name: String },
    /// A file is moved, onto another if there is one.
    Move { from: String, to: String },
    /// An archive is unpacked into a directory that is not there.
    Upload { dir: String, members: Vec<(String, u64, usize)> },
    /// A directory is moved, onto another if there is one.
    MoveTree { from: String, to: String },
    /// A directory is removed.
    RemoveTree { dir: String },
}

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    start: State,
    attempts: Vec<Attempt>,
    acknowledged: usize,
}

impl Ledger {
    /// A ledger of files that are already there.
    pub(crate) fn from(start: State) -> Self {
        Self { start, attempts: Vec::new(), acknowledged: 0 }
    }

    /// An attempt is about to be sent.
    pub(crate) fn begin(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
    }

    /// The server said that the last attempt succeeded.
    pub(crate) fn acknowledge(&mut self) {
        self.acknowledged = self.attempts.len();
    }

    /// How many attempts were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// The files as the client knows them, when nothing is under way.
    pub(crate) fn state(&self) -> State {
        self.state_after(self.acknowledged)
    }

    /// Checks that the files are as after at least all acknowledged attempts, none of them half done.
    pub(crate) fn explains_whole(&self, found: &State) -> Result<(), String> {
        let mut state = self.state();
        for attempt in &self.attempts[self.acknowledged..] {
            if *found == state {
                return Ok(());
            }
            attempt.apply(&mut state);
        }
        if *found == state { Ok(()) } else { Err(self.difference(self.acknowledged, found)) }
    }

    /// Checks that the files are as after at least `durable` of the attempts.
    pub(crate) fn explains(&self, durable: usize, found: &State) -> Result<(), String> {
        let mut state = self.state_after(durable);
        if *found == state {
            return Ok(());
        }
        for attempt in &self.attempts[durable..] {
            let before = state.clone();
            attempt.apply(&mut state);
            if *found == state || attempt.leaves_behind(&before, &state, found) {
                return Ok(());
            }
        }
        Err(self.difference(durable, found))
    }

    fn difference(&self, durable: usize, found: &State) -> String {
        let acknowledged = self.state_after(durable);
        let last = &self.attempts[durable.saturating_sub(3)..];
        format!("found {found:?}\nafter  {acknowledged:?}\nthe last attempts: {last:?}")
    }

    fn state_after(&self, attempts: usize) -> State {
        let mut state = self.start.clone();
        for attempt in &self.attempts[..attempts] {
            attempt.apply(&mut state);
        }
        state
    }
}

impl Attempt {
    fn apply(&self, state: &mut State) {
        match self {
            Self::Write { name, version, .. } => {
                state.insert(name.clone(), *version);
            }
            Self::Remove { name } => {
                state.remove(name);
            }
            Self::Move { from, to } => {
                let version = state.remove(from).expect("only files that are there are moved");
                state.insert(to.clone(), version);
            }
            Self::Upload { dir, members } => {
                let files =
                    members.iter().map(|(name, version, _)| (format!("{dir}/{name}"), *version));
                state.extend(files);
            }
            Self::MoveTree { from, to } => {
                let moved = take_tree(state, from);
                take_tree(state, to);
                put_tree(state, to, moved);
            }
            Self::RemoveTree { dir } => {
                take_tree(state, dir);
            }
        }
    }

    /// Whether a crash in the middle of the attempt may leave this. One file is atomic; of a tree,
    /// files may be missing that come or go, and a replaced tree may lie at its replacement's
    /// former place.
    fn leaves_behind(&self, before: &State, after: &State, found: &State) -> bool {
        match self {
            Self::Write { .. } | Self::Remove { .. } | Self::Move { .. } => false,
            Self::Upload { .. } | Self::RemoveTree { .. } => {
                let mut names = before.keys().chain(after.keys()).chain(found.keys());
                names.all(|name| {
                    let is = found.get(name);
                    is == before.get(name) || is == after.get(name)
                })
            }
            Self::MoveTree { from, to } => {
                let mut swapped = before.clone();
                let (moved, displaced) =
                    (take_tree(&mut swapped, from), take_tree(&mut swapped, to));
                put_tree(&mut swapped, to, moved);
                // What was displaced is removed file by file.
                let mut rest = found.clone();
                let left = take_tree(&mut rest, from);
                let expected_rest = {
                    let mut state = swapped.clone();
                    take_tree(&mut state, from);
                    state
                };
                rest == expected_rest
                    && left.iter().all(|(name, version)| displaced.get(name) == Some(version))
            }
        }
    }
}

/// Takes a directory out, its files by their names beneath it.
fn take_tree(state: &mut State, dir: &str) -> State {
    let prefix = format!("{dir}/");
    let names: Vec<_> = state.keys().filter(|name| name.starts_with(&prefix)).cloned().collect();
    let take = |name: String| (name[prefix.len()..].to_owned(), state.remove(&name).unwrap());
    names.into_iter().map(take).collect()
}

fn put_tree(state: &mut State, dir: &str, files: State) {
    state.extend(files.into_iter().map(|(name, version)| (format!("{dir}/{name}"), version)));
}
