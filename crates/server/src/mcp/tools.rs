//! The list of tools, and calls of them.

use std::sync::Arc;
use std::time::Duration;

use ::tools::{CallSettings, Effect, Progress, ToolEntry, ToolResult, named, offered};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    ProgressNotificationParam, ProgressToken, RequestMetaObject, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::failures::{self, cancelled};
use super::standing::Standing;

/// Where a program says how much one call may do.
const CONFIG: &str = "sandkeep/config";
/// The shortest time between two words on how far a call is.
const PACE: Duration = Duration::from_millis(50);

/// The tools that are of use where somebody stands. There are few, so that they come at once.
pub(super) async fn list(standing: &Standing) -> ListToolsResult {
    let entries = offered(&standing.workspace, standing.settings.read_only).await;
    ListToolsResult::with_all_items(entries.into_iter().map(tool).collect())
}

/// A tool as the protocol tells it.
pub(super) fn tool(entry: &'static ToolEntry) -> Tool {
    let hints = ToolAnnotations::with_title(entry.title).open_world(false);
    let hints = match entry.effect {
        Effect::Looks => hints.read_only(true).idempotent(true),
        Effect::Adds { idempotent } => {
            hints.read_only(false).destructive(false).idempotent(idempotent)
        }
        Effect::Replaces { idempotent } => {
            hints.read_only(false).destructive(true).idempotent(idempotent)
        }
    };
    Tool::new(entry.name, entry.description(), entry.input_schema().clone())
        .with_title(entry.title)
        .with_raw_output_schema(Arc::new(entry.output_schema().clone()))
        .with_annotations(hints)
}

/// Calls a tool. What it fails at is a result that a model can read; only what is no call at all is
/// an error.
pub(super) async fn call(
    standing: &Standing,
    asked: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let Some(entry) = named(&asked.name) else {
        let message =
            format!("there is no tool `{}`: tools/list names those there are", asked.name);
        return Err(ErrorData::invalid_params(message, None));
    };
    let standing = narrowed(standing, &context.meta)?;
    let arguments = Value::Object(asked.arguments.unwrap_or_default());
    let RequestContext { ct, meta, peer, .. } = context;
    let result = tokio::select! {
        biased;
        () = ct.cancelled() => return Err(cancelled()),
        result = watched(&standing, entry, arguments, meta.get_progress_token(), &peer) => result,
    };
    Ok(rendered(&result).into())
}

/// Where the caller stands, as this call wishes it.
fn narrowed(standing: &Standing, meta: &RequestMetaObject) -> Result<Standing, ErrorData> {
    let Some(wish) = meta.get(CONFIG) else { return Ok(standing.clone()) };
    let wish: CallSettings = serde_json::from_value(wish.clone())
        .map_err(|err| ErrorData::invalid_params(format!("_meta[\"{CONFIG}\"]: {err}"), None))?;
    let sandbox = standing.workspace.sandbox();
    let settings = standing.settings.narrowed(&wish, sandbox);
    let settings = settings.map_err(|err| failures::error(&err, sandbox))?;
    Ok(Standing { settings, ..standing.clone() })
}

/// Runs a call, and tells whoever wants to know how far it is. Nobody who listens slowly delays the
/// work.
async fn watched(
    standing: &Standing,
    entry: &'static ToolEntry,
    arguments: Value,
    token: Option<ProgressToken>,
    peer: &Peer<RoleServer>,
) -> ToolResult {
    let Some(token) = token else { return standing.call().run(entry, arguments).await };
    let (sink, mut told) = watch::channel(None);
    let call = standing.call().watched(Arc::new(move |progress| {
        sink.send_replace(Some(progress));
    }));
    let over = CancellationToken::new();
    let telling = async {
        let mut last = None;
        while told.changed().await.is_ok() {
            let progress = told.borrow_and_update().clone();
            tell(progress, &mut last, &token, peer).await;
            timeout(PACE, over.cancelled()).await.ok();
        }
    };
    let running = async {
        let result = call.run(entry, arguments).await;
        // The sink is gone with the call. What it was told last is passed on.
        drop(call);
        over.cancel();
        result
    };
    // Nothing is told behind the answer: what was begun is told to its end.
    tokio::join!(running, telling).0
}

/// Passes on how far a call is, if it is further than it was.
async fn tell(
    progress: Option<Progress>,
    last: &mut Option<u64>,
    token: &ProgressToken,
    peer: &Peer<RoleServer>,
) {
    let Some(Progress { done, total, what }) = progress else { return };
    if last.is_some_and(|last| done <= last) {
        return;
    }
    *last = Some(done);
    let note = ProgressNotificationParam::new(token.clone(), number(done)).with_message(what);
    let note = match total {
        Some(total) => note.with_total(number(total)),
        None => note,
    };
    // Whoever has gone is not told.
    peer.notify_progress(note).await.ok();
}

#[expect(clippy::cast_precision_loss, reason = "the protocol counts in floating point")]
fn number(count: u64) -> f64 {
    count as f64
}

/// A result as the protocol tells it: for a model as text, for a program as it is.
fn rendered(result: &ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.text.clone())];
    let mut told = match result.success {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    };
    told.structured_content = serde_json::to_value(result).ok();
    told
}
