//! The words of the command line, and the help that teaches them.

mod attach;
mod connection;
mod endpoint;
mod files;
mod keys;
mod mcp;
mod place;
mod sandboxes;
mod search;
mod snapshots;
mod store;
mod stores;
mod watch;

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, Error};
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{ServeFlags, ServerFlags, StoreUrl, TokenWish, surroundings};
use crate::failure::Style;
use crate::stores::refuse_password;

pub(crate) use connection::{ConnectionFlags, DEFAULT_ENDPOINT};
pub(crate) use endpoint::EndpointFlags;
pub(crate) use files::{
    DownloadFlags, FilesCommand, FilesFlags, ListFlags, MoveFlags, ReadFlags, RemoveFlags,
    TransferFlags, TreeFlags, WriteFlags,
};
pub(crate) use keys::{KeysCommand, KeysFlags, NewKeyFlags};
pub(crate) use mcp::{CallFlags, McpFlags, Offered};
pub(crate) use place::Place;
pub(crate) use sandboxes::{Holder, NewSandboxFlags, SandboxCommand, SandboxFlags};
pub(crate) use search::{SearchAlone, SearchFlags};
pub(crate) use snapshots::{LimitFlags, SnapshotCommand, SnapshotFlags, WordFlags};
pub(crate) use store::{StoreCommand, WholeStoreFlags};
pub(crate) use stores::{CollectFlags, StatsFlags};
pub(crate) use watch::WatchFlags;

/// A file system for agent sandboxes that cannot be escaped and loses nothing it acknowledged.
#[derive(Parser, Debug)]
#[command(
    name = "sandkeep",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        sandkeep serve ./demo                             serve a directory, confined\n  \
        sandkeep serve --store file:./store               serve a virtual sandbox\n  \
        sandkeep fs list                                  look into it\n  \
        sandkeep fs --dir ./demo tree                     work on a directory without a server\n  \
        sandkeep sandbox create alice                     make another sandbox on the server\n  \
        sandkeep keys create developer --sandbox alice    let somebody work in it\n  \
        sandkeep snapshot create --store file:./store     keep a sandbox as it is now\n  \
        sandkeep mcp ./demo                               offer a directory to a model"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) early: EarlyFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that clients of the reference put before the subcommand.
#[derive(Args, Debug)]
pub(crate) struct EarlyFlags {
    #[arg(short, long = "token", id = "early_token", value_name = "TOKEN", hide = true)]
    token: Option<String>,
    #[arg(short, long = "no-token", id = "early_no_token", hide = true)]
    no_token: bool,
}

