//! Which object is where on the disk, and what goes when there is no room.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{ObjectKey, Result};

use super::dir::Dir;
use super::entry::{self, HEAD, Head};
use super::notes::{self, Note};
use super::segment::{Segment, name};

/// How many segments a full cache has: what goes at once is one of so many parts of it.
const SEGMENTS: u64 = 16;
/// A segment is no longer than notes can say.
const LONGEST: u64 = 1 << 31;

/// The objects on a disk.
pub(super) struct Pages {
    dir: Dir,
    limit: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    places: HashMap<u64, Place>,
    /// By number, the oldest first.
    segments: BTreeMap<u32, Segment>,
    /// The segment that is being filled, and what was added to it.
    filling: Option<(u32, Vec<Note>)>,
    /// The number of the next one. No two have the same, even if the first is gone.
    next: u32,
    /// How much all of them take.
    size: u64,
}

/// Where an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    segment: u32,
    offset: u32,
    len: u32,
}

/// Room for one entry.
struct Room {
    file: Arc<File>,
    segment: u32,
    offset: u32,
}

/// What is to be done on the disk, once nobody waits for it.
#[derive(Default)]
struct Chores {
    /// A segment that is full.
    full: Option<(u32, Vec<Note>)>,
    /// Segments that were given up.
    given_up: Vec<u32>,
}

impl Pages {
    /// What a directory holds.
    pub(super) fn open(dir: Dir, limit: u64) -> Result<Self> {
        let mut state = State::default();
        for number in dir.segments()? {
            match Segment::open(&dir, number) {
                Ok(Some((segment, notes))) => state.add(number, segment, &notes),
                // It is worth no more than what it takes to fetch it again.
                Ok(None) | Err(_) => dir.remove(number)?,
            }
        }
        for number in state.make_room(limit) {
            dir.remove(number)?;
        }
        Ok(Self { dir, limit, state: Mutex::new(state) })
    }

    /// An object, if it is here and as it was stored.
    pub(super) fn read(&self, key: &ObjectKey) -> io::Result<Option<Bytes>> {
        let found = self.state.lock().find(key);
        let Some((place, file)) = found else { return Ok(None) };
        let mut entry = vec![0; HEAD + place.len as usize];
        let stored = match file.read_exact_at(&mut entry, u64::from(place.offset)) {
            Ok(()) => entry::open(key, entry),
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(err) => return Err(err),
        };
        if stored.is_none() {
            self.state.lock().drop_place(key, place);
        }
        Ok(stored)
    }

    /// Keeps an object, unless it would fill a good part of the cache alone.
    pub(super) fn keep(&self, key: &ObjectKey, stored: &Bytes) -> io::Result<()> {
        let head =
            Head::of(key, stored).filter(|_| Segment::growth(stored.len()) <= self.limit / 4);
        match head {
            Some(head) => self.append(&head, stored),
            None => {
                self.forget(key);
                Ok(())
            }
        }
    }

    /// Gives an object up; says whether it was here.
    pub(super) fn forget(&self, key: &ObjectKey) -> bool {
        self.state.lock().places.remove(&name(key)).is_some()
    }

    /// Writes down that an object was given up, so that it stays so when the cache is opened again.
    pub(super) fn note_forgotten(&self, key: &ObjectKey) -> io::Result<()> {
        self.append(&Head::gone(key), b"")
    }

    fn append(&self, head: &Head, stored: &[u8]) -> io::Result<()> {
        let Room { file, segment, offset } = self.room(stored.len())?;
        let entry = [&head.encode(), stored].concat();
        // Until it is noted nobody reads it.
        file.write_all_at(&entry, u64::from(offset))?;
        self.state.lock().note(segment, Note { name: name(&head.key), offset, len: head.len });
        Ok(())
    }

    /// Room for an object of so many bytes.
    fn room(&self, len: usize) -> io::Result<Room> {
        let mut chores = Chores::default();
        let room = self.state.lock().room(&self.dir, self.limit, len, &mut chores);
        for number in chores.given_up {
            self.dir.remove(number)?;
        }
        if let Some((number, full)) = chores.full {
            self.write_notes(number, &full)?;
        }
        room
    }

    fn write_notes(&self, number: u32, notes: &[Note]) -> io::Result<()> {
        self.dir.write_notes(number, &notes::encode(notes))
    }
}

/// The segment that was being filled is read faster the next time.
impl Drop for Pages {
    fn drop(&mut self) {
        if let Some((number, notes)) = self.state.get_mut().filling.take() {
            self.write_notes(number, &notes).ok();
        }
    }
}

impl State {
    /// Adds a segment that was there.
    fn add(&mut self, number: u32, segment: Segment, notes: &[Note]) {
        self.size += segment.size();
        self.segments.insert(number, segment);
        self.next = number.saturating_add(1);
        notes.iter().for_each(|note| self.put(number, *note));
    }

    fn find(&self, key: &ObjectKey) -> Option<(Place, Arc<File>)> {
        let place = self.places.get(&name(key))?;
        let segment = self.segments.get(&place.segment)?;
        Some((*place, Arc::clone(&segment.file)))
    }

    /// Gives up a place where nothing was found, unless there is another by now.
    fn drop_place(&mut self, key: &ObjectKey, place: Place) {
        let name = name(key);
        if self.places.get(&name) == Some(&place) {
            self.places.remove(&name);
        }
    }

    /// Notes what was written.
    fn note(&mut self, segment: u32, note: Note) {
        if let Some((filling, notes)) = &mut self.filling
            && *filling == segment
        {
            notes.push(note);
        }
        // It may have been given up meanwhile.
        if self.segments.contains_key(&segment) {
            self.put(segment, note);
        }
    }

    fn put(&mut self, segment: u32, Note { name, offset, len }: Note) {
        match len {
            Some(len) => drop(self.places.insert(name, Place { segment, offset, len })),
            None => drop(self.places.remove(&name)),
        }
    }

    fn room(&mut self, dir: &Dir, limit: u64, len: usize, chores: &mut Chores) -> io::Result<Room> {
        let growth = Segment::growth(len);
        chores.given_up = self.make_room(limit.saturating_sub(growth));
        let longest = (limit / SEGMENTS).min(LONGEST);
        let is_full = |segment: &Segment| segment.size() + growth > longest;
        let filling = self.filling.as_ref().map(|(number, _)| *number);
        if filling.and_then(|number| self.segments.get(&number)).is_none_or(is_full) {
            chores.full = self.filling.take();
            self.begin(dir)?;
        }
        let found = self.segments.last_entry().and_then(|mut last| {
            let segment = last.get_mut();
            let offset = u32::try_from(segment.reserve(len)).ok()?;
            let file = Arc::clone(&segment.file);
            Some(Room { file, segment: *last.key(), offset })
        });
        self.size += growth;
        found.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
    }

    /// Begins a new segment.
    fn begin(&mut self, dir: &Dir) -> io::Result<()> {
        let number = self.next;
        self.next = number.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        let segment = Segment::create(dir, number)?;
        self.size += segment.size();
        self.segments.insert(number, segment);
        self.filling = Some((number, Vec::new()));
        Ok(())
    }

    /// Gives up the oldest segments until all the others are within a limit; says which.
    fn make_room(&mut self, limit: u64) -> Vec<u32> {
        let mut given_up = Vec::new();
        while self.size > limit
            && let Some((number, segment)) = self.segments.pop_first()
        {
            self.size -= segment.size();
            self.places.retain(|_, place| place.segment != number);
            self.filling.take_if(|(filling, _)| *filling == number);
            given_up.push(number);
        }
        given_up
    }
}
