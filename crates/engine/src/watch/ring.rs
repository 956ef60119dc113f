//! The last notices of one watched directory, for any number of readers.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Cursor, Loss, Mark, Notice, NoticeKind};
use crate::{Error, ErrorKind, Result, SandboxPath};

/// How much memory the notices may take: some 10,000 to 20,000 of them.
const ROOM: usize = 2 << 20;
/// How many notices a reader takes at a time.
const AT_ONCE: usize = 256;

/// The last notices. The oldest are forgotten when there is no room.
#[derive(Debug)]
pub(crate) struct Ring {
    id: u64,
    kept: Mutex<Kept>,
    /// The number of the last notice; changes too when the end is known.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    notices: VecDeque<NoticeKind>,
    /// The number of the last notice; the first one has number 1.
    last: u64,
    weight: usize,
    end: Option<(ErrorKind, String, Option<SandboxPath>)>,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self { id: rand::random(), kept: Mutex::default(), last: watch::Sender::new(0) }
    }

    /// Adds notices.
    pub(crate) fn tell(&self, notices: impl IntoIterator<Item = NoticeKind>) {
        let mut kept = self.kept.lock();
        notices.into_iter().for_each(|notice| kept.add(notice));
        let last = kept.last;
        drop(kept);
        self.last.send_replace(last);
    }

    /// Says that nothing will be told any more, and why.
    pub(crate) fn end(&self, err: &Error) {
        let mut kept = self.kept.lock();
        kept.end.get_or_insert_with(|| (err.kind(), err.message().to_owned(), err.path().cloned()));
        let last = kept.last;
        drop(kept);
        self.last.send_replace(last);
    }

    /// Whether the end was told.
    pub(crate) fn is_over(&self) -> bool {
        self.kept.lock().end.is_some()
    }

    fn cursor(&self, number: u64) -> Cursor {
        Cursor(Mark::Notice { post: self.id, number })
    }

    /// Begins to read behind a cursor, or now, and gives the first notice.
    pub(crate) fn begin(&self, after: Option<&Cursor>) -> (Reader, Notice) {
        let last = self.kept.lock().last;
        let known = after.map(|cursor| match cursor.0 {
            Mark::Notice { post, number } if post == self.id && number <= last => Some(number),
            Mark::Notice { .. } | Mark::State(_) | Mark::Between { .. } => None,
        });
        let (number, kind) = match known {
            None => (last, NoticeKind::Here),
            Some(Some(number)) => (number, NoticeKind::Here),
            Some(None) => (last, NoticeKind::Resync { why: Loss::UnknownCursor }),
        };
        let reader = Reader { number, changed: self.last.subscribe() };
        (reader, Notice { cursor: self.cursor(number), kind })
    }
}

impl Kept {
    fn add(&mut self, notice: NoticeKind) {
        self.weight += weight(&notice);
        self.notices.push_back(notice);
        self.last += 1;
        while self.weight > ROOM
            && let Some(oldest) = self.notices.pop_front()
        {
            self.weight -= weight(&oldest);
        }
    }

    fn forgotten(&self) -> u64 {
        self.last - self.notices.len() as u64
    }
}

fn weight(notice: &NoticeKind) -> usize {
    let paths = match notice {
        NoticeKind::Here | NoticeKind::Resync { .. } => 0,
        NoticeKind::Created { path, .. }
        | NoticeKind::Modified { path, .. }
        | NoticeKind::Removed { path, .. } => path.as_str().len(),
        NoticeKind::Renamed { from, path, .. } => from.as_str().len() + path.as_str().len(),
    };
    size_of::<NoticeKind>() + paths
}

/// Somebody's place in a ring.
#[derive(Debug)]
pub(crate) struct Reader {
    number: u64,
    changed: watch::Receiver<u64>,
}

