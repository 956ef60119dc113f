//! `copy`: a whole store brought to another.

use anyhow::{Context as _, Result, anyhow};
use engine::{Error, ErrorKind};
use serde_json::json;
use storage::{Amount, Copied};
use tokio::signal::unix::{SignalKind, signal};

use crate::config::StoreUrl;
use crate::failure::OrHint as _;
use crate::progress::Progress;
use crate::render::{Output, counted, size};
use crate::{local, stores};

const AGAIN: &str = "run the same command again: it goes on where this one ended";

/// Copies a store.
pub(super) async fn run(from: &StoreUrl, to: &StoreUrl, out: &mut Output) -> Result<()> {
    stores::refuse_missing(from)?;
    refuse_unfit(from, to)?;
    let source = stores::open_storage(from).await?;
    if storage::is_unfinished_copy(&*source).await.map_err(Error::of_storage)? {
        let message = "the store to copy from is itself a copy that did not finish";
        return Err(Error::new(ErrorKind::Unavailable, message))
            .or_hint(|| "finish that copy first".into());
    }
    let target = stores::open_storage(to).await?;
    let progress = Progress::of_work();
    let copying = storage::copy(&source, &target, |reached| show(reached, &progress));
    let copied = tokio::select! {
        copied = copying => copied.map_err(Error::of_storage),
        interrupted = interruption() => {
            interrupted?;
            return Err(anyhow!("the copy was interrupted")).or_hint(|| AGAIN.into());
        }
    };
    drop(progress);
    let copied = hinted(copied)?;
    out.done(&said(&copied), &told(&copied))?;
    out.flush()
}

/// Refuses what cannot be copied to, before anything is opened.
fn refuse_unfit(from: &StoreUrl, to: &StoreUrl) -> Result<()> {
    if *to == StoreUrl::Memory {
        let message = "a store in memory ends with this command";
        return Err(Error::new(ErrorKind::InvalidArgument, message).into());
    }
    let is_same = match (from.path(), to.path()) {
        (Some(from), Some(to)) => local::eventual(from)? == local::eventual(to)?,
        (_, _) => from == to,
    };
    if is_same {
        let message = "a store cannot be copied to itself";
        return Err(Error::new(ErrorKind::InvalidArgument, message).into());
    }
    Ok(())
}

fn show(reached: storage::Progress, progress: &Progress) {
    match reached {
        storage::Progress::Counting(Amount { objects, .. }) => {
            progress.tell(|| format!("looking at what is missing: {}", counted(objects, "object")));
        }
        storage::Progress::Sending { sent, of } => progress.reach(sent.bytes, of.bytes, || {
            format!("{} of {}", sent.objects, counted(of.objects, "object"))
        }),
    }
}

/// Ends with the first signal that asks the program to stop.
async fn interruption() -> Result<()> {
    let unheard = "signals cannot be received";
    let mut interrupt = signal(SignalKind::interrupt()).context(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).context(unheard)?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// The same outcome; a failure says what to do next.
fn hinted(copied: engine::Result<Copied>) -> Result<Copied> {
    let unfit = copied.as_ref().is_err_and(|err| err.kind() == ErrorKind::InvalidArgument);
    copied.or_hint(|| if unfit { "copy into a new store".into() } else { AGAIN.into() })
}

fn said(copied: &Copied) -> String {
    let Copied { resumed, sent, present, refs, vanished } = *copied;
    let (objects, bytes) = (counted(sent.objects, "object"), size(sent.bytes));
    let mut said = format!("copied {objects}, {bytes}, and {}", counted(refs, "ref"));
    if present.objects > 0 {
        said += &format!("; {} were there already", counted(present.objects, "object"));
    }
    if resumed {
        said += "; this ends a copy that was broken off";
    }
    if vanished > 0 {
        let gone = counted(vanished, "object");
        said += &format!(
            "\nwarning: {gone} were deleted meanwhile; `sandkeep store check` says whether the copy \
             lacks anything"
        );
    }
    said
}

fn told(copied: &Copied) -> serde_json::Value {
    let Copied { resumed, sent, present, refs, vanished } = *copied;
    json!({
        "resumed": resumed, "objects": sent.objects, "bytes": sent.bytes,
        "present": present.objects, "presentBytes": present.bytes,
        "refs": refs, "vanished": vanished,
    })
}
