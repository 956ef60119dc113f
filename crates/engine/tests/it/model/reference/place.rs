//! Where a path leads.

use std::collections::VecDeque;

use sandkeep_engine::ErrorKind;

use super::{Kind, Outcome, Reference};

/// Where a path leads, without the links on it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: String,
    /// What is there, if anything is.
    pub(crate) thing: Option<u64>,
    /// How many of its last names are missing.
    pub(crate) missing: usize,
}

impl Place {
    pub(crate) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// Whether it is `other` or lies beneath.
    pub(crate) fn is_within(&self, other: &str) -> bool {
        self.path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Reference {
    /// Follows a path, and the link at its end if that is asked for.
    pub(crate) fn place(&self, path: &str, follow: bool) -> Outcome<Place> {
        let split = |text: &str| -> Vec<String> {
            text.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let (mut todo, mut at, mut links) = (VecDeque::from(split(path)), String::new(), 0);
        while let Some(name) = todo.pop_front() {
            if name == "." {
                continue;
            }
            if name == ".." {
                let parent = at.rfind('/').ok_or(ErrorKind::OutsideSandbox)?;
                at.truncate(parent);
                continue;
            }
            let here = format!("{at}/{name}");
            let Some(thing) = self.at(&here) else {
                todo.push_front(name);
                return missing(&at, todo);
            };
            match &thing.kind {
                Kind::Directory => at = here,
                Kind::Link(target) if follow || !todo.is_empty() => {
                    links += 1;
                    if links > 40 {
                        return Err(ErrorKind::TooManyLinks);
                    }
                    if target.starts_with('/') {
                        return Err(ErrorKind::OutsideSandbox);
                    }
                    split(target).into_iter().rev().for_each(|name| todo.push_front(name));
                }
                Kind::File(_) | Kind::Link(_) if todo.is_empty() => {
                    let thing = self.paths.get(&here).copied();
                    return Ok(Place { path: here, thing, missing: 0 });
                }
                Kind::File(_) | Kind::Link(_) => return Err(ErrorKind::NotADirectory),
            }
        }
        let thing = self.paths.get(&at).copied();
        Ok(Place { path: at, thing, missing: 0 })
    }

    /// Where a path leads on which no link may lie.
    pub(crate) fn plain_place(&self, path: &str) -> Outcome<Place> {
        let ends = path.match_indices('/').skip(1).map(|(end, _)| end);
        for above in ends.filter_map(|end| path.get(..end)) {
            match self.at(above).map(|thing| &thing.kind) {
                Some(Kind::Link(_)) => return Err(ErrorKind::OutsideSandbox),
                Some(Kind::Directory) => {}
                Some(Kind::File(_)) | None => break,
            }
        }
        self.place(path, false)
    }

    /// What a path leads to, which must be there.
    pub(crate) fn found(&self, path: &str, follow: bool) -> Outcome<(Place, u64)> {
        let place = self.place(path, follow)?;
        let thing = place.thing.ok_or(ErrorKind::NotFound)?;
        Ok((place, thing))
    }

    /// The file that a path leads to.
    pub(crate) fn found_file(&self, path: &str) -> Outcome<u64> {
        let (_, thing) = self.found(path, true)?;
        match self.things[&thing].kind {
            Kind::File(_) => Ok(thing),
            Kind::Directory | Kind::Link(_) => Err(ErrorKind::IsADirectory),
        }
    }

    /// The directory that a path leads to.
    pub(crate) fn found_directory(&self, path: &str) -> Outcome<String> {
        let (place, _) = self.found(path, true)?;
        if self.is_directory(&place.path) {
            return Ok(place.path);
        }
        Err(ErrorKind::NotADirectory)
    }
}

fn missing(at: &str, rest: VecDeque<String>) -> Outcome<Place> {
    let rest: Vec<String> = rest.into_iter().filter(|name| name != ".").collect();
    if rest.iter().any(|name| name == "..") {
        return Err(ErrorKind::NotFound);
    }
    if rest.iter().any(|name| name.len() > 255) {
        return Err(ErrorKind::InvalidPath);
    }
    Ok(Place { path: format!("{at}/{}", rest.join("/")), thing: None, missing: rest.len() })
}
