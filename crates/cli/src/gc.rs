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
        let options = CollectOptions { grace: flags.grace };
        let collected = if flags.dry_run {
            try_out(&store, options).await?
        } else {
            collect(&store, options).await?
        };
        out.done(&said(&collected, flags.dry_run), &told(&collected, flags.dry_run))?;
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

/// What [`collect`] would do.
async fn try_out(store: &Store, options: CollectOptions) -> Result<Collected> {
    let first = store.would_collect(options).await?;
    if !options.grace.is_zero() {
        return Ok(first);
    }
    let Collected { condemned, condemned_bytes, .. } = first;
    let (deleted, freed) = (first.deleted + condemned, first.freed + condemned_bytes);
    Ok(Collected { condemned: 0, condemned_bytes: 0, deleted, freed, ..first })
}

fn said(collected: &Collected, dry_run: bool) -> String {
    let Collected { live, condemned, deleted, freed, waiting, unreadable, .. } = *collected;
    let mut said = match dry_run {
        true => format!("would delete {}, {} to be freed", counted(deleted, "object"), size(freed)),
        false => format!("deleted {}, {} freed", counted(deleted, "object"), size(freed)),
    };
    said += &format!("; {} in use", counted(live, "object"));
    if condemned > 0 {
        let bytes = size(collected.condemned_bytes);
        said += &format!("; {}, {bytes}, to go the next time", counted(condemned, "object"));
    }
    if waiting > 0 {
        said += "; what was to go is still within its grace";
    }
    if unreadable > 0 {
        said += "\nwarning: a part of the store is damaged; what it led to was left alone";
    }
    said
}

fn told(collected: &Collected, dry_run: bool) -> serde_json::Value {
    let Collected { objects, live, condemned, condemned_bytes, deleted, freed, .. } = *collected;
    let Collected { waiting, unreadable, .. } = *collected;
    json!({
        "dryRun": dry_run, "objects": objects, "live": live, "condemned": condemned,
        "condemnedBytes": condemned_bytes, "deleted": deleted, "freed": freed,
        "waiting": waiting, "unreadable": unreadable,
    })
}
