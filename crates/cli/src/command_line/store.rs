//! The words of `sandkeep store`.

use clap::{Args, Subcommand};
use engine::SandboxId;

use super::files::OutputFlags;
use crate::config::StoreUrl;

/// Flags of every store command.
#[derive(Args, Debug)]
pub(crate) struct WholeStoreFlags {
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// What can be done with a whole store.
#[derive(Subcommand, Debug)]
pub(crate) enum StoreCommand {
    /// Read everything that the sandboxes of a store hold, and say what is wrong with it
    ///
    /// Every page and every piece of every file, now and in all snapshots: whether it is there, is
    /// what was stored, and adds up. Nothing is changed. Ends with 1 when there are problems, and
    /// says which sandbox and which path is hit.
    #[command(after_help = "Examples:\n  \
        sandkeep store check file:./store\n  \
        sandkeep store check file:./store --sandbox alice --json")]
    Check {
        /// The store, such as file:./store
        #[arg(value_name = "URL")]
        url: StoreUrl,
        /// Only this sandbox and its snapshots
        #[arg(long, value_name = "NAME", value_parser = SandboxId::parse)]
        sandbox: Option<SandboxId>,
    },

    /// Copy a store with everything in it to another, which is empty
    ///
    /// The same command goes on with a copy that broke off: what arrived is not sent again, and
    /// nobody can use the copy before it is whole. Where several may have a store open, it may be in
    /// use while it is copied; each sandbox is then copied as it was at some moment. Sandboxes keep
    /// their names, snapshots and limits.
    #[command(after_help = "Examples:\n  \
        sandkeep store copy file:./store file:/mnt/other/store\n  \
        sandkeep store copy file:./store file:/mnt/other/store && \\\n    \
        sandkeep store check file:/mnt/other/store")]
    Copy {
        /// The store to copy, such as file:./store
        from: StoreUrl,
        /// Where to, such as file:/mnt/other/store
        to: StoreUrl,
    },
}
