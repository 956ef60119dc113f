//! One call, from its arguments to a result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use engine::{Error, ErrorKind, Result, SandboxPath, Workspace};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::failure::Failure;
use crate::outcome::{Done, Metadata, ToolResult};
use crate::reach::{Manner, Reach};
use crate::settings::Settings;
use crate::shown::locate;
use crate::tool::ToolEntry;

/// How much of what a caller spelled is told in the audit.
const LONGEST_SPELLED: usize = 256;

/// Longer than anybody waits, and a time that every clock knows.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is to do, if that is known.
    pub total: Option<u64>,
    /// What is being done.
    pub what: String,
}

/// Who is told how far a call is. It must not wait.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// What every call of a tool has: a hold on a sandbox, and how much it may do there.
///
/// Whoever drops the future of a call cancels it: it happened whole or not at all.
#[derive(Clone)]
pub struct Call {
    workspace: Workspace,
    pub(crate) settings: Settings,
    progress: Option<ProgressSink>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workspace, settings, progress: _ } = self;
        f.debug_struct("Call").field("workspace", workspace).field("settings", settings).finish()
    }
}

impl Call {
    /// A call in a sandbox.
    pub fn new(workspace: Workspace, settings: Settings) -> Self {
        Self { workspace, settings, progress: None }
    }

    /// The same call, of which somebody is told how far it is.
    #[must_use]
    pub fn watched(self, sink: ProgressSink) -> Self {
        Self { progress: Some(sink), ..self }
    }

    /// Makes it. Whatever goes wrong is a result too.
    pub async fn run(&self, tool: &'static ToolEntry, arguments: Value) -> ToolResult {
        let began = Instant::now();
        // One for everything: the work, writing down what went wrong, and explaining it.
        let until = began.checked_add(self.settings.timeout).unwrap_or(began + FOREVER);
        let spelled = self.spelled_outside(&arguments);
        let work = async {
            if self.settings.read_only && !tool.only_looks() {
                return Err(Failure::read_only(tool.name));
            }
            (tool.run)(arguments, self).await
        };
        let outcome = timeout_at(until, work).await.unwrap_or_else(|_| Err(self.too_slow(tool)));
        let metadata = Metadata {
            tool: tool.name.to_owned(),
            duration_ms: began.elapsed().as_secs_f64() * 1000.0,
            ..Metadata::default()
        };
        match outcome {
            Ok(Done { data, metadata: told, text }) => ToolResult {
                success: true,
                data: Some(data),
                error: None,
                metadata: Metadata {
                    tool: metadata.tool,
                    duration_ms: metadata.duration_ms,
                    ..told
                },
                text,
                kind: None,
            },
            Err(failure) => {
                self.log(tool, failure.error());
                // An event that the audit has no room for until then is counted there as lost.
                let noted =
                    self.workspace.note_refusal(tool.name, spelled.as_deref(), failure.error());
                timeout_at(until, noted).await.ok();
                failure.explain(self, tool, until, metadata).await
            }
        }
    }

    /// The path that an argument means.
    pub(crate) fn path(&self, raw: &str) -> Result<SandboxPath> {
        let sandbox = self.workspace.sandbox();
        locate(sandbox, &self.settings.begin_in(sandbox), raw)
    }

    /// The same, or where relative paths begin.
    pub(crate) fn path_or_home(&self, raw: Option<&str>) -> Result<SandboxPath> {
        self.path(raw.unwrap_or("."))
    }

    /// Where a path leads that a caller wants to look at, and a hold on the part of the tree in which
    /// that must stay: for those who show files without a tool.
    pub fn look_at(&self, raw: &str) -> Result<(Workspace, SandboxPath)> {
        let path = self.path(raw)?;
        Ok((self.at(&path, Manner::Follow)?, path))
    }

    /// Whether a path that was found in a listing may be told.
    pub fn shows(&self, path: &SandboxPath) -> bool {
        self.reach().shows(path)
    }

    /// A path as the caller sees it.
    pub(crate) fn shown(&self, path: &SandboxPath) -> String {
        self.workspace.sandbox().outward(path)
    }

    pub(crate) fn reach(&self) -> Reach<'_> {
        Reach::of(&self.settings)
    }

    /// A hold on the part of the tree in which an operation on `path` must stay.
    pub(crate) fn at(&self, path: &SandboxPath, manner: Manner) -> Result<Workspace> {
        let part = self.reach().part(path, manner)?;
        self.workspace.confined(&part)
    }

    /// A hold to look at all of a directory, or at a file, that one may see.
    pub(crate) fn to_look(&self, path: &SandboxPath) -> Result<Workspace> {
        let held = self.at(path, Manner::Follow)?;
        if self.reach().is_clear(path) {
            return Ok(held);
        }
        Ok(held.without(&self.settings.blocked_paths))
    }

    /// A hold on one part of the tree for an operation on two paths, if there is one.
    pub(crate) fn around(
        &self,
        one: &SandboxPath,
        other: &SandboxPath,
    ) -> Result<Option<Workspace>> {
        let part = self.reach().common_part(one, other)?;
        part.map(|part| self.workspace.confined(&part)).transpose()
    }

    /// A hold on the whole tree: for what follows no path, or is checked path by path.
    pub(crate) fn whole(&self) -> &Workspace {
        &self.workspace
    }

    /// Says how far the call is, if somebody listens, and lets him pass it on: a call that waits for
    /// nothing would be over before.
    pub(crate) async fn report(&self, done: u64, total: Option<u64>, what: &str) {
        if let Some(sink) = &self.progress {
            sink(Progress { done, total, what: what.to_owned() });
            tokio::task::yield_now().await;
        }
    }

    fn too_slow(&self, tool: &'static ToolEntry) -> Failure {
        let most = self.settings.timeout.as_millis();
        let message = format!("the call took longer than the {most} ms that it may");
        let error = Error::new(ErrorKind::Timeout, message);
        if tool.only_looks() {
            return error.into();
        }
        // Whoever waits no longer does not know: it may have been done at the last moment.
        Failure::with_hint(
            error,
            "nothing is half done; look whether it was done before you repeat it",
        )
    }

    /// The first path among the arguments that is none of this sandbox, as it is spelled.
    fn spelled_outside(&self, arguments: &Value) -> Option<String> {
        let steps = arguments.get("steps").and_then(Value::as_array).into_iter().flatten();
        let texts = std::iter::once(arguments).chain(steps).flat_map(|object| {
            ["path", "from", "to", "after"]
                .into_iter()
                .filter_map(|name| object.get(name)?.as_str())
        });
        let mut outside = texts.filter(|text| !text.is_empty() && self.path(text).is_err());
        let text = outside.next()?;
        text.get(..text.floor_char_boundary(LONGEST_SPELLED)).map(ToOwned::to_owned)
    }

    /// The full story is for the operator: what was refused is an event of the audit, and what the
    /// machine said stands in the log.
    fn log(&self, tool: &'static ToolEntry, err: &Error) {
        let (tool, kind, sandbox) = (tool.name, err.kind(), &self.workspace.sandbox().id);
        let word = kind.word();
        // Callers choose names: `?` spells the line feeds and escapes that would forge a log.
        let (error, path) = (err.message(), err.path().map(tracing::field::debug));
        let source = std::error::Error::source(err).map(ToString::to_string);
        if matches!(kind, ErrorKind::Io | ErrorKind::Unavailable | ErrorKind::InDoubt) {
            tracing::error!(tool, kind = word, %sandbox, ?error, path, ?source, "a tool failed");
        } else {
            tracing::info!(tool, kind = word, %sandbox, ?error, path, ?source, "a tool failed");
        }
    }
}
