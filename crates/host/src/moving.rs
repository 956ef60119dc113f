//! Renames and removals.

use rustix::fs::{AtFlags, OFlags, RenameFlags, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use crate::owner::Owner;
use crate::replace::rename_new;
use crate::scratch::Scratch;
use crate::{Dir, Error, Existing, Kind, Result, Spot, Stat, Tally, copy, walk};

/// How often a move is tried again when the destination comes and goes meanwhile.
const TRIES: usize = 16;

/// What a change left behind in the staging directory because it could not be removed. The change
/// itself is done; the next start sweeps.
pub type Leftover = Option<Error>;

impl Dir {
    /// Removes a file, a link itself, or an empty directory.
    pub fn remove_one(&self, spot: &Spot) -> Result<()> {
        let there = spot.stat()?.ok_or(Errno::NOENT)?;
        self.refuse_mount_point(spot)?;
        let flags = match there.kind {
            Kind::Directory => AtFlags::REMOVEDIR,
            Kind::File | Kind::Symlink | Kind::Special => AtFlags::empty(),
        };
        unlinkat(&spot.dir, &*spot.name, flags)?;
        self.sync_names(&spot.dir)
    }

    /// Removes whatever is there. A tree first leaves all at once, then its parts are removed.
    pub fn remove_all(&self, spot: &Spot) -> Result<Leftover> {
        match self.remove_one(spot) {
            Err(Error::Os(Errno::NOTEMPTY | Errno::EXIST)) => {}
            outcome => return outcome.map(|()| None),
        }
        self.discard(spot)
    }

    /// Moves what is at `from` to `to`.
    pub fn rename(&self, from: &Spot, to: &Spot, existing: Existing) -> Result<Leftover> {
        let source = from.stat()?.ok_or(Errno::NOENT)?;
        if from.is_same(to)? {
            return Ok(None);
        }
        self.refuse_mount_point(from)?;
        self.refuse_mount_point(to)?;
        let outcome = match existing {
            Existing::Refuse => rename_new(&from.dir, &from.name, &to.dir, &to.name).map(|()| None),
            Existing::Replace => self.rename_over(from, to, &source),
        };
        let leftover = match outcome {
            Err(Error::Os(Errno::XDEV)) => self.rename_across(from, to, existing)?,
            Err(Error::Os(Errno::INVAL)) => return Err(Error::IntoItself),
            outcome => outcome?,
        };
        self.sync_names(&to.dir)?;
        self.sync_names(&from.dir)?;
        Ok(leftover)
    }

    /// Copies what is at `from` to a scratch spot from which it can be renamed to `to`.
    pub fn copy_to_scratch(&self, from: &Spot, to: &Spot) -> Result<(Scratch, Tally)> {
        self.copy_to_scratch_while(from, to, &|| true)
    }

    /// The same, as long as the copy is wanted.
    pub fn copy_to_scratch_while(
        &self,
        from: &Spot,
        to: &Spot,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(Scratch, Tally)> {
        let scratch = self.scratch(&to.dir)?;
        let spot = scratch.spot();
        let open =
            |looked_at: &_| self.reopen(looked_at, OFlags::RDONLY).map(|(file, _)| file.into_fd());
        let owner = Owner::of_new_in(to.surroundings()?);
        let (source, copy) = ((&from.dir, &*from.name), (&spot.dir, &*spot.name));
        let tally = copy::tree(&open, is_wanted, owner, source, copy)?;
        self.sync_tree(spot, &tally)?;
        Ok((scratch, tally))
    }

    /// How much lies at a spot and beneath it.
    pub fn tally_at(&self, spot: &Spot) -> Result<Tally> {
        match spot.stat()? {
            None => Ok(Tally::default()),
            Some(there) if there.kind == Kind::Directory => {
                walk::tally(&walk::child(&spot.dir, &spot.name)?)
            }
            Some(there) => {
                let bytes = if there.kind == Kind::File { there.size } else { 0 };
                Ok(Tally { bytes, files: 1, directories: 0 })
            }
        }
    }

    /// What the kernel answers itself where the mount is one of ours.
    fn refuse_mount_point(&self, spot: &Spot) -> Result<()> {
        let is_mount_point = self.is_of_container() && spot.is_mount_point()?;
        if is_mount_point { Err(Errno::BUSY.into()) } else { Ok(()) }
    }

    fn rename_over(&self, from: &Spot, to: &Spot, source: &Stat) -> Result<Leftover> {
        for _ in 0..TRIES {
            let step = match to.stat()? {
                None => rename_new(&from.dir, &from.name, &to.dir, &to.name),
                // POSIX renames one name of a file onto another by doing nothing at all.
                Some(there) if there.is_same_file(source) && is_shared(source) => {
                    return Ok(unlinkat(&from.dir, &*from.name, AtFlags::empty()).map(|()| None)?);
                }
                Some(there) if ![there.kind, source.kind].contains(&Kind::Directory) => {
                    Ok(renameat(&from.dir, &*from.name, &to.dir, &*to.name)?)
                }
                Some(_) => match self.exchange(from, to) {
                    Ok(leftover) => return Ok(leftover),
                    Err(err) => Err(err),
                },
            };
            match step {
                Ok(()) => return Ok(None),
                // The destination came, went or changed between the look and the rename.
                Err(Error::Os(Errno::EXIST | Errno::NOENT | Errno::ISDIR | Errno::NOTDIR)) => {
                    from.stat()?.ok_or(Errno::NOENT)?;
                }
                Err(err) => return Err(err),
            }
        }
        Err(Error::Busy)
    }

    /// Both change places in one step, then what was at the destination goes: nothing is removed
    /// before the new one stands.
    fn exchange(&self, from: &Spot, to: &Spot) -> Result<Leftover> {
        if self.mount_table().is_mount_inside(&to.dir, &to.name)? {
            return Err(Error::MountInside);
        }
        let flags = RenameFlags::EXCHANGE;
        renameat_with(&from.dir, &*from.name, &to.dir, &*to.name, flags)?;
        self.sync_names(&to.dir)?;
        self.discard(from)
    }

    /// Takes a tree out of sight, then apart.
    fn discard(&self, spot: &Spot) -> Result<Leftover> {
        if self.mount_table().is_mount_inside(&spot.dir, &spot.name)? {
            return Err(Error::MountInside);
        }
        let scratch = self.scratch(&spot.dir)?;
        let out = scratch.spot();
        match rename_new(&spot.dir, &spot.name, &out.dir, &out.name) {
            // An overlay cannot rename what its lower layers hold; it is taken apart where it is.
            Err(Error::Os(Errno::XDEV)) => walk::remove(&spot.dir, &spot.name)?,
            outcome => outcome?,
        }
        self.sync_names(&spot.dir)?;
        Ok(scratch.clear().err())
    }

    /// A move between mounts: a copy takes the place, then the source goes.
    fn rename_across(&self, from: &Spot, to: &Spot, existing: Existing) -> Result<Leftover> {
        let (scratch, _) = self.copy_to_scratch(from, to)?;
        let source = scratch.spot().stat()?.ok_or(Errno::NOENT)?;
        let spot = scratch.spot();
        match existing {
            Existing::Refuse => rename_new(&spot.dir, &spot.name, &to.dir, &to.name)?,
            Existing::Replace => drop(self.rename_over(spot, to, &source)?),
        }
        self.sync_names(&to.dir)?;
        self.remove_all(from)
    }

    fn sync_tree(&self, spot: &Spot, tally: &Tally) -> Result<()> {
        let there = spot.stat()?.ok_or(Errno::NOENT)?;
        match there.kind {
            Kind::File if tally.directories == 0 => {
                let (file, _) = self.reopen(&spot.look()?, OFlags::RDONLY)?;
                self.sync(&file)
            }
            Kind::File | Kind::Directory | Kind::Symlink | Kind::Special => {
                self.sync_all(&spot.dir)
            }
        }
    }
}

/// Whether a file has several names, so that one of them can go without the file.
fn is_shared(stat: &Stat) -> bool {
    stat.links > 1 && stat.kind != Kind::Directory
}
