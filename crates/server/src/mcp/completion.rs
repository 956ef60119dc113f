//! How a path that somebody begins may go on.

use engine::{Entry, EntryKind, Links, Page, Result};
use futures::TryStreamExt as _;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::standing::Standing;
use super::subscriptions::in_time;
use super::{failures, uri};

/// The paths that begin like the argument of the template.
pub(super) async fn complete(
    standing: &Standing,
    asked: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let sandbox = standing.workspace.sandbox();
    let template = uri::template(sandbox);
    let is_ours = matches!(&asked.r#ref, Reference::Resource(resource) if resource.uri == template);
    if !is_ours || asked.argument.name != "path" {
        let message = format!("only `path` of {template} is completed");
        return Err(ErrorData::invalid_params(message, None));
    }
    let (mut values, more) = match begun(standing, &asked.argument.value).await {
        Ok(found) => found,
        // What is not there goes on in no way.
        Err(err) if failures::code(err.kind()) != rmcp::model::ErrorCode::INTERNAL_ERROR => {
            (Vec::new(), false)
        }
        Err(err) => return Err(failures::error(&err, sandbox)),
    };
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.values = values;
    info.has_more = Some(more);
    Ok(CompleteResult::new(info))
}

/// Paths that begin so, without their leading slash, and whether there are more of them.
async fn begun(standing: &Standing, value: &str) -> Result<(Vec<String>, bool)> {
    let sandbox = standing.workspace.sandbox();
    // Above the place at which the client sees the root, there is only the way to it.
    let root = sandbox.outward(&engine::SandboxPath::root());
    let way = format!("{}/", root.trim_matches('/'));
    if way.len() > 1 && way.starts_with(value) && way != value {
        return Ok((vec![way], false));
    }
    let (dir, name) = value.rsplit_once('/').unwrap_or(("", value));
    let call = standing.call();
    let outward = format!("/{dir}");
    let (workspace, path) = match call.look_at(&outward) {
        Ok(found) => found,
        Err(err) => {
            standing.note_refusal("list", &outward, &err).await;
            return Err(err);
        }
    };
    let looking = async {
        let mut found: Vec<Entry> = Vec::new();
        // A listing goes on behind a name, so that the name itself is looked for alone.
        if !name.is_empty()
            && let Ok(exact) = path.join(name)
        {
            found.extend(workspace.stat(&exact, Links::Keep).await.ok());
        }
        let after = (!name.is_empty()).then(|| name.to_owned());
        let page = Page { after, limit: Some(CompletionInfo::MAX_VALUES + 1) };
        let behind: Vec<Entry> = workspace.list(&path, page).await?.try_collect().await?;
        found.extend(behind.into_iter().take_while(|entry| entry.path.name().starts_with(name)));
        Ok(found)
    };
    let found = in_time(standing.settings.timeout, looking).await?;
    let shown = found.iter().filter(|entry| call.shows(&entry.path));
    let values = shown.map(|entry| {
        let slash = if entry.kind == EntryKind::Directory { "/" } else { "" };
        format!("{}{slash}", sandbox.outward(&entry.path).trim_start_matches('/'))
    });
    Ok((values.collect(), found.len() > CompletionInfo::MAX_VALUES))
}