/// What can be done.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Serve one directory, confined by the kernel, or a virtual sandbox
    ///
    /// Clients speak the /v1/fs interface of sandbox-agent; no path, link or race leads them out
    /// of DIR. With --store the tree is a sandbox of a store, which touches no other file of this
    /// machine: memory: ends with the server, file:DIR stays.
    ///
    /// Every flag can also be set as a variable or as a key of sandkeep.toml, by its long name; a
    /// flag beats the environment, the environment beats the file.
    #[command(after_help = "Examples:\n  \
        sandkeep serve ./demo\n  \
        sandkeep serve --store memory:\n  \
        sandkeep serve --store file:./store --sandbox alice --max-total-size 1G\n  \
        sandkeep serve ./demo --root-prefix /workspace --max-total-size 2G\n  \
        SANDKEEP_TOKEN=secret sandkeep serve ./demo --host 0.0.0.0\n  \
        sandkeep serve ./demo --port 0 --json")]
    Serve(Box<ServeFlags>),

    /// Serve this whole machine, as `sandbox-agent server` does inside a container
    ///
    /// The root is /, relative paths begin at $HOME, and mounts are crossed: everything that this
    /// user can reach is the sandbox, but for tools the directories of the system itself. To confine
    /// clients to a directory, use `sandkeep serve DIR`.
    #[command(after_help = "Examples:\n  \
        sandkeep server --token secret --host 0.0.0.0 --port 2468\n  \
        sandkeep --no-token server")]
    Server(Box<ServerFlags>),

    /// Work with files, on a server or directly in a directory or store
    #[command(after_help = files::AFTER_HELP, subcommand_required = true)]
    Fs(Box<FilesFlags>),

    /// Look for lines in files, or for names
    ///
    /// The same as `sandkeep fs search`.
    #[command(after_help = "Examples:\n  \
        sandkeep search 'fn main' --dir ./demo\n  \
        sandkeep search -i todo src --glob '*.rs' --store file:./store\n  \
        sandkeep search --names '*.md' --json")]
    Search(Box<SearchAlone>),

    /// Keep, compare, bring back, fork and carry elsewhere what a tree holds
    #[command(after_help = snapshots::AFTER_HELP, subcommand_required = true)]
    Snapshot(Box<SnapshotFlags>),

    /// Show how much a tree holds and how much it may
    #[command(after_help = "Examples:\n  \
        sandkeep stats --store file:./store\n  \
        sandkeep stats --store file:./store --sandbox alice --json\n  \
        sandkeep stats --dir ./demo")]
    Stats(Box<StatsFlags>),

    /// Free a store of what nothing leads to any more
    ///
    /// A server does this by itself every hour. What a collection finds, the next one deletes after
    /// the grace; with --grace 0s both happen at once.
    #[command(after_help = "Examples:\n  \
        sandkeep gc --store file:./store\n  \
        sandkeep gc --grace 0s --store file:./store\n  \
        sandkeep gc --grace 0s --dry-run --store file:./store")]
    Gc(Box<CollectFlags>),

    /// Make, list, show and delete the sandboxes of a server or of a store
    #[command(after_help = sandboxes::AFTER_HELP, subcommand_required = true)]
    Sandbox(Box<SandboxFlags>),

    /// Make, list, show and revoke the keys of a server
    #[command(after_help = keys::AFTER_HELP, subcommand_required = true)]
    Keys(Box<KeysFlags>),

    /// Tell what happens in a sandbox, as it happens
    ///
    /// One line for each thing that is created, modified, removed or renamed. A watch on a server
    /// goes on by itself after a cut and tells what happened in between; where that is not known,
    /// it says `resync`. Whoever needs the state lists the tree when it has begun and after each
    /// resync.
    #[command(after_help = "Examples:\n  \
        sandkeep watch --sandbox alice\n  \
        sandkeep watch /src --sandbox alice --json\n  \
        sandkeep watch --sandbox alice --json --after v4-9f2c\n  \
        sandkeep watch --dir ./demo")]
    Watch(Box<WatchFlags>),

    /// Offer the files of a tree to a model, over standard input and output (MCP)
    ///
    /// The Model Context Protocol, as programs around a model speak it with a server that they start
    /// themselves: tools to read, write, edit, list, search and compare files, and the files as
    /// resources. Only messages are written to stdout, and log lines to stderr.
    ///
    /// A client that tells its roots is kept in those that lie in DIR; with none there, nothing can be
    /// reached (--ignore-roots leaves them out).
    #[command(after_help = mcp::AFTER_HELP)]
    Mcp(Box<McpFlags>),

    /// Check a whole store, or copy it to another
    #[command(
        subcommand_required = true,
        after_help = "Examples:\n  \
        sandkeep store check file:./store\n  \
        sandkeep store copy file:./store file:/mnt/other/store"
    )]
    Store(Box<WholeStoreFlags>),

    /// Print the description of the HTTP interface (OpenAPI 3.1)
    #[command(after_help = "Examples:\n  sandkeep openapi > openapi.json")]
    Openapi,

    /// Print the completions for a shell
    #[command(after_help = "Examples:\n  \
        sandkeep completions bash > ~/.local/share/bash-completion/completions/sandkeep\n  \
        sandkeep completions fish > ~/.config/fish/completions/sandkeep.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Print the manual page, or write the pages of all commands into a directory
    #[command(after_help = "Examples:\n  \
        sandkeep man | man -l -\n  \
        sandkeep man ~/.local/share/man/man1")]
    Man {
        /// Directory for the pages; it is made when missing
        dir: Option<PathBuf>,
    },

    /// Print the reference of the command line as Markdown (docs/cli.md)
    #[command(hide = true)]
    Reference,
}

impl Cli {
    /// The whole command line, without what is peculiar to this process.
    pub(crate) fn definition() -> clap::Command {
        plain(Self::command())
    }

    /// What the command line says, and which of it was really given. Ends the process after
    /// `--help` and after a mistake.
    pub(crate) fn read() -> (Self, ArgMatches) {
        let parsed =
            without_empty_variables(Self::definition()).try_get_matches().and_then(|matches| {
                let mut cli = Self::from_arg_matches(&matches)?;
                cli.early.check(&cli.command)?;
                let early = cli.early.wish();
                match (&mut cli.command, matches.subcommand()) {
                    (Command::Fs(flags), Some((_, given))) => {
                        flags.connection.settle(given, early)?;
                    }
                    (Command::Search(flags), Some((_, given))) => {
                        flags.connection.settle(given, early)?;
                    }
                    (Command::Sandbox(flags), Some((_, given))) => flags.settle(given, early)?,
                    (Command::Keys(flags), Some((_, given))) => flags.settle(given, early)?,
                    (Command::Watch(flags), Some((_, given))) => flags.settle(given, early)?,
                    (Command::Mcp(flags), Some((_, given))) => flags.settle(given, early)?,
                    (_, _) => {}
                }
                Ok((cli, matches))
            });
        parsed.unwrap_or_else(|err| naming_the_variable(err).exit())
    }
}

