//! `sandkeep store`: a store as a whole.

mod check;
mod copy;

use anyhow::Result;

use crate::command_line::{StoreCommand, WholeStoreFlags};
use crate::render::Output;

/// Runs one store command.
pub(crate) fn run(flags: &WholeStoreFlags) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        match &flags.command {
            StoreCommand::Check { url, sandbox } => {
                check::run(url, sandbox.as_ref(), &mut out).await
            }
            StoreCommand::Copy { from, to } => copy::run(from, to, &mut out).await,
        }
    })
}
