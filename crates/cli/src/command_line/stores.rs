//! The words of `sandkeep stats` and `sandkeep gc`.

use std::time::Duration;

use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory as _};

use super::Cli;
use super::files::OutputFlags;
use super::place::{Place, PlaceFlags};
use crate::config::StoreUrl;

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

fn grace(text: &str) -> Result<Duration, String> {
    let parsed: Option<jiff::SignedDuration> = text.parse().ok();
    let time = parsed.and_then(|time| Duration::try_from(time).ok());
    time.ok_or_else(|| "a time is a number and a unit, such as 0s, 30m or 1h".into())
}
