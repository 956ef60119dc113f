//! What happens in a sandbox, as it happens: server-sent events that go on by themselves after a
//! cut.

use std::collections::VecDeque;
use std::time::Duration;

use engine::{
    ByteStream, Cursor, EntryKind, Error, ErrorKind, Loss, Notice, NoticeKind, NoticeStream,
    Result, SandboxPath, Watch,
};
use futures::{StreamExt as _, stream};
use http::header::ACCEPT;
use serde::Deserialize;
use tokio::time::{Instant, sleep, timeout};

use super::SandboxFs;
use super::wire::{Kind, path};
use crate::arriving::Split as _;
use crate::incoming;
use crate::lines::Lines;
use crate::transport::not_understood;

/// Three heartbeats of the server: whoever is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(45);
/// How long a server may be away before the watch ends: longer than a restart takes.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long to wait before coming back the first time, and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Whether the server is there that a watch is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is gone, and waited for.
    Away,
    /// It is there again, and tells what happened meanwhile, or to resync.
    Back,
}

/// Whom to tell of it.
type Tell = Box<dyn Fn(Presence) + Send>;

impl SandboxFs {
    /// As [`watch`](engine::FileSystem::watch), which waits for a server that is away, and says so.
    /// A line that is merely cut is not worth a word.
    pub async fn watch_patiently(
        &self,
        dir: &SandboxPath,
        wish: Watch,
        tell: impl Fn(Presence) + Send + 'static,
    ) -> Result<NoticeStream> {
        self.must_be_live().map_err(|err| err.on(dir))?;
        let Watch { recursive, after } = wish;
        let mut watcher = Watcher {
            files: self.clone(),
            dir: dir.clone(),
            recursive,
            after,
            tell: Box::new(tell),
            body: incoming::nothing(),
            events: Events::default(),
            found: VecDeque::new(),
        };
        watcher.connect().await?;
        // What fails from here on ends the stream, unless it passes.
        let notices = stream::try_unfold(watcher, |mut watcher| async {
            Ok(Some((watcher.next().await?, watcher)))
        });
        Ok(notices.boxed())
    }
}

/// A watch, and the connection that it has for the time being.
struct Watcher {
    files: SandboxFs,
    dir: SandboxPath,
    recursive: bool,
    /// What was told last.
    after: Option<Cursor>,
    tell: Tell,
    body: ByteStream,
    events: Events,
    /// What the last piece of the body held.
    found: VecDeque<Notice>,
}

impl Watcher {
    async fn next(&mut self) -> Result<Notice> {
        loop {
            if let Some(notice) = self.found.pop_front() {
                self.after = Some(notice.cursor.clone());
                return Ok(notice);
            }
            match timeout(SILENCE, self.body.next()).await {
                Ok(Some(Ok(piece))) => self.take_in(&piece)?,
                Ok(Some(Err(_)) | None) | Err(_) => self.resume().await?,
            }
        }
    }

    fn take_in(&mut self, mut piece: &[u8]) -> Result<()> {
        while let Some(event) = self.events.next(&mut piece)? {
            self.found.push_back(event.notice()?);
        }
        Ok(())
    }

    /// Comes back behind what was told last, again and again while there is hope.
    async fn resume(&mut self) -> Result<()> {
        let (begun, [mut pause, longest]) = (Instant::now(), PAUSES);
        let mut is_away = false;
        loop {
            sleep(pause).await;
            match self.connect().await {
                Err(err) if may_pass(err.kind()) && begun.elapsed() < PATIENCE => {
                    if !std::mem::replace(&mut is_away, true) {
                        (self.tell)(Presence::Away);
                    }
                    pause = (pause * 2).min(longest);
                }
                outcome => {
                    if is_away && outcome.is_ok() {
                        (self.tell)(Presence::Back);
                    }
                    return outcome;
                }
            }
        }
    }

    async fn connect(&mut self) -> Result<()> {
        let mut request = self.files.look("fs-watch", &self.dir);
        request = request.query(&[("recursive", self.recursive)]);
        request = request.header(ACCEPT, "text/event-stream");
        if let Some(after) = &self.after {
            request = request.header("last-event-id", after.to_string());
        }
        let answer = timeout(SILENCE, self.files.send(request, &self.dir)).await;
        let answer = answer.map_err(|_| {
            Error::new(ErrorKind::Timeout, "the server does not answer").on(&self.dir)
        })??;
        self.body = incoming::stream(answer, self.files.endpoint.address());
        // Half an event that came before the cut comes again.
        self.events = Events::default();
        Ok(())
    }
}

