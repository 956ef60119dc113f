//! The words of `sandkeep keys`.

use clap::error::Error;
use clap::{ArgMatches, Args, Subcommand, ValueEnum};
use client::KeyWish;
use engine::{DotDot, KeyId, Role, SandboxId, SandboxPath, Scope};

use super::endpoint::EndpointFlags;
use super::files::OutputFlags;
use crate::config::{Pause, TokenWish};

pub(super) const AFTER_HELP: &str = "\
A key stands where the server's token stands: --token KEY, SANDKEEP_TOKEN, or the header
`Authorization: Bearer KEY`.

Examples:
  sandkeep keys create developer --sandbox alice --ttl 24h --label ci
  sandkeep keys list
  sandkeep keys revoke k3v9q0w8e7r6";

/// Flags of every key command.
#[derive(Args, Debug)]
pub(crate) struct KeysFlags {
    #[command(flatten)]
    pub(crate) server: EndpointFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

impl KeysFlags {
    /// Takes in what was said of the token before `keys`.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        self.server.settle(given, early)
    }
}

/// What can be done with the keys of a server.
#[derive(Subcommand, Debug)]
pub(crate) enum KeysCommand {
    /// Make a key, and print it this once
    ///
    /// Nobody can give more than he has: a key for some sandboxes makes only keys for those.
    #[command(after_help = "Examples:\n  \
        sandkeep keys create viewer\n  \
        sandkeep keys create developer --sandbox alice --sandbox bob --label ci\n  \
        sandkeep keys create developer --sandbox alice --prefix /src --ttl 1h --json")]
    Create(NewKeyFlags),

    /// List the keys, without their secrets
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  sandkeep keys list\n  sandkeep keys list --json"
    )]
    List,

    /// Show what is known of a key
    #[command(after_help = "Examples:\n  sandkeep keys show k3v9q0w8e7r6")]
    Show {
        /// Its id, the part between the underscores
        #[arg(value_parser = KeyId::parse)]
        id: KeyId,
    },

    /// Revoke keys
    ///
    /// The server refuses them at once, others on the same store within five seconds.
    #[command(after_help = "Examples:\n  sandkeep keys revoke k3v9q0w8e7r6")]
    Revoke {
        /// Their ids, the parts between the underscores
        #[arg(required = true, value_name = "ID", value_parser = KeyId::parse)]
        ids: Vec<KeyId>,
    },
}

/// What the holder of a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleWord {
    /// May look
    Viewer,
    /// May change files as well
    Developer,
    /// May do everything, and make keys
    Owner,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Viewer => Self::Viewer,
            RoleWord::Developer => Self::Developer,
            RoleWord::Owner => Self::Owner,
        }
    }
}

/// A key that is to be made.
#[derive(Args, Debug)]
pub(crate) struct NewKeyFlags {
    /// What its holder may do
    role: RoleWord,

    /// A sandbox that he may see; repeat it for more [default: all]
    #[arg(long = "sandbox", value_name = "NAME", value_parser = SandboxId::parse)]
    sandboxes: Vec<SandboxId>,

    /// The directory that he may see of each of them [default: everything]
    #[arg(long, value_name = "PATH", value_parser = directory)]
    prefix: Option<SandboxPath>,

    /// How long it is good, such as 24h [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    ttl: Option<Pause>,

    /// What it is for
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    label: String,
}

impl NewKeyFlags {
    /// The key that a server is to make.
    pub(crate) fn wish(&self) -> KeyWish {
        let scope = match &self.sandboxes[..] {
            [] => Scope::All,
            ids => Scope::Only(ids.iter().cloned().collect()),
        };
        KeyWish {
            role: self.role.into(),
            scope,
            prefix: self.prefix.clone(),
            ttl: self.ttl.map(|ttl| ttl.0),
            label: self.label.clone(),
        }
    }
}

fn directory(text: &str) -> engine::Result<SandboxPath> {
    SandboxPath::parse(text, DotDot::Refuse)
}
