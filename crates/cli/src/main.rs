//! The `sandkeep` command: parse, wire, run.

// The futures of commands hold those of every storage driver.
#![recursion_limit = "256"]

mod ask;
mod body;
mod command_line;
mod config;
mod failure;
mod files;
mod gc;
mod keys;
mod local;
mod progress;
mod reference;
mod remote;
mod render;
mod sandboxes;
mod serve;
mod snapshot;
mod staging;
mod stats;
mod store;
mod stores;
mod trees;
mod watch;

use std::process::ExitCode;

use anyhow::Result;
use clap::ArgMatches;

use command_line::{Cli, Command};
use config::{ServeSettings, ServerSettings};

fn main() -> ExitCode {
    let (cli, matches) = Cli::read();
    let style = cli.command.style();
    match run(cli, &matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => failure::report(&err, style),
    }
}

fn run(cli: Cli, matches: &ArgMatches) -> Result<()> {
    command_line::refuse_passwords()?;
    let (early, given) = (cli.early.wish(), matches.subcommand().map_or(matches, |(_, own)| own));
    match cli.command {
        Command::Serve(flags) => {
            let only_print = flags.print_config;
            let settings = ServeSettings::load(*flags, given, early)?;
            if only_print {
                return reference::print(settings.describe(given)?.as_bytes());
            }
            serve::serve(settings)
        }
        Command::Server(flags) => serve::server(ServerSettings::load(*flags, given, early)?),
        Command::Fs(flags) => files::run(*flags),
        Command::Search(flags) => files::run(flags.into()),
        Command::Snapshot(flags) => snapshot::run(&flags, given),
        Command::Stats(flags) => stats::run(&flags, given),
        Command::Gc(flags) => gc::run(&flags),
        Command::Sandbox(flags) => sandboxes::run(&flags),
        Command::Keys(flags) => keys::run(&flags),
        Command::Watch(flags) => watch::run(&flags),
        Command::Mcp(flags) => serve::mcp(&flags),
        Command::Store(flags) => store::run(&flags),
        Command::Openapi => reference::openapi(),
        Command::Completions { shell } => reference::completions(shell),
        Command::Man { dir } => reference::manual(dir.as_deref()),
        Command::Reference => reference::markdown(),
    }
}
