//! Which tree a file command works on: of a server, or of this machine.

use std::path::PathBuf;

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use engine::{SandboxId, SnapshotId};

use super::attach::AttachFlags;
use super::place::{Place, conflict};
use crate::config::{MAIN, StoreUrl, TokenWish};

/// Where a server listens when nobody says otherwise.
pub(crate) const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:2468";

/// Which tree is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConnectionFlags {
    /// URL of the server
    #[arg(
        short, long, env = "SANDKEEP_ENDPOINT", value_name = "URL", global = true,
        default_value = DEFAULT_ENDPOINT
    )]
    pub(crate) endpoint: String,

    /// Token of the server, or a key
    #[arg(
        short,
        long,
        env = "SANDKEEP_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        global = true
    )]
    pub(crate) token: Option<String>,

    /// Session whose working directory relative paths begin at
    #[arg(long, env = "SANDKEEP_SESSION_ID", value_name = "ID", global = true)]
    pub(crate) session_id: Option<String>,

    /// Work directly in this directory, without a server
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,

    /// Work directly in a sandbox of this store, such as file:./store, without a server
    #[arg(long, value_name = "URL", global = true)]
    store: Option<StoreUrl>,

    #[command(flatten)]
    attach: AttachFlags,

    /// Which sandbox of the server, or of the store [default: main]
    #[arg(long, value_name = "NAME", global = true, value_parser = SandboxId::parse)]
    sandbox: Option<SandboxId>,

    /// Store that keeps the snapshots of DIR
    #[arg(long, value_name = "URL", global = true)]
    snapshots: Option<StoreUrl>,

    /// Look into this snapshot instead of the tree as it is now
    #[arg(long, value_name = "SNAPSHOT", global = true, value_parser = SnapshotId::parse)]
    pub(crate) at: Option<SnapshotId>,
}

impl ConnectionFlags {
    /// The tree of this machine that is meant, if it is none of a server.
    pub(crate) fn place(&self) -> Option<Place> {
        let name = self.sandbox.as_ref().map_or_else(|| MAIN.into(), ToString::to_string);
        match (&self.dir, &self.store) {
            (Some(dir), _) => {
                let (dir, snapshots) = (dir.clone(), self.snapshots.clone());
                Some(Place::Directory { dir, snapshots, name })
            }
            (None, Some(store)) => Some(Place::Sandbox { store: store.clone(), name }),
            (None, None) => self.attach.place(),
        }
    }

    /// The sandbox of a server that is meant, if one is named.
    pub(crate) fn sandbox_of_server(&self) -> Option<&SandboxId> {
        self.sandbox.as_ref().filter(|_| self.place().is_none())
    }

    /// Takes in what was said of the token before the subcommand, which beats the environment, and
    /// refuses two trees at once.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        settle_token(&mut self.token, given, early)?;
        let is_flag = |name| given.value_source(name) == Some(ValueSource::CommandLine);
        if self.sandbox_of_server().is_some() && is_flag("session_id") {
            let message = "with --sandbox, paths begin at the root: leave out --session-id";
            return Err(conflict(message));
        }
        let on_server = ["endpoint", "session_id"].into_iter().find(|name| is_flag(name));
        match self.local_flag()? {
            Some(local) => self.check_local(local, on_server),
            None => self.check_server(),
        }
    }

    /// The flag that means a tree of this machine, if there is one.
    fn local_flag(&self) -> Result<Option<&'static str>, Error> {
        let attached = self.attach.flag().map_err(conflict)?;
        match (&self.dir, &self.store, attached) {
            (Some(_), Some(_), _) => Err(conflict("--dir and --store mean two trees")),
            (Some(_), None, Some(flag)) | (None, Some(_), Some(flag)) => Err(conflict(&format!(
                "{flag} means a tree of its own: leave out --dir and --store"
            ))),
            (Some(_), None, None) => Ok(Some("--dir")),
            (None, Some(_), None) => Ok(Some("--store")),
            (None, None, attached) => Ok(attached),
        }
    }

    fn check_local(&self, local: &str, on_server: Option<&str>) -> Result<(), Error> {
        if let Some(name) = on_server {
            let flag = name.replace('_', "-");
            let message = format!("{local} works without a server, and --{flag} is about one");
            return Err(conflict(&message));
        }
        if self.store.is_some() && self.snapshots.is_some() {
            let message = "a sandbox of --store keeps its snapshots there, not in --snapshots";
            return Err(conflict(message));
        }
        let kept = [("--sandbox", self.sandbox.is_some()), ("--at", self.at.is_some())];
        let of_container = [("--snapshots", self.snapshots.is_some())];
        let idle = kept.into_iter().chain(of_container).find(|(_, is_set)| *is_set);
        if let (Some((flag, _)), true) = (idle, self.dir.is_none() && self.store.is_none()) {
            let message = format!(
                "{flag} does nothing with {local}: a server keeps snapshots of a container"
            );
            return Err(conflict(&message));
        }
        match kept.into_iter().find(|(_, is_set)| *is_set) {
            Some((flag, _)) if self.dir.is_some() && self.snapshots.is_none() => {
                Err(conflict(&format!("with --dir, {flag} needs --snapshots")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn check_server(&self) -> Result<(), Error> {
        if self.snapshots.is_some() {
            return Err(conflict("--snapshots works without a server: give --dir"));
        }
        if self.at.is_some() && self.sandbox.is_none() {
            return Err(conflict("--at needs a tree: give --sandbox, --store, or --dir"));
        }
        Ok(())
    }
}

/// The token after what was said of it behind and before the subcommand. Both beat the environment.
pub(super) fn settle_token(
    token: &mut Option<String>,
    given: &ArgMatches,
    early: TokenWish,
) -> Result<(), Error> {
    let is_flag = given.value_source("token") == Some(ValueSource::CommandLine);
    let late = token.clone().filter(|_| is_flag);
    let wish = TokenWish { token: late, no_token: None }.over(early)?;
    if wish.token.is_some() || wish.no_token == Some(true) {
        *token = wish.token;
    }
    *token = token.take().filter(|token| !token.is_empty());
    Ok(())
}
