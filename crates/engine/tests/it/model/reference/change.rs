//! Making, removing and describing.

use sandkeep_engine::{Depth, ErrorKind, MetadataChange, Parents};

use super::{Kind, Outcome, Place, Reference, Thing};

/// What a caller believes; the version is one of the reference's.
#[derive(Clone, Debug)]
pub(crate) enum Belief {
    Nothing,
    Exists,
    Missing,
    Matches(Option<u64>),
    Differs(Option<u64>),
}

impl Reference {
    /// Holds that something is as the caller believes.
    pub(crate) fn check(&self, belief: &Belief, thing: Option<u64>) -> Outcome<()> {
        let version = thing.map(|number| self.things[&number].version);
        let right = match belief {
            Belief::Nothing => true,
            Belief::Exists => version.is_some(),
            Belief::Missing => version.is_none(),
            Belief::Matches(believed) => version.is_some() && version == *believed,
            Belief::Differs(believed) => version.is_none() || version != *believed,
        };
        if right { Ok(()) } else { Err(ErrorKind::PreconditionFailed) }
    }

    /// Puts something at a place, and makes the directories on the way to it.
    pub(crate) fn put(&mut self, place: &Place, thing: u64) {
        let names: Vec<&str> = place.path.split('/').skip(1).collect();
        for end in (names.len() + 1).saturating_sub(place.missing.max(1))..names.len() {
            let dir = self.make(Kind::Directory);
            self.paths.insert(format!("/{}", names[..end].join("/")), dir);
        }
        self.paths.insert(place.path.clone(), thing);
    }

    pub(crate) fn create_dir(&mut self, path: &str, parents: Parents) -> Outcome<u64> {
        let place = self.place(path, false)?;
        match place.thing {
            None if parents == Parents::Require && place.missing > 1 => Err(ErrorKind::NotFound),
            None => {
                let dir = self.make(Kind::Directory);
                self.put(&place, dir);
                Ok(dir)
            }
            Some(_) if parents == Parents::Require => Err(ErrorKind::AlreadyExists),
            Some(_) => match self.place(path, true)? {
                Place { thing: Some(thing), path, .. } if self.is_directory(&path) => Ok(thing),
                Place { .. } => Err(ErrorKind::AlreadyExists),
            },
        }
    }

    pub(crate) fn symlink(&mut self, path: &str, target: &str) -> Outcome<u64> {
        if !(1..=4095).contains(&target.len()) || target.contains('\0') {
            return Err(ErrorKind::InvalidArgument);
        }
        let place = self.place(path, false)?;
        if place.thing.is_some() {
            return Err(ErrorKind::AlreadyExists);
        }
        let link = self.make(Kind::Link(target.to_owned()));
        self.put(&place, link);
        Ok(link)
    }

    pub(crate) fn remove(&mut self, path: &str, depth: Depth, belief: &Belief) -> Outcome<()> {
        if path == "/" {
            return Err(ErrorKind::InvalidArgument);
        }
        let place = self.place(path, false)?;
        self.check(belief, place.thing)?;
        if place.thing.is_none() {
            return Err(ErrorKind::NotFound);
        }
        if depth == Depth::One && !self.names(&place.path).is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty);
        }
        self.take(&place.path);
        Ok(())
    }

    /// Takes away a path and everything beneath it.
    pub(crate) fn take(&mut self, path: &str) {
        for rest in self.beneath(path).into_keys() {
            self.paths.remove(&format!("{path}{rest}"));
        }
    }

    pub(crate) fn set_metadata(&mut self, path: &str, change: MetadataChange) -> Outcome<u64> {
        if path == "/" || change.modified.is_some_and(|time| time.nanoseconds > 999_999_999) {
            return Err(ErrorKind::InvalidArgument);
        }
        let (place, thing) = self.found(path, true)?;
        if place.is_root() {
            return Err(ErrorKind::InvalidArgument);
        }
        let (number, version) = (thing, self.next());
        let thing = self.things.get_mut(&number).unwrap();
        thing.mode = change.mode.map_or(thing.mode, |mode| mode & 0o777);
        thing.modified = change.modified.or(thing.modified);
        thing.version = version;
        Ok(number)
    }

    pub(crate) fn thing(&self, number: u64) -> &Thing {
        &self.things[&number]
    }
}
