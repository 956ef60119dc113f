//! `sandkeep gc`: frees a store of what nothing leads to any more.

use anyhow::Result;
use engine::{CollectOptions, Collected, Store};
use serde_json::json;

use crate::command_line::CollectFlags;
use crate::render::{Output, counted, size};
use crate::stores;

/// Collects garbage.
pub(crate) fn run(flags: &CollectFlags) -> Result<()> {
    let url = flags.store.url()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let store = stores::open(url).await?;
        let collected = collect(&store, CollectOptions { grace: flags.grace }).await?;
        out.done(&said(&collected), &told(&collected))?;
        out.flush()
    })
}

/// One collection, and a second where nothing has to wait for it: the first one only condemns.
async fn collect(store: &Store, options: CollectOptions) -> Result<Collected> {
    let first = store.collect(options).await?;
    if !options.grace.is_zero() || first.condemned == 0 {
        return Ok(first);
    }
    let second = store.collect(options).await?;
    let (deleted, freed) = (first.deleted + second.deleted, first.freed + second.freed);
    Ok(Collected { deleted, freed, ..second })
}

fn said(collected: &Collected) -> String {
    let Collected { live, condemned, deleted, freed, waiting, unreadable, .. } = *collected;
    let mut said = format!("deleted {}, {} freed", counted(deleted, "object"), size(freed));
    said += &format!("; {} in use", counted(live, "object"));
    if condemned > 0 {
        said += &format!("; {} to go the next time", counted(condemned, "object"));
    }
    if waiting > 0 {
        said += "; what was to go is still within its grace";
    }
    if unreadable > 0 {
        said += "\nwarning: a part of the store is damaged; what it led to was left alone";
    }
    said
}

fn told(collected: &Collected) -> serde_json::Value {
    let Collected { objects, live, condemned, deleted, freed, waiting, unreadable, .. } =
        *collected;
    json!({
        "objects": objects, "live": live, "condemned": condemned, "deleted": deleted,
        "freed": freed, "waiting": waiting, "unreadable": unreadable,
    })
}
