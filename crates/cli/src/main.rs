//! The `sandkeep` command: parse, wire, run.

mod command_line;
mod config;
mod failure;
mod files;
mod local;
mod reference;
mod render;
mod serve;
mod staging;

use std::process::ExitCode;

use anyhow::Result;
use clap::ArgMatches;

use command_line::{Cli, Command};
use config::{ServeSettings, ServerSettings};
use failure::Style;

fn main() -> ExitCode {
    let (cli, matches) = Cli::read();
    let json = matches!(&cli.command, Command::Fs(flags) if flags.output.json);
    let style = if json { Style::Json } else { Style::Words };
    match run(cli, &matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => failure::report(&err, style),
    }
}

fn run(cli: Cli, matches: &ArgMatches) -> Result<()> {
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
        Command::Openapi => reference::openapi(),
        Command::Completions { shell } => reference::completions(shell),
        Command::Man { dir } => reference::manual(dir.as_deref()),
        Command::Reference => reference::markdown(),
    }
}
