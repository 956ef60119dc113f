//! What the kernel told, one after the other.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use host::Happening;

use super::super::nodes::NodeId;
use super::super::post::Happened;
use super::{ASTRAY, Moving, Scene, Spot, Stage, Trouble, Voice};
use crate::host_fs::host_path;
use crate::host_fs::meaning::{kind, meaning};
use crate::{EntryKind, ErrorKind, Loss, NoticeKind};

/// How long the second half of a move may be on its way. The kernel tells both at once, but they
/// may be read in two pieces.
const MOVE: Duration = Duration::from_millis(20);

impl Scene {
    /// Tells what happened.
    pub(in super::super) fn follow(
        &mut self,
        stage: &Stage<'_>,
        events: Vec<(NodeId, Happened)>,
    ) -> Result<(), Trouble> {
        for (dir, happened) in events.into_iter() {
            // What is not known any more was told with the directory that it was in.
            if !self.nodes.holds(dir) {
                continue;
            }
            match happened {
                Happened::Ended(_) if dir == self.nodes.top() => {
                    return Err(Trouble::Lost(Loss::Confused));
                }
                Happened::Ended(watch) if self.nodes.watch(dir) == Some(watch) => {
                    self.nodes.set_watch(dir, None);
                }
                Happened::Ended(_) => {}
                Happened::Named { name, is_dir, happening } => {
                    self.on_name(stage, (dir, name), is_dir, happening)?;
                }
            }
        }
        self.settle(stage)?;
        self.check(stage)
    }

    fn on_name(
        &mut self,
        stage: &Stage<'_>,
        spot: Spot,
        is_dir: bool,
        happening: Happening,
    ) -> Result<(), Trouble> {
        // What is unfinished is nobody's business. What moves there is gone.
        let is_hidden = host::is_reserved(&spot.1);
        match happening {
            Happening::MovedTo(cookie) => {
                let from = self.moving.iter().position(|moving| moving.cookie == Some(cookie));
                let from = from.map(|at| self.moving.swap_remove(at));
                match from {
                    Some(moving) if is_hidden => self.move_out(stage, moving),
                    Some(Moving { from, is_dir, .. }) => self.moved(stage, from, spot, is_dir),
                    None if is_hidden => Ok(()),
                    None => {
                        // It replaced what had the name.
                        self.forget_child(stage, spot.0, &spot.1);
                        self.arrive(stage, spot, is_dir)
                    }
                }
            }
            _ if is_hidden => Ok(()),
            Happening::Created => self.arrive(stage, spot, is_dir),
            Happening::Removed => {
                self.depart(stage, &spot, is_dir);
                Ok(())
            }
            Happening::MovedFrom(cookie) => {
                let (cookie, since) = (Some(cookie), Instant::now());
                self.moving.push(Moving { cookie, from: spot, is_dir, since });
                Ok(())
            }
            Happening::Writing => {
                if !self.writing.note(spot.0, &spot.1) {
                    self.modify(stage, &spot, is_dir);
                }
                Ok(())
            }
            Happening::Changed => {
                self.writing.take(spot.0, &spot.1);
                self.modify(stage, &spot, is_dir);
                Ok(())
            }
        }
    }

    /// Something is there now.
    fn arrive(
        &mut self,
        stage: &Stage<'_>,
        (dir, name): Spot,
        is_dir: bool,
    ) -> Result<(), Trouble> {
        self.let_go(stage, dir, &name);
        let entry = self.look(stage, dir, &name, is_dir).entry();
        let path = self.path_of(dir, &name);
        self.tell(stage, NoticeKind::Created { path, entry });
        match is_dir && self.recursive {
            true => self.enter(stage, dir, &name),
            false => {
                self.forget_child(stage, dir, &name);
                Ok(())
            }
        }
    }

    /// Watches a directory that may be new.
    fn enter(&mut self, stage: &Stage<'_>, dir: NodeId, name: &OsStr) -> Result<(), Trouble> {
        match self.nodes.child(dir, name).or_else(|| self.nodes.add(dir, name)) {
            Some(child) => self.grow(stage, child, Voice::Aloud),
            None => Ok(()),
        }
    }

    /// Something is not there any more.
    fn depart(&mut self, stage: &Stage<'_>, (dir, name): &Spot, is_dir: bool) {
        // The directory may have gone while nobody knew where this one went.
        if !self.nodes.holds(*dir) {
            return;
        }
        self.writing.take(*dir, name);
        let path = self.path_of(*dir, name);
        let entry = is_dir.then_some(EntryKind::Directory);
        self.tell(stage, NoticeKind::Removed { path, entry });
        self.forget_child(stage, *dir, name);
    }

    fn modify(&mut self, stage: &Stage<'_>, (dir, name): &Spot, is_dir: bool) {
        let entry = match self.look(stage, *dir, name, is_dir) {
            Seen::There(entry) => Some(entry),
            // Gone, which is told, or without a name: files are often made before they get one.
            Seen::Missing => return,
            Seen::Unknown => None,
        };
        let path = self.path_of(*dir, name);
        self.tell(stage, NoticeKind::Modified { path, entry });
    }

