//! The words of `sandkeep watch`.

use std::path::PathBuf;

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use engine::{Cursor, SandboxId, Watch};

use super::attach::AttachFlags;
use super::endpoint::EndpointFlags;
use super::files::OutputFlags;
use super::place::{Place, conflict};
use crate::config::{MAIN, StoreUrl, TokenWish};

/// Flags of `watch`.
#[derive(Args, Debug)]
pub(crate) struct WatchFlags {
    /// The directory
    #[arg(default_value = "/")]
    pub(crate) path: String,

    #[command(flatten)]
    pub(crate) server: EndpointFlags,

    /// Which sandbox of the server, or of the store
    #[arg(
        long, env = "SANDKEEP_SANDBOX", value_name = "NAME", default_value = MAIN,
        value_parser = SandboxId::parse
    )]
    pub(crate) sandbox: SandboxId,

    /// Watch this directory, without a server
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    dir: Option<PathBuf>,

    /// Watch a sandbox of this store, such as sqlite:./store.db, without a server
    #[arg(long, value_name = "URL")]
    store: Option<StoreUrl>,

    #[command(flatten)]
    attach: AttachFlags,

    /// Only the names in the directory itself, nothing beneath them
    #[arg(long)]
    shallow: bool,

    /// Begin behind the notice with this cursor, as --json tells it, and not now
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,

    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

impl WatchFlags {
    /// The tree of this machine that is meant, if it is none of a server.
    pub(crate) fn place(&self) -> Option<Place> {
        let name = self.sandbox.to_string();
        match (&self.dir, &self.store) {
            (Some(dir), _) => Some(Place::Directory { dir: dir.clone(), snapshots: None, name }),
            (None, Some(store)) => Some(Place::Sandbox { store: store.clone(), name }),
            (None, None) => self.attach.place(),
        }
    }

    /// What is watched.
    pub(crate) fn wish(&self) -> Watch {
        Watch { recursive: !self.shallow, after: self.after.clone() }
    }

    /// Takes in what was said of the token before `watch`, and refuses two trees at once.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        self.server.settle(given, early)?;
        let is_flag = |name| given.value_source(name) == Some(ValueSource::CommandLine);
        let attached = self.attach.flag().map_err(conflict)?;
        if let (Some(flag), true) = (attached, self.dir.is_some() || self.store.is_some()) {
            let message = format!("{flag} means a tree of its own: leave out --dir and --store");
            return Err(conflict(&message));
        }
        match self.place() {
            Some(place) if is_flag("endpoint") => Err(conflict(&format!(
                "{} works without a server, and --endpoint is about one",
                place.flag()
            ))),
            Some(Place::Container { .. }) if is_flag("sandbox") => {
                Err(conflict("a container and --sandbox mean two trees"))
            }
            Some(Place::Directory { .. }) if is_flag("sandbox") => {
                Err(conflict("--dir and --sandbox mean two trees"))
            }
            Some(_) | None => Ok(()),
        }
    }
}
