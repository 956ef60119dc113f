//! `sandkeep fs`: one command, on a server, in a directory or in a store.

mod change;
mod download;
mod hint;
mod list;
mod local_archive;
mod outline;
mod outward_links;
mod read;
mod search;
mod tree;
mod upload;
mod write;

use anyhow::Result;

use crate::command_line::{FilesCommand, FilesFlags};
use crate::failure::OrHint as _;
use crate::render::Output;

use tree::Tree;

/// Runs one file command.
pub(crate) fn run(flags: FilesFlags) -> Result<()> {
    let FilesFlags { connection, output, command } = flags;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(output.style());
        let done = match Tree::open(&connection).await {
            Ok(tree) => carry_out(&command, &tree, &mut out).await,
            Err(err) => Err(err),
        };
        // What was read before a failure is still worth having.
        out.flush()?;
        match done {
            Ok(()) => Ok(()),
            Err(err) => match hint::next(&err, &command, &connection) {
                Some(hint) => Err(err).or_hint(|| hint),
                None => Err(err),
            },
        }
    })
}

async fn carry_out(command: &FilesCommand, tree: &Tree, out: &mut Output) -> Result<()> {
    match command {
        FilesCommand::List(flags) => list::run(flags, tree, out).await,
        FilesCommand::Read(flags) => read::run(flags, tree, out).await,
        FilesCommand::Write(flags) => write::run(flags, tree, out).await,
        FilesCommand::Delete(flags) => change::remove(flags, tree, out).await,
        FilesCommand::Mkdir { path } => change::make_dir(path, tree, out).await,
        FilesCommand::Move(flags) => change::rename(flags, tree, out).await,
        FilesCommand::Copy(flags) => change::copy(flags, tree, out).await,
        FilesCommand::Stat { path } => list::stat(path, tree, out).await,
        FilesCommand::Upload(flags) => upload::run(flags, tree, out).await,
        FilesCommand::Download(flags) => download::run(flags, tree, out).await,
        FilesCommand::Tree(flags) => outline::run(flags, tree, out).await,
        FilesCommand::Search(flags) => search::run(flags, tree, out).await,
    }
}