    /// Something has another name now.
    fn moved(
        &mut self,
        stage: &Stage<'_>,
        from: Spot,
        to: Spot,
        is_dir: bool,
    ) -> Result<(), Trouble> {
        if !self.nodes.holds(from.0) {
            return self.arrive(stage, to, is_dir);
        }
        self.let_go(stage, to.0, &to.1);
        if self.writing.take(from.0, &from.1) {
            self.modify(stage, &from, is_dir);
        }
        self.writing.take(to.0, &to.1);
        let entry = self.look(stage, to.0, &to.1, is_dir).entry();
        let path = self.path_of(to.0, &to.1);
        self.tell(stage, NoticeKind::Renamed { from: self.path_of(from.0, &from.1), path, entry });
        self.forget_child(stage, to.0, &to.1);
        self.forget_child(stage, from.0, &from.1);
        // What is beneath it is told anew: whoever listed it a moment ago may have seen something
        // else under either name.
        if is_dir && self.recursive {
            self.enter(stage, to.0, &to.1)?;
        }
        self.check_left(stage, Moving { cookie: None, from, is_dir, since: Instant::now() })
    }

    /// Something moved to where nobody watches.
    fn move_out(&mut self, stage: &Stage<'_>, moving: Moving) -> Result<(), Trouble> {
        if moving.cookie.is_some() {
            self.depart(stage, &moving.from, moving.is_dir);
        }
        self.check_left(stage, Moving { cookie: None, ..moving })
    }

    /// Looks at a name from which something moved: the two may have changed places, which the
    /// kernel tells as two moves, of which one may have happened before anybody watched.
    fn check_left(&mut self, stage: &Stage<'_>, moving: Moving) -> Result<(), Trouble> {
        let (dir, name) = &moving.from;
        if !self.nodes.holds(*dir) {
            return Ok(());
        }
        match self.look(stage, *dir, name, false) {
            Seen::Missing => Ok(()),
            Seen::There(found) => self.arrive(stage, moving.from, found == EntryKind::Directory),
            // Where its directory went will be told.
            Seen::Unknown if moving.since.elapsed() < ASTRAY => {
                self.moving.push(moving);
                Ok(())
            }
            Seen::Unknown => Err(Trouble::Lost(Loss::Confused)),
        }
    }

    /// What went from a name and did not arrive anywhere, before something else has the name.
    fn let_go(&mut self, stage: &Stage<'_>, dir: NodeId, name: &OsStr) {
        let is_meant = |moving: &Moving| moving.from.0 == dir && moving.from.1 == name;
        while let Some(at) = self.moving.iter().position(is_meant) {
            let Moving { cookie, from, is_dir, .. } = self.moving.swap_remove(at);
            // What moved within is told already.
            if cookie.is_some() {
                self.depart(stage, &from, is_dir);
            }
        }
    }

    /// Tells what waited long enough.
    fn settle(&mut self, stage: &Stage<'_>) -> Result<(), Trouble> {
        let now = Instant::now();
        let is_over = |moving: &Moving| now.duration_since(moving.since) > MOVE;
        let over: Vec<_> = self.moving.extract_if(.., |moving| is_over(moving)).collect();
        over.into_iter().try_for_each(|moving| self.move_out(stage, moving))?;
        for spot in self.writing.due() {
            if self.nodes.holds(spot.0) {
                self.modify(stage, &spot, false);
            }
        }
        self.astray.retain(|dir, _| self.nodes.holds(*dir));
        let astray: Vec<_> = self.astray.keys().copied().collect();
        astray.into_iter().try_for_each(|dir| self.grow(stage, dir, Voice::Aloud))
    }

    /// Makes sure that the path still leads to the directory that is watched: one above it may
    /// have moved, which nobody tells.
    fn check(&mut self, stage: &Stage<'_>) -> Result<(), Trouble> {
        let known = self.nodes.identity(self.nodes.top());
        match stage.root.stat(&host_path(&self.dir)) {
            Ok(stat) if Some((stat.device, stat.inode)) == known => Ok(()),
            Ok(stat) if stat.kind == host::Kind::Directory => Err(Trouble::Lost(Loss::Confused)),
            Ok(_) => Err(self.over(meaning(host::Errno::NOTDIR.into()))),
            Err(host::Error::Busy) => Ok(()),
            Err(err) => Err(self.over(meaning(err))),
        }
        .inspect_err(|trouble| {
            if let Trouble::Over(err) = trouble
                && err.kind() == ErrorKind::NotFound
            {
                let (path, entry) = (self.dir.clone(), Some(EntryKind::Directory));
                self.told.push(NoticeKind::Removed { path, entry });
            }
        })
    }

    /// Looks what a name stands for.
    fn look(&self, stage: &Stage<'_>, dir: NodeId, name: &OsStr, is_dir: bool) -> Seen {
        if is_dir {
            return Seen::There(EntryKind::Directory);
        }
        let top = host_path(&self.dir);
        let listing = stage.root.open_to_watch(&top, &self.nodes.path(dir)).ok();
        // Another directory may have the path by now.
        let identity = |stat: host::Stat| (stat.device, stat.inode);
        let is_meant = |listing: &host::Listing| {
            listing.own_stat().ok().map(identity) == self.nodes.identity(dir)
        };
        match listing.filter(is_meant).map(|listing| listing.stat(name)) {
            Some(Ok(Some(stat))) => Seen::There(kind(stat.kind)),
            Some(Ok(None)) => Seen::Missing,
            Some(Err(_)) | None => Seen::Unknown,
        }
    }
}

/// What a look at a name shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    There(EntryKind),
    /// Nothing has the name any more.
    Missing,
    /// The directory is not where it was.
    Unknown,
}

impl Seen {
    fn entry(self) -> Option<EntryKind> {
        match self {
            Self::There(entry) => Some(entry),
            Self::Missing | Self::Unknown => None,
        }
    }
}
