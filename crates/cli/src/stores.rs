//! Stores, as the commands open them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use engine::{Error, ErrorKind, HostFs, Store, StoreOptions};
use storage::Storage;

use crate::config::{Reach, StoreUrl};
use crate::failure::OrHint as _;
use crate::local;
use crate::render::quoted;

/// What to do about a store that another process has open.
const IN_USE: &str = "\
stop the process that has it first. While a server has it, its sandboxes are reached with \
`sandkeep fs --endpoint URL --sandbox NAME` and `sandkeep sandbox --endpoint URL`";

/// Opens a store, which is made when it is missing.
pub(crate) async fn open_or_make(url: &StoreUrl) -> Result<Store> {
    open_with(url, StoreOptions::default()).await
}

/// Opens a store, which is made when it is missing, to be used in a certain way.
pub(crate) async fn open_with(url: &StoreUrl, options: StoreOptions) -> Result<Store> {
    opened(Store::open_with(&url.absolute()?, options).await, url)
}

/// Opens a store that is there. A mistyped address makes no new one.
pub(crate) async fn open(url: &StoreUrl) -> Result<Store> {
    refuse_missing(url)?;
    open_or_make(url).await
}

/// Opens what a store is kept in, whatever that is.
pub(crate) async fn open_storage(url: &StoreUrl) -> Result<Arc<dyn Storage>> {
    opened(storage::open(&url.absolute()?).await.map_err(Error::of_storage), url)
}

/// What was opened. A failure says of which store, and what to do about it.
fn opened<T>(opened: engine::Result<T>, url: &StoreUrl) -> Result<T> {
    let in_use = opened.as_ref().is_err_and(|err| err.kind() == ErrorKind::Locked);
    let opened = opened.with_context(|| format!("the store {url} cannot be opened"));
    if in_use { opened.or_hint(|| IN_USE.into()) } else { opened }
}

/// Refuses the address of a store that cannot be there.
pub(crate) fn refuse_missing(url: &StoreUrl) -> Result<()> {
    for part in url.parts() {
        let is_missing = match &part {
            StoreUrl::Memory => return Err(ends_with_its_process()).or_hint(kept_in_a_directory),
            StoreUrl::Directory(dir) => local::is_empty(dir)?,
            // SQLite takes a file without a byte for a database without a table.
            StoreUrl::File(file) => local::look(file)?.is_none_or(|found| found.len() == 0),
            StoreUrl::Other(_) => false,
        };
        if is_missing {
            let message = format!("there is no store at {part}");
            return Err(Error::new(ErrorKind::NotFound, message)).or_hint(|| {
                format!("make one: sandkeep sandbox create --store {}", quoted(&url.to_string()))
            });
        }
    }
    Ok(())
}

fn ends_with_its_process() -> Error {
    let message = "a store in memory ends with its process, and no command finds it again";
    Error::new(ErrorKind::InvalidArgument, message)
}

fn kept_in_a_directory() -> String {
    "keep it in a directory: --store file:DIR".into()
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

/// The address without links, and what of this machine it needs. Directories are made, because a
/// wall can only let through what is there.
pub(crate) fn settle(url: &StoreUrl) -> Result<(StoreUrl, Reach)> {
    let url = match url {
        StoreUrl::Directory(dir) => {
            local::make_lasting_dir(dir)?;
            StoreUrl::Directory(local::canonical(dir)?)
        }
        StoreUrl::File(file) => {
            let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
            let dir = dir.unwrap_or(Path::new("."));
            local::make_lasting_dir(dir)?;
            let name = file.file_name().context("sqlite: is followed by the path of a file")?;
            StoreUrl::File(local::canonical(dir)?.join(name))
        }
        StoreUrl::Memory | StoreUrl::Other(_) => url.clone(),
    };
    let reach = url.reach();
    Ok((url, reach))
}

/// Refuses a password where everybody on the machine can read it.
pub(crate) fn refuse_password(url: &StoreUrl) -> Result<()> {
    if !url.has_password() {
        return Ok(());
    }
    Err(anyhow!("a password on the command line is seen by everybody who lists the processes"))
        .or_hint(|| {
            "name a file of NAME=VALUE lines behind the address: ?credentials-file=FILE, with \
             PGPASSWORD or REDIS_PASSWORD in it; or put the address into SANDKEEP_STORE"
                .into()
        })
}

/// Refuses a store within the directory whose snapshots it keeps, and the reverse: clients could
/// change it, and each snapshot would hold those before it.
pub(crate) fn refuse_overlap(url: &StoreUrl, root: &Path) -> Result<()> {
    for part in url.parts() {
        let Some(path) = part.path() else { continue };
        let path = local::eventual(path)?;
        if path.starts_with(root) || root.starts_with(&path) {
            let message = format!("the store {part} and the directory lie within one another");
            return Err(Error::new(ErrorKind::InvalidArgument, message))
                .or_hint(|| "keep the snapshots elsewhere, with another --snapshots".into());
        }
    }
    Ok(())
}
