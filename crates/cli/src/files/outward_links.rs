//! An archive without the symbolic links that lead out of it.
//!
//! Unpacking refuses an archive with such a link, so that one planted link would keep everything
//! else from its owner. Whatever this filter does not understand passes as it is and is judged by
//! the unpacking itself: the filter is a convenience, not a wall.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use engine::ByteStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tar::{EntryType, Header};

const BLOCK: usize = 512;
/// The longest extension header that unpacking takes.
const LONGEST_EXTENSION: u64 = 64 << 10;
/// How many of the links are named.
const NAMED: usize = 100;

/// The links that were left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// How many there were.
    pub(super) count: u64,
    /// The first of them, relative to the archive.
    pub(super) names: Vec<String>,
}

/// The archive without those links, and the filter, which knows all of them when the archive has
/// been read.
pub(super) fn leave_out(archive: ByteStream) -> (ByteStream, Arc<Mutex<Filter>>) {
    let filter = Arc::new(Mutex::new(Filter::default()));
    let (taking, ending) = (Arc::clone(&filter), Arc::clone(&filter));
    let passing = archive.map_ok(move |chunk| lock(&taking).take(chunk));
    // What is held at the end belongs to an archive that was cut off, which must be seen.
    let rest = stream::once(async move { Ok(std::mem::take(&mut lock(&ending).held).freeze()) });
    (passing.chain(rest).boxed(), filter)
}

/// The links that a filter left out.
pub(super) fn left_out(filter: &Mutex<Filter>) -> LeftOut {
    std::mem::take(&mut lock(filter).left_out)
}

fn lock(filter: &Mutex<Filter>) -> MutexGuard<'_, Filter> {
    filter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far the archive has been read.
#[derive(Default)]
pub(super) struct Filter {
    stage: Stage,
    /// Headers whose member is not known yet, and extensions before it.
    held: BytesMut,
    /// How much of `held` belongs to extensions.
    extensions: usize,
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    left_out: LeftOut,
}

#[derive(Clone, Copy, Default)]
enum Stage {
    /// A header is next.
    #[default]
    Header,
    /// The content of an extension is next: so many bytes, and so many with padding.
    Extension { kind: EntryType, length: usize, padded: usize },
    /// So many bytes of a member are next.
    Member(u64),
    /// Whatever comes passes.
    Rest,
}

impl Filter {
    /// What of the archive may pass, now that this has come.
    fn take(&mut self, mut chunk: Bytes) -> Bytes {
        let mut passing = BytesMut::with_capacity(chunk.len() + self.held.len());
        while !chunk.is_empty() {
            match self.stage {
                Stage::Rest => passing.extend_from_slice(&std::mem::take(&mut chunk)),
                Stage::Member(left) => {
                    let len = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    passing.extend_from_slice(&chunk.split_to(len));
                    let left = left - len as u64;
                    self.stage = if left == 0 { Stage::Header } else { Stage::Member(left) };
                }
                Stage::Header => {
                    if self.hold(&mut chunk, BLOCK) {
                        self.judge(&mut passing);
                    }
                }
                Stage::Extension { kind, length, padded } => {
                    if self.hold(&mut chunk, padded) {
                        self.learn(kind, length);
                    }
                }
            }
        }
        passing.freeze()
    }

    /// Moves bytes aside until there are `len` behind the extensions; whether there are.
    fn hold(&mut self, chunk: &mut Bytes, len: usize) -> bool {
        let missing = (self.extensions + len).saturating_sub(self.held.len());
        self.held.extend_from_slice(&chunk.split_to(missing.min(chunk.len())));
        self.held.len() == self.extensions + len
    }

    /// Decides about the member, or the extension, whose header is complete.
    fn judge(&mut self, passing: &mut BytesMut) {
        let block = self.held.get(self.extensions..).and_then(|rest| rest.first_chunk::<BLOCK>());
        let header = block.map(|block| Header::from_byte_slice(block));
        let Some((header, size)) = header.and_then(|header| Some((header, sound_size(header)?)))
        else {
            // The end of the archive, or nothing that is an archive.
            self.stage = Stage::Rest;
            passing.unsplit(std::mem::take(&mut self.held));
            return;
        };
        let kind = header.entry_type();
        if is_extension(kind) && size <= LONGEST_EXTENSION {
            let length = usize::try_from(size).unwrap_or(usize::MAX);
            self.extensions = self.held.len();
            self.stage = Stage::Extension { kind, length, padded: length.next_multiple_of(BLOCK) };
            return;
        }
        let name = self.name.take().map_or_else(|| header.path_bytes(), Cow::Owned);
        let target = self.target.take().map(Cow::Owned).or_else(|| header.link_name_bytes());
        let outward =
            kind.is_symlink() && size == 0 && leads_out(&name, &target.unwrap_or_default());
        if outward {
            self.left_out.add(&name);
            self.held.clear();
        } else {
            passing.unsplit(std::mem::take(&mut self.held));
        }
        self.extensions = 0;
        self.stage = match size.next_multiple_of(BLOCK as u64) {
            0 => Stage::Header,
            padded => Stage::Member(padded),
        };
    }

