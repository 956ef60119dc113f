//! Moving, copying and bringing back.

use std::collections::BTreeMap;

use sandkeep_engine::{ErrorKind, Target};

use super::{Kind, Outcome, Place, Reference};

/// Whether a relocation leaves its source where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Rename,
    Copy,
}

impl Reference {
    pub(crate) fn relocate(
        &mut self,
        from: &str,
        to: &str,
        target: Target,
        how: Move,
    ) -> Outcome<u64> {
        let source = self.place(from, false)?;
        if from == to {
            return source.thing.ok_or(ErrorKind::NotFound);
        }
        check_texts(from, to, target)?;
        let thing = source.thing.ok_or(ErrorKind::NotFound)?;
        let dest = self.place(to, false)?;
        if dest.path == source.path {
            return Ok(thing);
        }
        if dest.thing.is_some() && target == Target::New {
            return Err(ErrorKind::AlreadyExists);
        }
        if dest.is_within(&source.path) || dest.thing.is_some() && source.is_within(&dest.path) {
            return Err(ErrorKind::InvalidArgument);
        }
        if target == Target::Merge && dest.thing.is_some() {
            self.check_merge(self, &source.path, &dest.path)?;
        }
        let branch = self.beneath(&source.path);
        if how == Move::Rename {
            self.take(&source.path);
        }
        if target != Target::Merge {
            self.take(&dest.path);
        }
        let branch = branch.into_iter().map(|(rest, number)| match how {
            Move::Rename => (rest, number),
            Move::Copy => (rest, self.copy_of(number)),
        });
        let branch: BTreeMap<String, u64> = branch.collect();
        Ok(self.graft(&dest, &branch))
    }

    fn copy_of(&mut self, number: u64) -> u64 {
        let (copy, thing) = (self.next(), self.things[&number].clone());
        self.things.insert(copy, thing);
        copy
    }

    /// Puts a branch over what is there: directories are united, everything else gives way.
    pub(crate) fn graft(&mut self, dest: &Place, branch: &BTreeMap<String, u64>) -> u64 {
        for (rest, number) in branch {
            let path = format!("{}{rest}", dest.path);
            if self.is_directory(&path) && self.things[number].kind == Kind::Directory {
                let there = self.paths[&path];
                self.things.get_mut(&there).unwrap().modified = None;
                continue;
            }
            match rest.as_str() {
                "" => self.put(dest, *number),
                _ => drop(self.paths.insert(path, *number)),
            }
        }
        self.paths[&dest.path]
    }

    /// Refuses files that would replace directories, and the reverse, as they are met.
    pub(crate) fn check_merge(&self, from: &Self, source: &str, dest: &str) -> Outcome<()> {
        let there = self.at(dest).map(|_| self.is_directory(dest));
        match (from.is_directory(source), there) {
            (_, None) | (false, Some(false)) => Ok(()),
            (false, Some(true)) => Err(ErrorKind::IsADirectory),
            (true, Some(false)) => Err(ErrorKind::NotADirectory),
            (true, Some(true)) => from.names(source).iter().try_for_each(|name| {
                self.check_merge(from, &format!("{source}/{name}"), &format!("{dest}/{name}"))
            }),
        }
    }

    /// Puts the files of an archive, by their paths in it, into a directory, which is made.
    pub(crate) fn unpack(&mut self, dir: &str, files: &BTreeMap<String, Vec<u8>>) -> Outcome<()> {
        let mut archive = Self::new(self.limits);
        for (path, bytes) in files {
            archive.check_room(bytes.len() as u64)?;
            let place = archive.place(path, false)?;
            let file = archive.make(Kind::File(bytes.clone()));
            archive.put(&place, file);
        }
        let dest = self.place(dir, true)?;
        if dest.thing.is_some() && !self.is_directory(&dest.path) {
            return Err(ErrorKind::NotADirectory);
        }
        self.check_merge(&archive, "", &dest.path)?;
        let mut branch = BTreeMap::new();
        for (path, number) in &archive.paths {
            let mut thing = archive.things[number].clone();
            (thing.birth, thing.version) = (self.next(), self.next());
            let number = self.next();
            self.things.insert(number, thing);
            branch.insert(path.clone(), number);
        }
        self.graft(&dest, &branch);
        Ok(())
    }

    /// Brings back what a kept tree has at a path.
    pub(crate) fn restore(&mut self, kept: &Self, path: &str) -> Outcome<()> {
        let source = kept.plain_place(path)?;
        let dest = self.plain_place(path)?;
        let live: BTreeMap<String, u64> = self.beneath(&dest.path);
        if dest.thing.is_some() {
            self.take(&dest.path);
        }
        if source.thing.is_none() {
            return Ok(());
        }
        let mut branch = BTreeMap::new();
        for (rest, number) in kept.beneath(&source.path) {
            let thing = kept.things[&number].clone();
            // A file that is still there stays the same file for those who have it open.
            let same = live.get(&rest).filter(|live| {
                let there = &self.things[live];
                let kinds = (&there.kind, &thing.kind);
                matches!(kinds, (Kind::File(_), Kind::File(_))) && there.birth == thing.birth
            });
            let number = match same {
                Some(same) => *same,
                None => self.next(),
            };
            self.things.insert(number, thing);
            branch.insert(rest, number);
        }
        if dest.is_root() {
            self.paths = branch;
        } else {
            self.graft(&dest, &branch);
        }
        Ok(())
    }
}

/// What is wrong with two paths whatever is there.
fn check_texts(from: &str, to: &str, target: Target) -> Outcome<()> {
    let within = |path: &str, other: &str| {
        let rest = path.strip_prefix(other);
        other == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if from == "/" {
        return Err(ErrorKind::InvalidArgument);
    }
    if to == "/" && target == Target::New {
        return Err(ErrorKind::AlreadyExists);
    }
    if within(to, from) || within(from, to) && target != Target::New {
        return Err(ErrorKind::InvalidArgument);
    }
    Ok(())
}
