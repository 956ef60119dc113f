//! The words of `sandkeep stats`, `sandkeep sandbox` and `sandkeep gc`.

use std::time::Duration;

use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory as _, Subcommand};
use engine::SandboxId;

use super::Cli;
use super::files::OutputFlags;
use super::place::{Place, PlaceFlags};
use super::snapshots::LimitFlags;
use crate::config::{MAIN, StoreUrl};

/// Flags of `stats`.
#[derive(Args, Debug)]
pub(crate) struct StatsFlags {
    #[command(flatten)]
    place: PlaceFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

impl StatsFlags {
    /// The tree that is meant.
    pub(crate) fn place(&self, given: &ArgMatches) -> Result<Place, Error> {
        self.place.settle(given)
    }
}

/// Flags of `gc`.
#[derive(Args, Debug)]
pub(crate) struct CollectFlags {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// How long what nothing leads to stays after it was written and after it was found, such as
    /// 30m or 0s
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = grace)]
    pub(crate) grace: Duration,
    /// Say what would be deleted, and delete nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Flags of every sandbox command.
#[derive(Args, Debug)]
pub(crate) struct SandboxFlags {
    #[command(flatten)]
    pub(crate) store: StoreFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

/// Which store is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct StoreFlags {
    /// The store, such as file:./store
    #[arg(
        long = "store",
        env = "SANDKEEP_STORE",
        hide_env_values = true,
        value_name = "URL",
        global = true
    )]
    url: Option<StoreUrl>,
}

impl StoreFlags {
    /// The store that is meant.
    pub(crate) fn url(&self) -> Result<&StoreUrl, Error> {
        self.url.as_ref().ok_or_else(|| {
            let message = "say which store: --store URL, such as file:./store";
            Cli::command().error(ErrorKind::MissingRequiredArgument, message)
        })
    }
}

/// What can be done with the sandboxes of a store.
#[derive(Subcommand, Debug)]
pub(crate) enum SandboxCommand {
    /// Make an empty sandbox
    ///
    /// The store is made when it is missing. `sandkeep serve --store` makes its sandbox by itself.
    #[command(after_help = "Examples:\n  \
        sandkeep sandbox create --store file:./store\n  \
        sandkeep sandbox create small --max-total-size 100MiB --max-nodes 1000 --store file:./store")]
    Create {
        /// Its name
        #[arg(default_value = MAIN, value_parser = SandboxId::parse)]
        name: SandboxId,
        #[command(flatten)]
        limits: LimitFlags,
    },

    /// List the sandboxes and how much each holds
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  \
        sandkeep sandbox list --store file:./store\n  \
        sandkeep sandbox list --json --store file:./store"
    )]
    List,

    /// Remove sandboxes with their files and snapshots; forks of them stay
    ///
    /// On a terminal you are asked first. What only they held is freed by the next garbage
    /// collection (`sandkeep gc`).
    #[command(
        visible_alias = "rm",
        after_help = "Examples:\n  sandkeep sandbox remove experiment --store file:./store"
    )]
    Remove {
        /// Which
        #[arg(required = true, value_name = "NAME", value_parser = SandboxId::parse)]
        names: Vec<SandboxId>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

fn grace(text: &str) -> Result<Duration, String> {
    let parsed: Option<jiff::SignedDuration> = text.parse().ok();
    let time = parsed.and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| "a time is a number and a unit, such as 0s, 30m or 1h".into())
}
