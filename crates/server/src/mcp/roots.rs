//! Where a client says to stay: the roots of those who offer them.
//!
//! A root is a `file://` address of the client's machine, so it means something only where a
//! directory of that machine is served. What lies in it narrows where calls may go; nothing widens it.
#![expect(deprecated, reason = "roots are of the era before 2026-07-28, which is served too")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::tools::{CallSettings, Settings};
use engine::{DotDot, Sandbox, SandboxPath};
use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, Root};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::{Mutex, watch};

use super::failures;

/// How long a client may take to tell its roots.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of them are heeded.
const MOST: usize = 64;

/// The directory that is served, in every spelling by which a client may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served(pub Vec<PathBuf>);

/// What is known of a client's roots.
#[derive(Debug)]
pub(super) struct Roots {
    served: Option<Served>,
    known: watch::Sender<Known>,
    /// They are asked for one after another: an older answer never replaces a newer one.
    turn: Mutex<()>,
    /// Whether somebody waits for that turn, who will hear whatever is true by then.
    is_queued: AtomicBool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// They are still to be told.
    Soon,
    /// Here they do not matter, or they hold everything.
    Everything,
    /// Calls stay in these paths.
    Only(Vec<String>),
    /// There is no path in which calls could stay.
    Nothing(String),
}

impl Roots {
    /// Those of a client that was not heard yet. They matter where a directory is served.
    pub(super) fn new(served: Option<Served>) -> Self {
        Self {
            served,
            known: watch::Sender::new(Known::Everything),
            turn: Mutex::default(),
            is_queued: AtomicBool::new(false),
        }
    }

    /// Takes in what a client can do. Until its roots are known, its calls wait.
    pub(super) fn greet(&self, client: &ClientCapabilities) {
        if self.served.is_some() && client.roots.is_some() {
            self.known.send_replace(Known::Soon);
        }
    }

    /// Asks the client for its roots, if it has any. Whether something is another now.
    pub(super) async fn ask(&self, peer: &Peer<RoleServer>, sandbox: &Sandbox) -> bool {
        let offers = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        let Some(served) = self.served.as_ref().filter(|_| offers) else { return false };
        if self.is_queued.swap(true, Ordering::SeqCst) {
            return false;
        }
        let _turn = self.turn.lock().await;
        self.is_queued.store(false, Ordering::SeqCst);
        // What was known is not true any more, and calls wait for what is.
        let before = self.known.send_replace(Known::Soon);
        let was_narrow = matches!(before, Known::Only(_) | Known::Nothing(_));
        let known = match tokio::time::timeout(PATIENCE, peer.list_roots()).await {
            Ok(Ok(told)) if told.roots.is_empty() && !was_narrow => {
                tracing::info!("the client has no root: all that is served is within reach");
                Known::Everything
            }
            Ok(Ok(told)) => narrowing(&told.roots, served, sandbox),
            Ok(Err(_)) => Known::Nothing("the client offers roots and did not tell them".into()),
            Err(_) => Known::Nothing("the client offers roots and told none in time".into()),
        };
        if let Known::Nothing(why) = &known {
            tracing::warn!(why, "nothing is within reach of this client");
        }
        let is_another = before != known;
        self.known.send_replace(known);
        is_another
    }

    /// The settings of a call that stays in the roots.
    pub(super) async fn narrow(
        &self,
        settings: &Settings,
        sandbox: &Sandbox,
    ) -> Result<Settings, ErrorData> {
        let mut known = self.known.subscribe();
        let settled = known.wait_for(|known| *known != Known::Soon);
        let known = match tokio::time::timeout(PATIENCE, settled).await {
            Ok(Ok(known)) => known.clone(),
            Ok(Err(_)) | Err(_) => {
                Known::Nothing("the client offers roots and did not say that it is ready".into())
            }
        };
        match known {
            Known::Everything => Ok(settings.clone()),
            Known::Only(paths) => {
                let wish = CallSettings { allowed_paths: Some(paths), ..CallSettings::default() };
                let narrowed = settings.narrowed(&wish, sandbox);
                narrowed.map_err(|err| failures::error(&err, sandbox))
            }
            Known::Soon => Err(refusal("the client's roots are not known")),
            Known::Nothing(why) => Err(refusal(&why)),
        }
    }
}

fn refusal(why: &str) -> ErrorData {
    let message = format!(
        "nothing can be reached: {why}. Add a root that lies in the served directory, or start \
         `sandkeep mcp` with --ignore-roots"
    );
    ErrorData::invalid_request(message, None)
}

/// What the roots leave of the directory.
fn narrowing(roots: &[Root], served: &Served, sandbox: &Sandbox) -> Known {
    let mut paths = Vec::new();
    for root in roots.iter().take(MOST) {
        match within(&root.uri, served) {
            Some(Within::All) => return Known::Everything,
            Some(Within::Part(part)) => paths.push(sandbox.outward(&part)),
            None => {
                let root = root.uri.as_str();
                tracing::warn!(root, "a root lies outside of what is served, and is ignored");
            }
        }
    }
    if paths.is_empty() {
        return Known::Nothing("none of the client's roots lies in the served directory".into());
    }
    Known::Only(paths)
}

/// How much of the directory is in a root.
#[derive(Debug, PartialEq, Eq)]
enum Within {
    All,
    Part(SandboxPath),
}

fn within(root: &str, served: &Served) -> Option<Within> {
    let path = file_path(root)?;
    if served.0.iter().any(|dir| dir.starts_with(&path)) {
        return Some(Within::All);
    }
    let rest = served.0.iter().find_map(|dir| path.strip_prefix(dir).ok())?;
    SandboxPath::parse(rest.to_str()?, DotDot::Refuse).ok().map(Within::Part)
}

/// The part of the directory that a root leaves; the root of the directory if it leaves all.
#[cfg(fuzzing)]
pub(crate) fn part_of(root: &str, served: &Served) -> Option<SandboxPath> {
    within(root, served).map(|within| match within {
        Within::All => SandboxPath::root(),
        Within::Part(part) => part,
    })
}

/// The path that a `file:` address of this machine names.
fn file_path(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let path = Path::new(OsStr::from_bytes(&bytes));
    let is_plain = path.is_absolute()
        && !bytes.contains(&0)
        && path.components().all(|part| part != Component::ParentDir);
    is_plain.then(|| path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> Served {
        Served(vec!["/data/my work".into(), "/mnt/project".into()])
    }

    fn part(path: &str) -> Option<Within> {
        Some(Within::Part(SandboxPath::parse(path, DotDot::Refuse).unwrap()))
    }

    #[test]
    fn a_root_in_the_directory_is_a_part_of_it() {
        assert_eq!(within("file:///data/my%20work/src/", &served()), part("src"));
        assert_eq!(within("file://localhost/mnt/project/a/b", &served()), part("a/b"));
    }

    #[test]
    fn a_root_around_the_directory_holds_all_of_it() {
        for root in ["file:///data/my%20work", "file:///data", "file:///"] {
            assert_eq!(within(root, &served()), Some(Within::All), "{root}");
        }
    }

    #[test]
    fn what_lies_elsewhere_or_is_no_file_is_no_root_here() {
        for root in [
            "file:///data/my%20workshop",
            "file:///data/my%20work/../other",
            "file://elsewhere/data/my%20work",
            "https://example.org/data/my%20work",
            "/data/my work",
            "file:///data/my%20work/%00",
            "",
        ] {
            assert_eq!(within(root, &served()), None, "{root}");
        }
    }
}
