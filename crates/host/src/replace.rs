//! Files are written elsewhere, then renamed into place: a reader sees the old file or the new.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fchmod, linkat, openat, renameat, renameat_with,
    unlinkat, utimensat,
};
use rustix::io::Errno;

use crate::owner::Owner;
use crate::read::write_all_at;
use crate::staging::{Staging, random_name};
use crate::{Dir, Error, Kind, Mounts, OpenedFile, Result, Spot, Stat, Time, clock, sole, stat};

/// A file that nobody sees yet. Dropped before it is placed, it never was.
#[derive(Debug)]
pub struct Unfinished {
    file: OwnedFd,
    place: Place,
    len: u64,
    /// Whether it surely has the owner and mode still that it was made with.
    is_as_made: bool,
}

/// What may be at the spot where a file is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Nothing.
    Refuse,
    /// A file or link, which is replaced.
    Replace,
}

/// How a file was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// By a rename, all at once.
    Whole,
    /// By writing into the file that is there, since a mount pins it.
    InPlace,
}

#[derive(Debug)]
enum Place {
    Staged(Arc<Staging>, OsString),
    Beside(OwnedFd, OsString),
    /// In this directory's file system, without any name.
    Nameless(OwnedFd),
    Done,
}

impl Dir {
    /// Begins a file that is to be placed at `path`.
    pub fn begin(&self, path: &Path) -> Result<Unfinished> {
        if let (Some(staging), Mounts::Stay) = (self.lasting_staging(), self.mounts()) {
            match Unfinished::staged(staging) {
                // Somebody removed the place.
                Err(Error::Os(Errno::NOENT)) => {}
                outcome => return outcome,
            }
        }
        let nearest = self.nearest_dir(path)?;
        let mount = stat::of(&nearest)?.mount;
        match self.staging().filter(|staging| staging.mount() == mount) {
            Some(staging) => Unfinished::staged(staging),
            None => Unfinished::beside(nearest),
        }
    }

    /// Makes a file ready to be placed at a spot: its content is on the disk, its mode and owner
    /// are those of what it will replace, without setuid and setgid, or those of a new file.
    ///
    /// `there` is what the caller saw at the spot.
    pub fn ready(&self, file: &mut Unfinished, spot: &Spot, there: Option<&Stat>) -> Result<()> {
        dress(file, spot, there)?;
        rustix::fs::futimens(&file.file, &clock::modified_at(clock::precise_now()))?;
        self.sync_file(&file.file)
    }

    /// Places a ready file at a spot, and tells what is there now. A file that could not be placed
    /// is given back.
    pub fn place(
        &self,
        mut file: Unfinished,
        spot: &Spot,
        existing: Existing,
    ) -> Result<(Placed, Stat), (Error, Unfinished)> {
        let outcome = match self.rename_into_place(&mut file, spot, existing) {
            Err(Error::Os(Errno::BUSY)) => self.write_in_place(&file, spot),
            // A link led to another mount than the path that the file was begun for.
            Err(Error::Os(Errno::XDEV)) => self.place_across(&file, spot, existing),
            outcome => outcome.and_then(|()| Ok((Placed::Whole, file.stat()?))),
        };
        outcome.map_err(|err| (err, file))
    }

    /// Waits until the name at a spot is on the disk.
    pub fn settle(&self, spot: &Spot) -> Result<()> {
        self.sync_names(&spot.dir)
    }

    fn rename_into_place(
        &self,
        file: &mut Unfinished,
        spot: &Spot,
        existing: Existing,
    ) -> Result<()> {
        if existing == Existing::Replace && self.is_of_container() && spot.is_mount_point()? {
            return Err(Errno::BUSY.into());
        }
        if let Place::Nameless(dir) = &file.place {
            match self.name_nameless(file, &spot.dir, &spot.name) {
                Ok(()) => {
                    file.place = Place::Done;
                    return Ok(());
                }
                Err(Error::Os(Errno::EXIST)) if existing == Existing::Replace => {}
                Err(err) => return Err(err),
            }
            let (dir, name) = (dir.try_clone().map_err(|_| Errno::MFILE)?, random_name()?);
            self.name_nameless(file, &dir, &name)?;
            file.place = Place::Beside(dir, name);
        }
        let (dir, name) = match &file.place {
            Place::Staged(staging, name) => (staging.dir(), name),
            Place::Beside(dir, name) => (dir, name),
            Place::Nameless(_) | Place::Done => return Err(Error::Os(Errno::INVAL)),
        };
        match existing {
            Existing::Replace => renameat(dir, &**name, &spot.dir, &*spot.name)?,
            Existing::Refuse => rename_new(dir, name, &spot.dir, &spot.name)?,
        }
        file.place = Place::Done;
        Ok(())
    }