impl Command {
    /// How results and failures are shown.
    pub(crate) fn style(&self) -> Style {
        match self {
            Self::Fs(flags) => flags.output.style(),
            Self::Search(flags) => flags.output.style(),
            Self::Snapshot(flags) => flags.output.style(),
            Self::Stats(flags) => flags.output.style(),
            Self::Gc(flags) => flags.output.style(),
            Self::Sandbox(flags) => flags.output.style(),
            Self::Keys(flags) => flags.output.style(),
            Self::Watch(flags) => flags.output.style(),
            Self::Store(flags) => flags.output.style(),
            Self::Serve(_)
            | Self::Server(_)
            | Self::Mcp(_)
            | Self::Openapi
            | Self::Completions { .. }
            | Self::Man { .. }
            | Self::Reference => Style::Words,
        }
    }
}

impl EarlyFlags {
    /// What was said of the token before the subcommand.
    pub(crate) fn wish(&self) -> TokenWish {
        TokenWish { token: self.token.clone(), no_token: self.no_token.then_some(true) }
    }

    fn check(&self, command: &Command) -> Result<(), Error> {
        let given = self.token.is_some() || self.no_token;
        match command {
            Command::Serve(_)
            | Command::Server(_)
            | Command::Fs(_)
            | Command::Search(_)
            | Command::Sandbox(_)
            | Command::Keys(_)
            | Command::Watch(_)
            | Command::Mcp(_) => Ok(()),
            Command::Snapshot(_)
            | Command::Stats(_)
            | Command::Gc(_)
            | Command::Store(_)
            | Command::Openapi
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::Reference => {
                let message = "--token and --no-token are for what serves, or speaks to a server";
                if given { Err(place::conflict(message)) } else { Ok(()) }
            }
        }
    }
}

/// The same command; its help shows the names of variables and never what they hold.
fn plain(command: clap::Command) -> clap::Command {
    let is_switch = |arg: &clap::Arg| {
        arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "BOOL"))
    };
    command
        .mut_args(|arg| {
            let switch = is_switch(&arg);
            arg.hide_env_values(true).hide_possible_values(switch)
        })
        .mut_subcommands(plain)
}

/// The same command; a variable that is set to nothing is as good as unset.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &clap::Arg| {
        let name = arg.get_env().and_then(std::ffi::OsStr::to_str);
        name.is_some_and(|name| surroundings::variable_is(name, ""))
    };
    command
        .mut_args(|arg| if is_empty(&arg) { arg.env(None) } else { arg })
        .mut_subcommands(without_empty_variables)
}

/// The same error; where a variable and not a flag is to blame, it says which.
fn naming_the_variable(mut err: Error) -> Error {
    let (Some(ContextValue::String(flag)), Some(ContextValue::String(value))) =
        (err.get(ContextKind::InvalidArg), err.get(ContextKind::InvalidValue))
    else {
        return err;
    };
    let flag = flag.trim_start_matches('-');
    let name = flag.split([' ', '[', '=']).next().unwrap_or(flag);
    let variable = format!("SANDKEEP_{}", name.to_uppercase().replace('-', "_"));
    if surroundings::variable_is(&variable, value) {
        let tip = format!("the value comes from the environment variable {variable}");
        err.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    err
}

/// Refuses addresses with passwords in what everybody on the machine can read.
pub(crate) fn refuse_passwords() -> anyhow::Result<()> {
    let words = std::env::args().skip(1);
    let addresses = words.map(|word| match word.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => value.to_owned(),
        Some(_) | None => word,
    });
    addresses
        .filter_map(|word| word.parse::<StoreUrl>().ok())
        .try_for_each(|url| refuse_password(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_visible_command_shows_examples() {
        fn check(command: &clap::Command) {
            let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(shown.contains("Examples:"), "{} has no examples", command.get_name());
            command.get_subcommands().filter(|c| !c.is_hide_set()).for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn every_flag_of_serve_is_a_variable_of_the_same_name() {
        let cli = Cli::definition();
        let serve = cli.find_subcommand("serve").unwrap();
        for flag in serve.get_arguments() {
            let name = flag.get_id().as_str();
            if matches!(name, "help" | "version" | "print_config") {
                continue;
            }
            let variable = flag.get_env().unwrap_or_else(|| panic!("{name} has no variable"));
            assert_eq!(variable.to_str(), Some(&*format!("SANDKEEP_{}", name.to_uppercase())));
        }
    }
}
