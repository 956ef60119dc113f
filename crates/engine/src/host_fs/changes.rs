//! Directories, links, removals, moves and copies.

use super::Tree;
use super::budget::whole;
use super::meaning::{Meaning as _, entry, host_path, host_time, meaning};
use super::write::check_expected;
use crate::blocking::Waiting;
use crate::{
    Depth, Entry, Error, ErrorKind, If, Links, Made, MetadataChange, Parents, Result, SandboxPath,
    Target, name,
};

impl Tree {
    pub(super) fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let existing = |err: Error| match (parents, self.stat(dir, Links::Follow)) {
            (Parents::Create, Ok(entry)) if entry.kind == crate::EntryKind::Directory => {
                Ok(Made { entry, created: false })
            }
            _ => Err(err),
        };
        if dir.is_root() {
            return existing(meaning(host::Errno::EXIST.into()));
        }
        let spot = self.spot(dir, Links::Keep, parents)?;
        if spot.stat().meaning()?.is_some() {
            return existing(meaning(host::Errno::EXIST.into()));
        }
        let taken = self.take(0, whole(1 + spot.made() as u64))?;
        match self.dir.make_dir(&spot).meaning() {
            Err(err) if err.kind() == ErrorKind::AlreadyExists => return existing(err),
            outcome => outcome?,
        }
        taken.keep();
        let stat = spot.stat().meaning()?.ok_or_else(gone)?;
        spot.keep_parents();
        Ok(Made { entry: entry(dir.clone(), &stat), created: true })
    }

    pub(super) fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let target = name::to_bytes(target);
        if target.is_empty() || target.len() > 4095 || target.contains(&0) {
            let message = "a link's target is 1 to 4,095 bytes without NUL";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        if link.is_root() {
            return Err(meaning(host::Errno::EXIST.into()));
        }
        let spot = self.spot(link, Links::Keep, Parents::Create)?;
        let taken = self.take(0, whole(1 + spot.made() as u64))?;
        self.dir.symlink(&spot, std::os::unix::ffi::OsStrExt::from_bytes(&target[..])).meaning()?;
        taken.keep();
        let stat = spot.stat().meaning()?.ok_or_else(gone)?;
        spot.keep_parents();
        Ok(entry(link.clone(), &stat))
    }

    pub(super) fn read_link(&self, link: &SandboxPath) -> Result<String> {
        let entry = self.stat(link, Links::Keep)?;
        if entry.kind != crate::EntryKind::Symlink {
            return Err(Error::new(ErrorKind::InvalidArgument, "path is not a symbolic link"));
        }
        let target = self.dir.read_link(&host_path(link)).meaning()?;
        Ok(name::to_text(target.as_encoded_bytes()).into_owned())
    }

    pub(super) fn remove(
        &self,
        path: &SandboxPath,
        depth: Depth,
        expected: &If,
        waiting: &Waiting,
    ) -> Result<()> {
        refuse_root(path, "the root cannot be removed")?;
        let spot = self.spot(path, Links::Keep, Parents::Require)?;
        let guard = self.locks.hold(&spot)?;
        let there = spot.stat().meaning()?;
        check_expected(expected, there.as_ref())?;
        if there.is_none() {
            return Err(gone());
        }
        let change = self.take(0, 0)?;
        let weight = self.weigh(&spot)?;
        waiting.check()?;
        match depth {
            Depth::One => self.dir.remove_one(&spot).meaning()?,
            Depth::All => note(self.dir.remove_all(&spot).meaning()?),
        }
        self.take(-weight.0, -weight.1)?.keep();
        change.keep();
        drop(guard);
        Ok(())
    }

    pub(super) fn rename(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        if from == to {
            return self.stat(from, Links::Keep);
        }
        refuse_root(from, "the root cannot be moved")?;
        let (source, dest) = self.trip(from, to, target)?;
        let made = self.take(0, whole(dest.made() as u64))?;
        let guard = self.locks.hold_both(&source, &dest)?;
        self.move_spot(&source, &dest, to, target)?;
        drop(guard);
        made.keep();
        let stat = dest.stat().meaning()?.ok_or_else(gone)?;
        dest.keep_parents();
        Ok(entry(to.clone(), &stat))
    }

    pub(super) fn copy(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
        waiting: &Waiting,
    ) -> Result<Entry> {
        if from == to {
            return self.stat(from, Links::Keep);
        }
        refuse_root(from, "the root cannot be copied into itself")?;
        let (source, dest) = self.trip(from, to, target)?;
        if target == Target::New && dest.stat().meaning()?.is_some() {
            return Err(meaning(host::Errno::EXIST.into()).on(to));
        }
        let weight = self.weigh(&source)?;
        let taken = self.take(weight.0, weight.1 + whole(dest.made() as u64))?;
        let copied = self.dir.copy_to_scratch_while(&source, &dest, &|| waiting.is_so());
        // Nothing appears that nobody waits for.
        waiting.check()?;
        let (scratch, tally) = copied.meaning().map_err(|err| err.on(from))?;
        // It may have grown since it was weighed.
        let nodes = whole(tally.files + tally.directories);
        let grown = self.take(whole(tally.bytes) - weight.0, nodes - weight.1)?;
        let guard = self.locks.hold(&dest)?;
        self.move_spot(scratch.spot(), &dest, to, target)?;
        drop(guard);
        taken.keep();
        grown.keep();
        let stat = dest.stat().meaning()?.ok_or_else(gone)?;
        dest.keep_parents();
        Ok(entry(to.clone(), &stat))
    }

    /// The two ends of a move or copy that may be.
    fn trip(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<(host::Spot, host::Spot)> {
        refuse_inside(from, to, target)?;
        let source = self.spot(from, Links::Keep, Parents::Require).map_err(|err| err.on(from))?;
        source.stat().meaning()?.ok_or_else(|| gone().on(from))?;
        let dest = self.spot(to, Links::Keep, Parents::Create).map_err(|err| err.on(to))?;
        Ok((source, dest))
    }

    pub(super) fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        refuse_root(path, "the root's mode and time are the operator's")?;
        if change.modified.is_some_and(|time| time.nanoseconds > 999_999_999) {
            let message = "a time has less than 1,000,000,000 nanoseconds";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let spot = self.spot(path, Links::Follow, Parents::Require)?;
        let guard = self.locks.hold(&spot)?;
        let modified = change.modified.map(host_time);
        let stat = match self.dir.set_metadata(&spot, change.mode, modified) {
            Err(host::Error::Shared) => self.make_own(path, &spot, change)?.1,
            outcome => outcome.meaning()?,
        };
        drop(guard);
        Ok(entry(path.clone(), &stat))
    }

    /// Gives a file with several names a copy of its own at this one, since another name may lie
    /// outside. Gives the copy, and what is there now.
    pub(super) fn make_own(
        &self,
        path: &SandboxPath,
        spot: &host::Spot,
        change: MetadataChange,
    ) -> Result<(host::OpenedFile, host::Stat)> {
        let (opened, there) = self.dir.open_spot_to_read(spot).meaning()?;
        let mut copy = self.dir.begin(&host_path(path)).meaning()?;
        copy.copy_from(&opened).meaning()?;
        self.dir.ready(&mut copy, spot, Some(&there)).meaning()?;
        change.mode.map_or(Ok(()), |mode| copy.set_mode(mode)).meaning()?;
        copy.set_modified(change.modified.map_or(there.modified, host_time)).meaning()?;
        let own = copy.open().meaning()?;
        self.dir.sync(&own).meaning()?;
        let placed = self.dir.place(copy, spot, host::Existing::Replace);
        let (_, stat) = placed.map_err(|(err, _)| meaning(err))?;
        self.dir.settle(spot).meaning()?;
        Ok((own, stat))
    }

    /// Moves between spots and keeps the count of what the destination held.
    fn move_spot(
        &self,
        source: &host::Spot,
        dest: &host::Spot,
        to: &SandboxPath,
        target: Target,
    ) -> Result<()> {
        // The same name, reached by another way.
        if source.is_same(dest).meaning()? {
            return Ok(());
        }
        let there = dest.stat().meaning()?;
        let is_dir = |stat: Option<host::Stat>| stat.map(|s| s.kind == host::Kind::Directory);
        let kinds = (is_dir(source.stat().meaning()?), is_dir(there));
        let on_dest =
            |err: Error| if err.kind() == ErrorKind::AlreadyExists { err.on(to) } else { err };
        if target == Target::Merge && kinds == (Some(true), Some(true)) {
            let replaced = self.dir.merge(source, dest).meaning().map_err(|err| err.on(to))?;
            let nodes = replaced.files + replaced.directories;
            self.take(-whole(replaced.bytes), -whole(nodes))?.keep();
            return Ok(());
        }
        match kinds {
            (Some(true), Some(false)) if target == Target::Merge => {
                return Err(meaning(host::Error::OverFile).on(to));
            }
            (Some(false), Some(true)) if target == Target::Merge => {
                return Err(meaning(host::Error::OverDirectory).on(to));
            }
            _ => {}
        }
        let weight = self.weigh(dest)?;
        let existing = match target {
            Target::New => host::Existing::Refuse,
            Target::Replace | Target::Merge => host::Existing::Replace,
        };
        note(self.dir.rename(source, dest, existing).meaning().map_err(on_dest)?);
        if existing == host::Existing::Replace {
            self.take(-weight.0, -weight.1)?.keep();
        }
        Ok(())
    }
}

pub(crate) fn note(leftover: host::Leftover) {
    if let Some(err) = leftover {
        tracing::warn!(
            error = &err as &dyn std::error::Error,
            "a removed tree stays in staging until the next start"
        );
    }
}

fn gone() -> Error {
    meaning(host::Errno::NOENT.into())
}

fn refuse_root(path: &SandboxPath, message: &'static str) -> Result<()> {
    if path.is_root() { Err(Error::new(ErrorKind::InvalidArgument, message)) } else { Ok(()) }
}

/// Refuses to put a directory into itself, or to let it replace what holds it.
fn refuse_inside(from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<()> {
    if to.is_root() && target == Target::New {
        return Err(meaning(host::Errno::EXIST.into()).on(to));
    }
    if to.starts_with(from) || from.starts_with(to) && target != Target::New {
        return Err(meaning(host::Error::IntoItself).on(to));
    }
    Ok(())
}
