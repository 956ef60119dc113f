//! Stores, as the commands open them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use engine::{Error, ErrorKind, HostFs, Store};

use crate::config::StoreUrl;
use crate::failure::OrHint as _;
use crate::local;
use crate::render::quoted;

/// What to do about a store that another process has open.
const IN_USE: &str = "\
stop the process that has it first. While a server has it, its files are reached with \
`sandkeep fs --endpoint URL`; snapshots, statistics and garbage collection have no HTTP interface yet";

/// Opens a store, which is made when it is missing.
pub(crate) async fn open_or_make(url: &StoreUrl) -> Result<Store> {
    let opened = Store::open(&url.absolute()?).await;
    let in_use = opened.as_ref().is_err_and(|err| err.kind() == ErrorKind::Locked);
    let opened = opened.with_context(|| format!("the store {url} cannot be opened"));
    if in_use { opened.or_hint(|| IN_USE.into()) } else { opened }
}

/// Opens a store that is there. A mistyped address makes no new one.
pub(crate) async fn open(url: &StoreUrl) -> Result<Store> {
    match url {
        StoreUrl::Memory => {
            let message = "a store in memory ends with its process, and no command finds it again";
            Err(Error::new(ErrorKind::InvalidArgument, message))
                .or_hint(|| "keep it in a directory: --store file:DIR".into())
        }
        StoreUrl::Directory(dir) if local::is_empty(dir)? => Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no store at {url}"),
        ))
        .or_hint(|| {
            format!("make one: sandkeep sandbox create --store {}", quoted(&url.to_string()))
        }),
        StoreUrl::Directory(_) | StoreUrl::Other(_) => open_or_make(url).await,
    }
}

/// Refuses the snapshots of another directory. The words mean the tree on the command line.
pub(crate) async fn check_snapshots(files: &HostFs, words: &str) -> Result<()> {
    match files.check_snapshots().await {
        Err(err) if err.kind() == ErrorKind::PreconditionFailed => Err(err).or_hint(|| {
            format!("choose another --sandbox NAME, or adopt them: sandkeep snapshot adopt {words}")
        }),
        outcome => Ok(outcome?),
    }
}

/// How to see which sandboxes a store has.
pub(crate) fn which(url: &StoreUrl) -> String {
    format!("see which there are: sandkeep sandbox list --store {}", quoted(&url.to_string()))
}

/// The address without links, and the directory that it names. That is made, because a wall can
/// only let through what is there.
pub(crate) fn settle(url: &StoreUrl) -> Result<(StoreUrl, Option<PathBuf>)> {
    let Some(dir) = url.directory() else { return Ok((url.clone(), None)) };
    local::make_lasting_dir(dir)?;
    let dir = local::canonical(dir)?;
    Ok((StoreUrl::Directory(dir.clone()), Some(dir)))
}

/// Refuses a store within the directory whose snapshots it keeps, and the reverse: clients could
/// change it, and each snapshot would hold those before it.
pub(crate) fn refuse_overlap(url: &StoreUrl, root: &Path) -> Result<()> {
    let Some(dir) = url.directory() else { return Ok(()) };
    let dir = local::eventual(dir)?;
    if dir.starts_with(root) || root.starts_with(&dir) {
        let message = format!("the store {url} and the directory lie within one another");
        return Err(Error::new(ErrorKind::InvalidArgument, message))
            .or_hint(|| "keep the snapshots elsewhere, with another --snapshots".into());
    }
    Ok(())
}
