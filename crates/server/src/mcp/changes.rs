//! How it is found out that a file or a directory changed.

use std::fmt;
use std::time::Duration;

use engine::{
    Entry, EntryKind, ErrorKind, Links, Notice, NoticeKind, NoticeStream, Result, SandboxPath,
    Watch, Workspace,
};
use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::standing::Standing;

/// How long changes are gathered before they are told as one.
const GATHERED: Duration = Duration::from_millis(100);
/// How long it takes until something is looked for again that went.
const AGAIN: Duration = Duration::from_secs(2);

/// What counts as a change of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    /// Anything that its listing shows: names, sizes, times.
    Everything,
    /// Which names there are.
    Names,
}

/// A file or directory that is watched.
pub(super) struct Watched {
    place: Place,
    aspect: Aspect,
    notices: Notices,
}

/// Where something is, and a hold on the part of the tree that may be seen there.
struct Place {
    whole: Workspace,
    workspace: Workspace,
    path: SandboxPath,
}

/// Where the news come from.
enum Notices {
    /// The directory itself.
    Inside(NoticeStream),
    /// The directory that a file is in.
    Around(NoticeStream),
    /// Nowhere: what was there went.
    Away,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("path", &self.place.path).finish_non_exhaustive()
    }
}

impl Watched {
    /// Begins to watch what is at a path, as the client spells it.
    pub(super) async fn begin(standing: &Standing, outward: &str, aspect: Aspect) -> Result<Self> {
        let beginning = async {
            let place = Place::find(standing, outward)?;
            let entry = place.look().await?;
            let notices = place.listen(entry.kind).await?;
            Ok(Self { place, aspect, notices })
        };
        let outcome = beginning.await;
        if let Err(err) = &outcome {
            standing.note_refusal("watch", outward, err).await;
        }
        outcome
    }

    /// The same; what is not there yet is waited for.
    pub(super) async fn expect(standing: &Standing, outward: &str, aspect: Aspect) -> Result<Self> {
        match Self::begin(standing, outward, aspect).await {
            Err(err) if err.kind() == ErrorKind::NotFound => {
                let place = Place::find(standing, outward)?;
                Ok(Self { place, aspect, notices: Notices::Away })
            }
            outcome => outcome,
        }
    }

    /// Waits until something has changed, and a moment for what changes along with it.
    pub(super) async fn changed(&mut self) {
        while !self.next().await {}
        let until = Instant::now() + GATHERED;
        while timeout_at(until, self.next()).await.is_ok() {}
    }

    /// Waits for the next notice. Whether it is one of a change.
    async fn next(&mut self) -> bool {
        let (stream, is_inside) = match &mut self.notices {
            Notices::Inside(stream) => (stream, true),
            Notices::Around(stream) => (stream, false),
            Notices::Away => {
                self.notices = self.place.find_again().await;
                return true;
            }
        };
        match stream.next().await {
            Some(Ok(notice)) if is_inside => is_of(&notice, self.aspect),
            Some(Ok(notice)) => is_about(&notice, &self.place.path),
            // That nothing is there any more is a change.
            Some(Err(_)) | None => {
                self.notices = Notices::Away;
                true
            }
        }
    }
}

impl Place {
    fn find(standing: &Standing, outward: &str) -> Result<Self> {
        let (workspace, path) = standing.call().look_at(outward)?;
        Ok(Self { whole: standing.workspace.clone(), workspace, path })
    }

    /// Waits until something is there again.
    async fn find_again(&self) -> Notices {
        loop {
            tokio::time::sleep(AGAIN).await;
            let Ok(entry) = self.look().await else { continue };
            if let Ok(notices) = self.listen(entry.kind).await {
                return notices;
            }
        }
    }

    async fn look(&self) -> Result<Entry> {
        self.workspace.stat(&self.path, Links::Follow).await
    }

    /// Listens to what happens there. Where nothing but a file is allowed, only `whole` sees the
    /// directory that it is in; of what that tells, nothing is passed on but that the file changed.
    async fn listen(&self, kind: EntryKind) -> Result<Notices> {
        let wish = Watch { recursive: false, after: None };
        if kind == EntryKind::Directory {
            return self.workspace.watch(&self.path, wish).await.map(Notices::Inside);
        }
        let dir = self.path.parent().unwrap_or_else(SandboxPath::root);
        match self.workspace.watch(&dir, wish.clone()).await {
            Err(err) if err.kind() == ErrorKind::OutsideSandbox => {
                self.whole.watch(&dir, wish).await.map(Notices::Around)
            }
            outcome => outcome.map(Notices::Around),
        }
    }
}

/// Whether a notice of a directory is one of a change.
fn is_of(notice: &Notice, aspect: Aspect) -> bool {
    match notice.kind {
        NoticeKind::Here => false,
        NoticeKind::Modified { .. } => aspect == Aspect::Everything,
        NoticeKind::Created { .. }
        | NoticeKind::Removed { .. }
        | NoticeKind::Renamed { .. }
        | NoticeKind::Resync { .. } => true,
    }
}

/// Whether a notice is about a file.
fn is_about(notice: &Notice, file: &SandboxPath) -> bool {
    match &notice.kind {
        NoticeKind::Here => false,
        NoticeKind::Created { path, .. }
        | NoticeKind::Modified { path, .. }
        | NoticeKind::Removed { path, .. } => path == file,
        NoticeKind::Renamed { from, path, .. } => path == file || from == file,
        NoticeKind::Resync { .. } => true,
    }
}
