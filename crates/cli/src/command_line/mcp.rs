//! The words of `sandkeep mcp`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::error::{Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _};
use engine::SandboxId;
use tools::TextEncoding;

use super::Cli;
use super::connection::settle_token;
use super::place::conflict;
use crate::config::{LogFormat, MAIN, Pause, Size, StoreUrl, TokenWish};

pub(super) const AFTER_HELP: &str = r#"Examples:
  sandkeep mcp ./project
  sandkeep mcp ./project --read-only --blocked-path .git
  sandkeep mcp ./project --snapshots file:./kept
  sandkeep mcp --store file:./store --sandbox alice
  SANDKEEP_TOKEN=secret sandkeep mcp --endpoint http://127.0.0.1:2468 --sandbox alice

A client starts the program itself. Most of them read a file such as this one:
  {
    "mcpServers": {
      "files": { "command": "sandkeep", "args": ["mcp", "/home/me/project"] }
    }
  }

A server of `sandkeep serve` speaks the same over HTTP, at /mcp."#;

/// Flags of `mcp`.
#[derive(Args, Debug)]
pub(crate) struct McpFlags {
    /// Directory to offer; no path, link or race leads out of it
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Offer a sandbox of this store instead, such as file:./store
    #[arg(long, env = "SANDKEEP_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,

    /// Offer a sandbox of this server instead
    #[arg(short, long, env = "SANDKEEP_ENDPOINT", value_name = "URL")]
    endpoint: Option<String>,

    /// Token of the server, or a key
    #[arg(short, long, env = "SANDKEEP_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,

    /// Which sandbox of the store or the server; what the directory is called
    #[arg(
        long, env = "SANDKEEP_SANDBOX", value_name = "NAME", default_value = MAIN,
        value_parser = SandboxId::parse
    )]
    pub(crate) sandbox: SandboxId,

    /// Store that keeps snapshots of DIR; without it the tools for them are not offered
    #[arg(long, env = "SANDKEEP_SNAPSHOTS", hide_env_values = true, value_name = "URL")]
    snapshots: Option<StoreUrl>,

    /// Absolute path at which the client sees the tree, such as /workspace
    /// [default: DIR's own absolute path; / for a sandbox]
    #[arg(long, value_name = "PATH")]
    pub(crate) root_prefix: Option<String>,

    #[command(flatten)]
    pub(crate) limits: CallFlags,

    /// Do not ask the client for its roots, which otherwise narrow what of DIR can be reached
    #[arg(long, help_heading = "What calls may do")]
    pub(crate) ignore_roots: bool,

    /// Do without Landlock, the second wall around what the program itself can reach
    #[arg(long)]
    pub(crate) no_landlock: bool,

    /// What to log on stderr: error, warn, info, debug, or a filter such as
    /// `info,sandkeep_server=debug`
    #[arg(long, env = "SANDKEEP_LOG", value_name = "FILTER", default_value = "warn")]
    pub(crate) log: String,

    /// How log lines look
    #[arg(long, env = "SANDKEEP_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// How much calls of tools may do, and where.
#[derive(Args, Debug)]
#[command(next_help_heading = "What calls may do")]
pub(crate) struct CallFlags {
    /// Only look: no tool that changes anything is offered
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Path that calls may look at and change, with all beneath it; repeat it for others
    /// [default: everything]
    #[arg(long, value_name = "PATH")]
    pub(crate) allowed_path: Vec<String>,

    /// Path that they may not, even if it is allowed; repeat it for others
    #[arg(long, value_name = "PATH")]
    pub(crate) blocked_path: Vec<String>,

    /// How text is read and written where a call does not say: auto, base64, or a name such as utf-8
    #[arg(long, value_name = "ENCODING", default_value = "auto", value_parser = encoding)]
    pub(crate) default_encoding: TextEncoding,

    /// The longest file that is read whole or written [default: 16MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_file_size: Option<Size>,

    /// How much content one answer holds; the rest comes in parts [default: 64KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_result_bytes: Option<Size>,

    /// How long a call may take [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Pause>,

    /// How many levels beneath a directory are looked at [default: 16]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_depth: Option<NonZero<usize>>,

    /// How many entries one answer holds [default: 1000]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_entries: Option<NonZero<usize>>,
}

/// The tree that is offered.
#[derive(Clone, Debug)]
pub(crate) enum Offered {
    /// A directory of this machine, and the store of its snapshots.
    Directory(PathBuf, Option<StoreUrl>),
    /// A sandbox of a store.
    Stored(StoreUrl),
    /// A sandbox of a server.
    Served { endpoint: String, token: Option<String> },
}

impl McpFlags {
    /// Takes in what was said of the token before `mcp`, and refuses two trees at once. What was
    /// named beats what is in the environment.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        settle_token(&mut self.token, given, early)?;
        let is_flag = |name| given.value_source(name) == Some(ValueSource::CommandLine);
        let named = [("DIR", "dir"), ("--store", "store"), ("--endpoint", "endpoint")];
        let named: Vec<_> = named.into_iter().filter(|(_, name)| is_flag(name)).collect();
        if let [(one, _), (other, _), ..] = named.as_slice() {
            return Err(conflict(&format!("{one} and {other} mean two trees")));
        }
        if let [(_, name)] = named.as_slice() {
            self.dir.take_if(|_| *name != "dir");
            self.store.take_if(|_| *name != "store");
            self.endpoint.take_if(|_| *name != "endpoint");
        }
        if is_flag("snapshots") && self.dir.is_none() {
            return Err(conflict("--snapshots is for DIR: a sandbox keeps its own"));
        }
        let too_small = [self.limits.max_file_size, self.limits.max_result_bytes];
        if too_small.contains(&Some(Size(0)))
            || self.limits.timeout.is_some_and(|it| it.0.is_zero())
        {
            let message = "--max-file-size, --max-result-bytes and --timeout are more than nothing";
            return Err(Cli::command().error(ErrorKind::InvalidValue, message));
        }
        self.offered().map(drop)
    }

    /// The tree that is offered.
    pub(crate) fn offered(&self) -> Result<Offered, Error> {
        match (&self.dir, &self.store, &self.endpoint) {
            (Some(dir), _, _) => Ok(Offered::Directory(dir.clone(), self.snapshots.clone())),
            (None, Some(store), _) => Ok(Offered::Stored(store.clone())),
            (None, None, Some(endpoint)) => {
                Ok(Offered::Served { endpoint: endpoint.clone(), token: self.token.clone() })
            }
            (None, None, None) => {
                let message = "say which tree: DIR, --store URL, or --endpoint URL";
                Err(Cli::command().error(ErrorKind::MissingRequiredArgument, message))
            }
        }
    }
}

fn encoding(text: &str) -> engine::Result<TextEncoding> {
    TextEncoding::named(text)
}
