//! The content of a file as records, without crumbs.

use super::block::Plan;
use super::counterpart::Counterpart;
use super::recent::Sent;
use super::{CRUMB, LONGEST_CHUNK};
use crate::snapshot::identity::PartKey;
use crate::tree::{Extent, File, Piece, Source, Stop};
use crate::virtual_fs::damaged;

/// Crumbs are swept together until they are so much.
const SWEPT: u64 = 64 << 10;

/// A file that is being written, and where in it the walk is.
#[derive(Debug)]
pub(super) struct FileWalk {
    file: File,
    at: u64,
    counterpart: Option<Counterpart>,
    joint: Joint,
}

impl FileWalk {
    pub(super) fn new(file: &File, counterpart: Option<&File>) -> Self {
        let counterpart = counterpart.map(Counterpart::new);
        Self { file: file.clone(), at: 0, counterpart, joint: Joint::default() }
    }

    /// Goes on by one extent; false at the end.
    pub(super) fn step(
        &mut self,
        plan: &mut Plan,
        chunks: &mut Sent<PartKey>,
        source: &dyn Source,
    ) -> Result<bool, Stop> {
        let Some(extent) = self.file.extent_at(self.at, source)? else {
            if self.at != self.file.len() {
                return Err(damaged("a file in the store is shorter than it says").into());
            }
            self.joint.end(plan, chunks);
            return Ok(false);
        };
        let segment = match extent.piece {
            Piece::Hole => Segment::new(What::Hole, extent),
            Piece::Fresh(_) | Piece::Stored(_) => {
                let part = extent.part(0, LONGEST_CHUNK).unwrap_or(extent);
                let found = match &mut self.counterpart {
                    Some(counterpart) => counterpart.find(self.at, &part, source)?,
                    None => None,
                };
                match found.and_then(|(offset, len)| Some((offset, part.part(0, len)?))) {
                    Some((offset, part)) => Segment::new(What::Same(offset), part),
                    None => Segment::new(What::Chunk, part),
                }
            }
        };
        self.at += segment.len;
        self.joint.push(segment, plan, chunks);
        Ok(true)
    }
}

/// A part of a file that is one record, unless it is a crumb.
#[derive(Debug)]
struct Segment {
    what: What,
    len: u64,
    /// Its content, as long as it may be a crumb.
    extents: Vec<Extent>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Chunk,
    Hole,
    /// What the other state has at this offset.
    Same(u64),
}

impl Segment {
    fn new(what: What, extent: Extent) -> Self {
        Self { what, len: extent.len, extents: vec![extent] }
    }

    /// Takes in what follows, if that is one record with this; gives it back if not.
    fn join(&mut self, next: Self) -> Option<Self> {
        let follows = match (self.what, next.what) {
            (What::Hole, What::Hole) => true,
            (What::Same(offset), What::Same(further)) => offset + self.len == further,
            (What::Chunk | What::Hole | What::Same(_), _) => false,
        };
        if !follows {
            return Some(next);
        }
        self.len += next.len;
        self.extents.extend(next.extents);
        if self.len >= CRUMB {
            self.extents.clear();
        }
        None
    }
}

/// Joins what belongs together, and sweeps crumbs into chunks.
#[derive(Debug, Default)]
struct Joint {
    last: Option<Segment>,
    crumbs: Vec<Segment>,
    crumbs_len: u64,
}

impl Joint {
    fn push(&mut self, segment: Segment, plan: &mut Plan, chunks: &mut Sent<PartKey>) {
        let rest = match &mut self.last {
            Some(last) => last.join(segment),
            None => Some(segment),
        };
        if let Some(next) = rest
            && let Some(done) = self.last.replace(next)
        {
            self.settle(done, plan, chunks);
        }
    }

    fn end(&mut self, plan: &mut Plan, chunks: &mut Sent<PartKey>) {
        if let Some(done) = self.last.take() {
            self.settle(done, plan, chunks);
        }
        self.sweep(plan, chunks);
    }

    fn settle(&mut self, segment: Segment, plan: &mut Plan, chunks: &mut Sent<PartKey>) {
        if segment.len >= CRUMB {
            self.sweep(plan, chunks);
            write(&segment, plan, chunks);
            return;
        }
        self.crumbs_len += segment.len;
        self.crumbs.push(segment);
        if self.crumbs_len >= SWEPT {
            self.sweep(plan, chunks);
        }
    }

    /// Writes the crumbs: one alone as it is, several as one chunk.
    fn sweep(&mut self, plan: &mut Plan, chunks: &mut Sent<PartKey>) {
        match &self.crumbs[..] {
            [] => {}
            [only] => write(only, plan, chunks),
            several => {
                let extents = several.iter().flat_map(|segment| &segment.extents);
                plan.chunk(extents);
                chunks.push(None);
            }
        }
        self.crumbs.clear();
        self.crumbs_len = 0;
    }
}

fn write(segment: &Segment, plan: &mut Plan, chunks: &mut Sent<PartKey>) {
    match segment.what {
        What::Hole => plan.records.hole(segment.len),
        What::Same(offset) => plan.records.same(offset, segment.len),
        What::Chunk => {
            let key = segment.extents.first().and_then(PartKey::of);
            match key.and_then(|key| chunks.distance(&key)) {
                Some(distance) => plan.records.repeat(distance),
                None => {
                    plan.chunk(&segment.extents);
                    chunks.push(key);
                }
            }
        }
    }
}
