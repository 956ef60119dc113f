//! Directories are watched, and what is in them is found.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Instant;

use host::{Errno, Kind};

use super::super::lane::Added;
use super::super::nodes::{NodeId, Watched};
use super::super::places::Places;
use super::{ASTRAY, Scene, Stage, Trouble, Voice};
use crate::host_fs::host_path;
use crate::host_fs::meaning::{kind, meaning};
use crate::path::Children;
use crate::watch::gone;
use crate::{Error, ErrorKind, Loss, NoticeKind, name};

impl Scene {
    /// Watches a directory and, if that is wished, all beneath it. Each is watched before it is
    /// looked at, so that nothing falls in between.
    pub(super) fn grow(
        &mut self,
        stage: &Stage<'_>,
        dir: NodeId,
        voice: Voice,
    ) -> Result<(), Trouble> {
        let mut todo = vec![dir];
        while let Some(dir) = todo.pop() {
            if self.nodes.holds(dir)
                && let Some(listing) = self.open(stage, dir)?
                && self.attach(stage, dir, &listing, voice)?
                && (self.recursive || voice == Voice::Aloud)
            {
                self.find(stage, dir, &listing, voice, &mut todo)?;
            }
        }
        Ok(())
    }

    /// Opens a directory; none if it cannot be watched, or is not there at the moment.
    fn open(&mut self, stage: &Stage<'_>, dir: NodeId) -> Result<Option<host::Listing>, Trouble> {
        let top = host_path(&self.dir);
        let is_top = dir == self.nodes.top();
        let err = match stage.root.open_to_watch(&top, &self.nodes.path(dir)) {
            Ok(listing) => return Ok(Some(listing)),
            Err(err) => err,
        };
        match err {
            host::Error::Busy | host::Error::Os(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
                Err(Trouble::Lost(Loss::Confused))
            }
            host::Error::Os(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !is_top => {
                self.stray(dir)?;
                Ok(None)
            }
            // What we may not read, or what is mounted there, is not ours to tell.
            host::Error::Os(Errno::ACCESS | Errno::PERM | Errno::XDEV) if !is_top => Ok(None),
            // The way to the watched directory has changed.
            host::Error::Os(_)
            | host::Error::Outside
            | host::Error::Special
            | host::Error::Locked
            | host::Error::Reserved
            | host::Error::Unavailable
            | host::Error::OverDirectory
            | host::Error::OverFile
            | host::Error::Shared
            | host::Error::IntoItself
            | host::Error::MountInside
            | host::Error::NoStaging
            | host::Error::Unfinished => Err(self.over(meaning(err))),
        }
    }

    /// Why a directory whose opening failed is watched no more.
    pub(super) fn over(&self, err: Error) -> Trouble {
        let is_gone = matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let err = if is_gone && self.is_standing { gone(&self.dir) } else { err.on(&self.dir) };
        Trouble::Over(err)
    }

    /// Watches an open directory; whether that is new.
    fn attach(
        &mut self,
        stage: &Stage<'_>,
        dir: NodeId,
        listing: &host::Listing,
        voice: Voice,
    ) -> Result<bool, Trouble> {
        let stat = listing.own_stat().map_err(|err| Trouble::Over(meaning(err)))?;
        let identity = (stat.device, stat.inode);
        match self.nodes.identity(dir) {
            Some(known) if known == identity => {
                self.astray.remove(&dir);
                return Ok(false);
            }
            // Another one has the name now. Where ours went will be told, and that this one came.
            Some(_) => {
                self.stray(dir)?;
                return Ok(false);
            }
            None => {}
        }
        let place = Places::take(stage.places).map_err(Trouble::Over)?;
        let watch = match stage.lane.add(listing, stage.post, dir) {
            Ok(Added::Watched(watch)) => watch,
            // It is known under another path, from which it moved: that will be told, and where
            // the one went that was here.
            Ok(Added::Elsewhere(..)) if voice == Voice::Aloud => {
                self.stray(dir)?;
                return Ok(false);
            }
            Ok(Added::Elsewhere(watch, known)) => {
                self.forget(stage, known);
                if !self.nodes.holds(dir) {
                    return Err(Trouble::Lost(Loss::Confused));
                }
                match stage.lane.add(listing, stage.post, dir) {
                    Ok(Added::Watched(again)) => again,
                    Ok(Added::Elsewhere(..)) | Err(_) => watch,
                }
            }
            Err(host::Error::Os(Errno::ACCESS)) => return Ok(false),
            Err(host::Error::Os(Errno::NOSPC)) => return Err(Trouble::Over(no_watch())),
            Err(err) => return Err(Trouble::Over(meaning(err))),
        };
        self.nodes.set_watch(dir, Some(Watched { watch, identity, _place: place }));
        self.astray.remove(&dir);
        Ok(true)
    }

    /// Leaves a directory for later. What is not found within some time will not be: then
    /// something else was taken for it.
    fn stray(&mut self, dir: NodeId) -> Result<(), Trouble> {
        let since = self.astray.entry(dir).or_insert_with(Instant::now);
        if since.elapsed() > ASTRAY { Err(Trouble::Lost(Loss::Confused)) } else { Ok(()) }
    }

    /// Finds what is in a directory.
    fn find(
        &mut self,
        stage: &Stage<'_>,
        dir: NodeId,
        listing: &host::Listing,
        voice: Voice,
        todo: &mut Vec<NodeId>,
    ) -> Result<(), Trouble> {
        let mut paths = Children::of(&self.path(dir));
        let found = listing.each(&mut |found, is| {
            if voice == Voice::Aloud {
                let path = paths.named(&name::to_text(found.as_bytes()));
                self.tell(stage, NoticeKind::Created { path, entry: Some(kind(is)) });
            }
            if self.recursive && is == Kind::Directory {
                let known = self.nodes.child(dir, found);
                todo.extend(known.or_else(|| self.nodes.add(dir, found)));
            }
        });
        found.map_err(|err| Trouble::Over(meaning(err)))
    }

    /// Forgets a directory and all beneath it.
    pub(super) fn forget(&mut self, stage: &Stage<'_>, dir: NodeId) {
        let watches = self.nodes.remove(dir);
        stage.lane.remove(stage.post.as_ptr(), watches);
    }

    /// Forgets the directory of that name, if there is one.
    pub(super) fn forget_child(&mut self, stage: &Stage<'_>, dir: NodeId, name: &OsStr) {
        if let Some(child) = self.nodes.child(dir, name) {
            self.forget(stage, child);
        }
    }
}

/// The kernel watches as many directories as it may.
fn no_watch() -> Error {
    let message = "the machine watches no more directories: see fs.inotify.max_user_watches";
    Error::new(ErrorKind::LimitExceeded, message)
}