/// Whether a server that fails like this may do better in a moment: it is restarted, or busy.
fn may_pass(kind: ErrorKind) -> bool {
    [ErrorKind::Unavailable, ErrorKind::Busy, ErrorKind::Timeout, ErrorKind::Io].contains(&kind)
}

/// Takes the events out of a body, whatever pieces it arrives in. Holds no more than one.
#[derive(Debug, Default)]
struct Events {
    lines: Lines,
    event: Event,
}

/// One event: the fields of it that are needed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    id: String,
    data: String,
}

impl Events {
    fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Event>> {
        while let Some(line) = self.lines.next(bytes).map_err(not_understood)? {
            let line = String::from_utf8(line).map_err(not_understood)?;
            let line = line.trim_end_matches('\r');
            if line.is_empty() && !self.event.data.is_empty() {
                return Ok(Some(std::mem::take(&mut self.event)));
            }
            // A line that begins with a colon is a heartbeat.
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => value.clone_into(&mut self.event.id),
                "data" => value.clone_into(&mut self.event.data),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// The `data` of an event.
#[derive(Debug, Deserialize)]
struct NoticeBody {
    change: Change,
    path: Option<String>,
    from: Option<String>,
    kind: Option<Kind>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Here,
    Created,
    Modified,
    Removed,
    Renamed,
    Resync,
}

impl Event {
    fn notice(self) -> Result<Notice> {
        let cursor = self.id.parse().map_err(not_understood)?;
        let body: NoticeBody = serde_json::from_str(&self.data).map_err(not_understood)?;
        Ok(Notice { cursor, kind: body.kind()? })
    }
}

impl NoticeBody {
    fn kind(self) -> Result<NoticeKind> {
        let entry = self.kind.map(EntryKind::from);
        let place = |text: Option<String>| {
            path(&text.ok_or_else(|| not_understood("something happened nowhere"))?)
        };
        Ok(match self.change {
            Change::Here => NoticeKind::Here,
            Change::Created => NoticeKind::Created { path: place(self.path)?, entry },
            Change::Modified => NoticeKind::Modified { path: place(self.path)?, entry },
            Change::Removed => NoticeKind::Removed { path: place(self.path)?, entry },
            Change::Renamed => {
                NoticeKind::Renamed { from: place(self.from)?, path: place(self.path)?, entry }
            }
            Change::Resync => {
                let why = self.reason.as_deref().and_then(Loss::from_word);
                // A reason that is not known yet leads to the same: all is listed anew.
                NoticeKind::Resync { why: why.unwrap_or(Loss::Confused) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hi\n\nid: v1-2\nevent: created\ndata: {\"change\":\"created\",\
        \"path\":\"a/f\",\"kind\":\"file\"}\n\n:\n\nid: v1-3\r\ndata: {\"change\":\"renamed\",\
        \"from\":\"a\",\"path\":\"b\"}\r\n\r\nid: v1-4\ndata: {\"change\":\"resync\",\
        \"reason\":\"overflow\"}\n\nid: v1-5\ndata: {\"cha";

    fn notices(piece: usize) -> Vec<Notice> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for mut piece in STREAM.as_bytes().chunks(piece) {
            while let Some(event) = events.next(&mut piece).unwrap() {
                found.push(event.notice().unwrap());
            }
        }
        found
    }

    #[test]
    fn events_are_found_whatever_the_pieces_and_half_of_one_is_none() {
        let at = |text: &str| SandboxPath::clamped(text).unwrap();
        let kinds = [
            NoticeKind::Created { path: at("a/f"), entry: Some(EntryKind::File) },
            NoticeKind::Renamed { from: at("a"), path: at("b"), entry: None },
            NoticeKind::Resync { why: Loss::Overflow },
        ];
        for piece in 1..40 {
            let found = notices(piece);
            let told: Vec<_> = found.iter().map(|notice| notice.kind.clone()).collect();
            assert_eq!(told, kinds, "{piece}");
            let cursors: Vec<_> = found.iter().map(|notice| notice.cursor.to_string()).collect();
            assert_eq!(cursors, ["v1-2", "v1-3", "v1-4"]);
        }
    }

    #[test]
    fn only_what_may_pass_is_waited_for() {
        assert!(may_pass(ErrorKind::Unavailable) && may_pass(ErrorKind::Io));
        assert!(!may_pass(ErrorKind::Forbidden) && !may_pass(ErrorKind::SandboxNotFound));
    }
}