    fn place_across(
        &self,
        file: &Unfinished,
        spot: &Spot,
        existing: Existing,
    ) -> Result<(Placed, Stat)> {
        let dir = spot.dir.try_clone().map_err(|_| Errno::MFILE)?;
        let mut near = Unfinished::beside(dir)?;
        near.insert_from(file, 0)?;
        self.ready(&mut near, spot, spot.stat()?.as_ref())?;
        self.rename_into_place(&mut near, spot, existing)?;
        Ok((Placed::Whole, near.stat()?))
    }

    fn name_nameless(&self, file: &Unfinished, dir: &OwnedFd, name: &OsString) -> Result<()> {
        let number = file.file.as_raw_fd().to_string();
        let descriptors = self.beneath().own_descriptors();
        Ok(linkat(descriptors, number, dir, &**name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// A file that is itself a mount point, such as a container's `/etc/hosts`, cannot be renamed
    /// over.
    fn write_in_place(&self, file: &Unfinished, spot: &Spot) -> Result<(Placed, Stat)> {
        let (target, _) = self.open_spot(spot)?;
        target.set_len(0)?;
        crate::copy::bytes(&file.file, target.fd(), 0)?;
        self.sync_file(target.fd())?;
        Ok((Placed::InPlace, target.stat()?))
    }

    /// The innermost directory on the way to `path` that exists.
    pub(crate) fn nearest_dir(&self, path: &Path) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let mut dir = path.parent();
        while let Some(at) = dir {
            match self.open_toward(at, flags) {
                Err(Error::Os(Errno::NOENT | Errno::NOTDIR)) => dir = at.parent(),
                outcome => return outcome,
            }
        }
        self.open_toward(Path::new(""), flags)
    }
}

/// The mode of a new file.
const ORDINARY: u32 = 0o644;
const FRESH: OFlags = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::CLOEXEC);

impl Unfinished {
    fn staged(staging: &Arc<Staging>) -> Result<Self> {
        staging.tidy();
        let name = random_name()?;
        // Nobody else comes into the directory, so that it may have its mode at once.
        let file = openat(staging.dir(), &*name, FRESH, Mode::from_raw_mode(ORDINARY))?;
        let place = Place::Staged(Arc::clone(staging), name);
        Ok(Self { file, place, len: 0, is_as_made: true })
    }

    fn beside(dir: OwnedFd) -> Result<Self> {
        let nameless = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(&dir, ".", nameless, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Self { file, place: Place::Nameless(dir), len: 0, is_as_made: false }),
            // What file systems answer that cannot make a nameless file.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
                let name = random_name()?;
                let file = openat(&dir, &*name, FRESH, Mode::RUSR | Mode::WUSR)?;
                Ok(Self { file, place: Place::Beside(dir, name), len: 0, is_as_made: false })
            }
            // What ext4 answers in a directory that was just removed.
            Err(Errno::PERM) if stat::of(&dir)?.links == 0 => Err(Errno::NOENT.into()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// How many bytes it holds.
    pub fn size(&self) -> u64 {
        self.len
    }

    /// Writes all of `bytes` at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.insert(bytes, self.len)
    }

    /// Writes all of `bytes` at an offset; a gap reads as zeros.
    pub fn insert(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        write_all_at(&self.file, bytes, offset)?;
        self.len = self.len.max(offset + bytes.len() as u64);
        Ok(())
    }

    /// Takes over the whole content of an open file.
    pub fn copy_from(&mut self, source: &OpenedFile) -> Result<()> {
        self.len = crate::copy::bytes(source.fd(), &self.file, self.len)?;
        Ok(())
    }

    /// Takes over the whole content of another unfinished file at an offset; gives the offset
    /// behind it.
    pub fn insert_from(&mut self, source: &Self, offset: u64) -> Result<u64> {
        let end = crate::copy::bytes(&source.file, &self.file, offset)?;
        self.len = self.len.max(end);
        Ok(end)
    }

    /// Stamps it with a time of modification.
    pub fn set_modified(&self, time: Time) -> Result<()> {
        Ok(rustix::fs::futimens(&self.file, &clock::modified_at(time))?)
    }

