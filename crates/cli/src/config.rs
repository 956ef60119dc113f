//! What the operator wants: flags, then the environment, then `sandkeep.toml`, then defaults.

mod access;
mod advertised;
mod attach;
mod ceiling;
mod confine;
mod file;
mod listen;
mod many;
mod pause;
mod reach;
mod served;
mod sharing;
mod size;
mod source;
mod store_url;
pub(crate) mod surroundings;
mod tool_limits;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};

pub(crate) use access::{Access, TokenWish};
pub(crate) use attach::{Attach, engines};
pub(crate) use ceiling::{Ceiling, LimitWish};
pub(crate) use confine::{Confine, Durability, MAIN};
pub(crate) use file::FoundFile;
pub(crate) use listen::{Listen, LogFormat};
pub(crate) use many::Many;
pub(crate) use pause::Pause;
pub(crate) use reach::Reach;
pub(crate) use sharing::Sharing;
pub(crate) use size::Size;
pub(crate) use store_url::StoreUrl;
pub(crate) use tool_limits::ToolLimits;

use file::{ConfigFile, TOOLS};
use source::{Source, Sources};

/// The flags of `serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeFlags {
    #[command(flatten)]
    confine: Confine,
    #[command(flatten)]
    attach: Attach,
    #[command(flatten)]
    sharing: Sharing,
    #[command(flatten)]
    many: Many,
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    tools: ToolLimits,

    /// Configuration file [default: ./sandkeep.toml, else sandkeep/sandkeep.toml in
    /// $XDG_CONFIG_HOME]
    #[arg(long, env = "SANDKEEP_CONFIG", value_name = "FILE", help_heading = "Configuration")]
    config: Option<PathBuf>,

    /// Print the settings in force and where each comes from, and serve nothing
    #[arg(long, help_heading = "Configuration")]
    pub(crate) print_config: bool,
}

/// The flags of `server`: those of the reference, and how much the tools may do.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerFlags {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    tools: ToolLimits,

    /// Accepted for compatibility: there is no telemetry
    #[arg(long, help_heading = "Compatibility")]
    no_telemetry: bool,
}

/// Everything that `serve` needs to know.
#[derive(Debug)]
pub(crate) struct ServeSettings {
    /// Where to listen, and what to log.
    pub(crate) listen: Listen,
    /// What to serve.
    pub(crate) confine: Confine,
    /// What of containers to serve.
    pub(crate) attach: Attach,
    /// How a store is used.
    pub(crate) sharing: Sharing,
    /// How other sandboxes are kept.
    pub(crate) many: Many,
    /// How much the tools may do.
    pub(crate) tools: ToolLimits,
    /// Who may call.
    pub(crate) access: Access,
    /// The keys of the configuration file.
    in_file: Vec<String>,
    /// The configuration file that was read.
    pub(crate) file: Option<FoundFile>,
}

/// Everything that `server` needs to know.
#[derive(Debug)]
pub(crate) struct ServerSettings {
    /// Where to listen, and what to log.
    pub(crate) listen: Listen,
    /// How much the tools may do.
    pub(crate) tools: ToolLimits,
    /// Who may call.
    pub(crate) access: Access,
}

impl ServeSettings {
    /// The settings in force. `matches` tells which flags were really given; `early` is what was
    /// said of the token before the subcommand.
    pub(crate) fn load(flags: ServeFlags, matches: &ArgMatches, early: TokenWish) -> Result<Self> {
        let file = ConfigFile::load(flags.config.as_deref())?;
        let in_file =
            TokenWish { token: file.listen.token.clone(), no_token: file.listen.no_token };
        let (given, environment) = by_source(&flags.listen, matches);
        let access = Access::choose([given.over(early)?, environment, in_file])?;
        let sources = Sources { matches, in_file: &file.keys };
        let mut confine = flags.confine.over(file.confine);
        let attach = flags.attach.over(file.attach).settled(&mut confine, sources)?;
        let is_attached = attach.container.is_some() || attach.pid.is_some();
        let confine = match is_attached {
            true => confine.or_usual_of_container(),
            false => confine.settled(sources)?.or_usual(),
        };
        let sharing = flags.sharing.over(file.sharing).settled(confine.store.as_ref(), sources)?;
        Ok(Self {
            listen: flags.listen.over(file.listen).over(Listen::usual()),
            confine,
            attach: attach.over(Attach::usual()),
            sharing,
            many: flags.many.over(file.many).over(Many::usual()),
            tools: flags.tools.over(file.tools),
            access,
            in_file: file.keys,
            file: file.source,
        })
    }

    /// The settings in force as a configuration file, each with its source. A token is not shown.
    pub(crate) fn describe(&self, matches: &ArgMatches) -> Result<String> {
        let mut table = toml::Table::try_from(&self.confine)?;
        table.extend(toml::Table::try_from(&self.attach)?);
        table.extend(toml::Table::try_from(&self.sharing)?);
        table.extend(toml::Table::try_from(&self.many)?);
        table.extend(toml::Table::try_from(&self.listen)?);
        let sources = Sources { matches, in_file: &self.in_file };
        let mut text = lines(&table, &file::keys(), "", sources)?;
        writeln!(text, "\n[{TOOLS}]")?;
        let table = toml::Table::try_from(&self.tools)?;
        text += &lines(&table, &file::tool_keys(), TOOLS, sources)?;
        Ok(text)
    }
}

/// One line a key of a table, whose flags begin with a word.
fn lines(table: &toml::Table, keys: &[String], word: &str, sources: Sources<'_>) -> Result<String> {
    let mut text = String::new();
    for key in keys {
        let flag = if word.is_empty() { key.clone() } else { format!("{word}-{key}") };
        let source = sources.of(&flag);
        match table.get(key) {
            Some(_) if key == "token" => writeln!(text, "# {key} is hidden  # {source}")?,
            Some(value) => writeln!(text, "{key} = {value}  # {source}")?,
            None => writeln!(text, "# {key} is not set  # {source}")?,
        }
    }
    Ok(text)
}

impl ServerSettings {
    /// The settings in force: flags, then the environment. There is no file, so that nothing in
    /// the machine's own tree changes what the command line says.
    pub(crate) fn load(flags: ServerFlags, matches: &ArgMatches, early: TokenWish) -> Result<Self> {
        let (given, environment) = by_source(&flags.listen, matches);
        let access = Access::choose([given.over(early)?, environment])?;
        Ok(Self { listen: flags.listen.over(Listen::usual()), tools: flags.tools, access })
    }
}

/// What flags and environment each say of the token.
fn by_source(listen: &Listen, matches: &ArgMatches) -> (TokenWish, TokenWish) {
    let from = |source: ValueSource| TokenWish {
        token: listen.token.clone().filter(|_| matches.value_source("token") == Some(source)),
        no_token: listen.no_token.filter(|_| matches.value_source("no_token") == Some(source)),
    };
    (from(ValueSource::CommandLine), from(ValueSource::EnvVariable))
}
