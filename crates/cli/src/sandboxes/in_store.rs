//! The sandboxes of a store, without a server.

use anyhow::Result;
use engine::{FileSystem as _, Limits, SandboxId};
use serde_json::json;

use crate::command_line::{NewSandboxFlags, SandboxCommand};
use crate::config::{MAIN, StoreUrl};
use crate::failure::OrHint as _;
use crate::render::{LimitsJson, Output, Rows, StoredJson, counted, show_rows};
use crate::{ask, stats, stores};

/// Sandboxes that are asked for at once.
const PAGE: usize = 500;

/// Runs one command.
pub(super) async fn carry_out(
    command: &SandboxCommand,
    url: &StoreUrl,
    out: &mut Output,
) -> Result<()> {
    match command {
        SandboxCommand::Create(flags) => create(flags, url, out).await,
        SandboxCommand::List { .. } => list(url, out).await,
        SandboxCommand::Show { name } => show(name, url, out).await,
        SandboxCommand::Delete { names, yes } => delete(names, *yes, url, out).await,
    }
}

async fn create(flags: &NewSandboxFlags, url: &StoreUrl, out: &mut Output) -> Result<()> {
    let id = flags.name.clone().map_or_else(|| SandboxId::parse(MAIN), Ok)?;
    let store = stores::open_or_make(url).await?;
    store.create(&id, flags.limits.wish().over(Limits::default())).await?;
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

async fn show(id: &SandboxId, url: &StoreUrl, out: &mut Output) -> Result<()> {
    let store = stores::open(url).await?;
    let files = store.sandbox(id).await.or_hint(|| stores::which(url))?;
    let (usage, limits) = (files.usage().await?, files.limits());
    if out.json() {
        return out.value(&StoredJson::new(id, usage, LimitsJson::new(limits)));
    }
    let name = ("name", id.to_string());
    show_rows([name].into_iter().chain(stats::rows(usage, Some(limits))), out)
}

/// Takes sandboxes away, one after the other; the first failure ends it.
async fn delete(ids: &[SandboxId], sure: bool, url: &StoreUrl, out: &mut Output) -> Result<()> {
    let store = stores::open(url).await?;
    for id in ids {
        let there = store.sandbox(id).await.or_hint(|| stores::which(url))?;
        if !sure && ask::somebody_is_there() {
            let files = counted(there.usage().await?.files, "file");
            ask::insist(&super::warning(id, &files))?;
        }
        drop(there);
        store.remove(id).await?;
        super::gone(id, out)?;
    }
    Ok(())
}