    /// Takes in what an extension says about the next member.
    fn learn(&mut self, kind: EntryType, length: usize) {
        let mut content = self.held.get(self.extensions..).unwrap_or_default();
        content = content.get(..length).unwrap_or(content);
        if kind.is_pax_local_extensions() {
            for record in tar::PaxExtensions::new(content).map_while(Result::ok) {
                match record.key_bytes() {
                    b"path" => self.name = Some(record.value_bytes().to_vec()),
                    b"linkpath" => self.target = Some(record.value_bytes().to_vec()),
                    _ => {}
                }
            }
        } else {
            let text = content.strip_suffix(b"\0").unwrap_or(content).to_vec();
            let learnt = if kind.is_gnu_longname() { &mut self.name } else { &mut self.target };
            *learnt = Some(text);
        }
        self.extensions = self.held.len();
        self.stage = Stage::Header;
    }
}

impl LeftOut {
    fn add(&mut self, name: &[u8]) {
        self.count += 1;
        if self.names.len() < NAMED {
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
}

/// The size that a header tells, if it is one.
fn sound_size(header: &Header) -> Option<u64> {
    let sum: u32 = header.as_bytes().iter().enumerate().fold(0, |sum, (place, byte)| {
        // The sum is taken as if its own field held spaces.
        sum + if (148..156).contains(&place) { u32::from(b' ') } else { u32::from(*byte) }
    });
    let size = header.entry_size().ok().filter(|size| size.checked_add(BLOCK as u64).is_some());
    size.filter(|_| header.cksum().ok() == Some(sum))
}

fn is_extension(kind: EntryType) -> bool {
    kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions()
}

/// Whether a link called `name` is absolute or climbs above the archive, as unpacking sees it.
fn leads_out(name: &[u8], target: &[u8]) -> bool {
    let names =
        |path: &Path| path.components().filter(|c| matches!(c, Component::Normal(_))).count();
    let mut depth = names(Path::new(OsStr::from_bytes(name))).saturating_sub(1);
    for component in Path::new(OsStr::from_bytes(target)).components() {
        match (component, depth.checked_sub(1)) {
            (Component::Normal(_), _) => depth += 1,
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(above)) => depth = above,
            (Component::ParentDir, None) | (Component::RootDir | Component::Prefix(_), _) => {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of a file `a`, these links, and a file `z`.
    fn archive(links: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        let file = |archive: &mut tar::Builder<Vec<u8>>, name| {
            let mut header = Header::new_gnu();
            header.set_size(700);
            archive.append_data(&mut header, name, [b'x'; 700].as_slice()).unwrap();
        };
        file(&mut archive, "a");
        for (name, target) in links {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::Symlink);
            header.set_size(0);
            archive.append_link(&mut header, name, target).unwrap();
        }
        file(&mut archive, "z");
        archive.into_inner().unwrap()
    }

    /// What passes when the archive comes in pieces of so many bytes, and what was left out.
    fn filtered(archive: &[u8], piece: usize) -> (Vec<u8>, LeftOut) {
        let pieces: Vec<_> = archive.chunks(piece).map(Bytes::copy_from_slice).map(Ok).collect();
        let (passing, filter) = leave_out(stream::iter(pieces).boxed());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let passed: Vec<Bytes> = runtime.block_on(passing.try_collect()).unwrap();
        (passed.concat(), left_out(&filter))
    }

    #[test]
    fn links_that_lead_out_vanish_and_everything_else_stays_byte_for_byte() {
        let long = "l".repeat(300);
        let far = "../".repeat(50);
        let mixed = archive(&[("out", "/etc"), ("in", "a"), (&long, &far), (&long, "z")]);
        let wanted = archive(&[("in", "a"), (&long, "z")]);
        for piece in [1, 7, 511, 512, 513, 1 << 20] {
            let (passed, left_out) = filtered(&mixed, piece);
            assert!(passed == wanted, "in pieces of {piece}");
            assert_eq!((left_out.count, left_out.names), (2, vec!["out".into(), long.clone()]));
        }
    }

    #[test]
    fn what_is_no_archive_passes_as_it_is() {
        let (passed, _) = filtered(&[b'?'; 3000], 100);
        assert_eq!(passed, [b'?'; 3000]);
    }

    #[test]
    fn an_archive_that_was_cut_off_stays_cut_off() {
        let whole = archive(&[("in", &"a/".repeat(100))]);
        for len in [100, 512, 1600, 2100, 2600, whole.len() - 1024] {
            let (passed, _) = filtered(&whole[..len], 300);
            assert!(passed == whole[..len], "cut at {len}");
        }
    }

    #[test]
    fn no_more_than_a_hundred_links_are_named() {
        let links: Vec<String> = (0..150).map(|number| format!("link-{number}")).collect();
        let links: Vec<_> = links.iter().map(|name| (name.as_str(), "..")).collect();
        let (_, left_out) = filtered(&archive(&links), 4096);
        assert_eq!((left_out.count, left_out.names.len()), (150, NAMED));
    }
}