impl Reader {
    /// The next notices, as soon as there are any.
    pub(crate) async fn next(&mut self, ring: &Ring) -> Result<Vec<Notice>> {
        loop {
            // Marked before it is looked at: what comes later is a change.
            self.changed.mark_unchanged();
            if let Some(notices) = self.ready(ring)? {
                return Ok(notices);
            }
            // The sender lives as long as the ring.
            let _open = self.changed.changed().await;
        }
    }

    fn ready(&mut self, ring: &Ring) -> Result<Option<Vec<Notice>>> {
        let kept = ring.kept.lock();
        let forgotten = kept.forgotten();
        if self.number < forgotten {
            self.number = kept.last;
            let kind = NoticeKind::Resync { why: Loss::TooSlow };
            return Ok(Some(vec![Notice { cursor: ring.cursor(self.number), kind }]));
        }
        let skip = usize::try_from(self.number - forgotten).unwrap_or(usize::MAX);
        let new: Vec<_> = kept.notices.iter().skip(skip).take(AT_ONCE).cloned().collect();
        match &kept.end {
            Some((kind, message, path)) if new.is_empty() => {
                let err = Error::new(*kind, message.clone());
                return Err(path.iter().fold(err, Error::on));
            }
            _ if new.is_empty() => return Ok(None),
            Some(_) | None => {}
        }
        drop(kept);
        let numbered = new.into_iter().map(|kind| {
            self.number += 1;
            Notice { cursor: ring.cursor(self.number), kind }
        });
        Ok(Some(numbered.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DotDot, EntryKind};

    fn created(name: &str) -> NoticeKind {
        let path = SandboxPath::parse(name, DotDot::Refuse).unwrap();
        NoticeKind::Created { path, entry: Some(EntryKind::File) }
    }

    #[tokio::test]
    async fn a_reader_gets_what_was_told_behind_its_cursor() {
        let ring = Ring::new();
        let (_, here) = ring.begin(None);
        ring.tell([created("a"), created("b")]);
        let (mut reader, first) = ring.begin(Some(&here.cursor));
        assert_eq!(first, here);
        let notices = reader.next(&ring).await.unwrap();
        let kinds: Vec<_> = notices.iter().map(|notice| notice.kind.clone()).collect();
        assert_eq!(kinds, [created("a"), created("b")]);
        let (mut reader, _) = ring.begin(Some(&notices[0].cursor));
        assert_eq!(reader.next(&ring).await.unwrap()[0].kind, created("b"));
    }

    #[tokio::test]
    async fn a_reader_that_is_too_slow_is_told_once_and_goes_on() {
        let ring = Ring::new();
        let (mut reader, _) = ring.begin(None);
        let name = "x".repeat(200);
        for _ in 0..100 {
            ring.tell((0..200).map(|_| created(&name)));
        }
        assert!(ring.kept.lock().weight <= ROOM);
        let notices = reader.next(&ring).await.unwrap();
        assert_eq!(notices[0].kind, NoticeKind::Resync { why: Loss::TooSlow });
        assert_eq!(notices.len(), 1);
        ring.tell([created("behind")]);
        assert_eq!(reader.next(&ring).await.unwrap()[0].kind, created("behind"));
    }

    #[tokio::test]
    async fn the_end_comes_after_everything_that_was_told() {
        let ring = Ring::new();
        let (mut reader, _) = ring.begin(None);
        ring.tell([created("a")]);
        ring.end(&Error::new(ErrorKind::Unavailable, "gone"));
        assert_eq!(reader.next(&ring).await.unwrap().len(), 1);
        assert_eq!(reader.next(&ring).await.unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_cursor_of_another_ring_or_of_the_future_is_unknown() {
        let (one, other) = (Ring::new(), Ring::new());
        let (_, here) = one.begin(None);
        let unknown = NoticeKind::Resync { why: Loss::UnknownCursor };
        assert_eq!(other.begin(Some(&here.cursor)).1.kind, unknown);
        assert_eq!(one.begin(Some(&one.cursor(7))).1.kind, unknown);
    }
}