    /// Gives it a mode, of which only 0777 counts.
    pub fn set_mode(&mut self, mode: u32) -> Result<()> {
        self.is_as_made = false;
        Ok(fchmod(&self.file, Mode::from_raw_mode(mode & 0o777))?)
    }

    /// The file itself, open for reading and writing whatever becomes of its name.
    pub fn open(&self) -> Result<OpenedFile> {
        Ok(OpenedFile::of(self.file.try_clone().map_err(|_| Errno::MFILE)?))
    }

    /// Puts its content at the end of an open file, which begins at `offset`.
    pub fn copy_to(&self, target: &OpenedFile, offset: u64) -> Result<u64> {
        crate::copy::bytes(&self.file, target.fd(), offset)
    }

    fn stat(&self) -> Result<Stat> {
        stat::of(&self.file)
    }

    /// Its state, of which only owner and mode count. All that are staged are made alike, so that one
    /// look tells of all of them.
    fn looks(&self) -> Result<Stat> {
        match &self.place {
            Place::Staged(staging, _) if self.is_as_made => staging.looks_of_new(&self.file),
            Place::Staged(..) | Place::Beside(..) | Place::Nameless(_) | Place::Done => self.stat(),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        match &self.place {
            Place::Staged(staging, name) => drop(staging.discard(name)),
            Place::Beside(dir, name) => drop(unlinkat(dir, &**name, AtFlags::empty())),
            Place::Nameless(_) | Place::Done => {}
        }
    }
}

/// Renames where nothing may be replaced.
pub(crate) fn rename_new(
    from: &OwnedFd,
    name: &OsString,
    to: &OwnedFd,
    new: &OsString,
) -> Result<()> {
    match renameat_with(from, &**name, to, &**new, RenameFlags::NOREPLACE) {
        // Some network file systems do not know the flag; a second name refuses just as well.
        Err(Errno::INVAL) if stat::of_name(from, &**name)?.kind != Kind::Directory => {
            linkat(from, &**name, to, &**new, AtFlags::empty())?;
            Ok(unlinkat(from, &**name, AtFlags::empty())?)
        }
        outcome => Ok(outcome?),
    }
}

/// Gives a new file the mode and owner that it should have at its spot. Most have them from the
/// beginning, and to look costs less than a change that the file system keeps a journal of.
fn dress(file: &mut Unfinished, at: &Spot, there: Option<&Stat>) -> Result<()> {
    let replaced = there.filter(|there| there.kind == Kind::File);
    let owner = match replaced {
        Some(there) => Owner::of(there),
        None => Owner::of_new_in(at.surroundings()?),
    };
    let made = file.looks()?;
    let is_given = !owner.is_of(&made);
    if is_given {
        file.is_as_made = false;
        owner.give(&file.file)?;
    }
    let mode = replaced.map_or(ORDINARY, |there| there.mode & 0o777);
    // To give a file away may take some of its mode.
    if is_given || mode != made.mode {
        file.is_as_made = false;
        fchmod(&file.file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Gives an open file a mode and a time of modification.
pub(crate) fn set_mode_and_time(file: &OwnedFd, mode: u32, modified: Time) -> Result<()> {
    fchmod(file, Mode::from_raw_mode(mode & 0o777))?;
    set_time(file, modified)
}

/// Gives an open file a time of modification.
pub(crate) fn set_time(file: &OwnedFd, modified: Time) -> Result<()> {
    Ok(rustix::fs::futimens(file, &clock::modified_at(modified))?)
}

/// Gives a link that was just made a time of modification. Whatever else stands there by now, such as
/// another name of a file outside, keeps its own.
pub(crate) fn set_link_time(dir: &OwnedFd, name: &OsStr, modified: Time) -> Result<()> {
    let dir = dir.try_clone().map_err(|_| Errno::MFILE)?;
    let spot = Spot::in_dir(dir, name.into());
    let looked_at = spot.look()?;
    if stat::of(&looked_at)?.kind != Kind::Symlink {
        return Ok(());
    }
    match sole::check(&spot, &looked_at) {
        Err(Error::Shared) => return Ok(()),
        outcome => outcome?,
    }
    // The link itself: where a descriptor leads, nothing more is followed.
    let own = format!("/proc/self/fd/{}", looked_at.as_raw_fd());
    Ok(utimensat(CWD, own, &clock::modified_at(modified), AtFlags::empty())?)
}
