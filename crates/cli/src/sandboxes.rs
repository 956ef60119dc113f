//! `sandkeep sandbox`: the sandboxes of a store.

use anyhow::Result;
use engine::{FileSystem as _, Limits, SandboxId};
use serde_json::json;

use crate::command_line::{LimitFlags, SandboxCommand, SandboxFlags};
use crate::config::StoreUrl;
use crate::failure::OrHint as _;
use crate::render::{Output, Rows, counted};
use crate::{ask, stores};

/// Sandboxes that are asked for at once.
const PAGE: usize = 500;

/// Runs one sandbox command.
pub(crate) fn run(flags: &SandboxFlags) -> Result<()> {
    let url = flags.store.url()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        match &flags.command {
            SandboxCommand::Create { name, limits } => create(name, *limits, url, &mut out).await?,
            SandboxCommand::List => list(url, &mut out).await?,
            SandboxCommand::Remove { names, yes } => remove(names, *yes, url, &mut out).await?,
        }
        out.flush()
    })
}

async fn create(
    id: &SandboxId,
    limits: LimitFlags,
    url: &StoreUrl,
    out: &mut Output,
) -> Result<()> {
    let store = stores::open_or_make(url).await?;
    store.create(id, limits.wish().over(Limits::default())).await?;
    out.done(&format!("made the sandbox {id}"), &json!({ "sandbox": id.as_str() }))
}

/// Lists the sandboxes, page after page.
async fn list(url: &StoreUrl, out: &mut Output) -> Result<()> {
    let store = stores::open(url).await?;
    let (mut after, mut rows) = (None, Rows::default());
    loop {
        let page = store.list(after.as_ref(), PAGE).await?;
        let mut usages = Vec::with_capacity(page.len());
        for id in &page {
            usages.push(store.sandbox(id).await?.usage().await?);
        }
        let page: Vec<_> = page.into_iter().zip(usages).collect();
        rows.page(&page, out)?;
        match page.into_iter().next_back() {
            Some((last, _)) => after = Some(last),
            None => return rows.finish(out),
        }
    }
}

/// Takes sandboxes away, one after the other; the first failure ends it.
async fn remove(ids: &[SandboxId], sure: bool, url: &StoreUrl, out: &mut Output) -> Result<()> {
    let store = stores::open(url).await?;
    for id in ids {
        let there = store.sandbox(id).await.or_hint(|| stores::which(url))?;
        if !sure && ask::somebody_is_there() {
            let files = counted(there.usage().await?.files, "file");
            ask::insist(&format!(
                "The sandbox {id}, its {files} and all its snapshots are lost. Remove it?"
            ))?;
        }
        drop(there);
        store.remove(id).await?;
        out.done(&format!("removed the sandbox {id}"), &json!({ "sandbox": id.as_str() }))?;
    }
    Ok(())
}
