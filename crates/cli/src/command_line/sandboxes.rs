//! The words of `sandkeep sandbox`.

use std::collections::BTreeMap;

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Subcommand, ValueEnum};
use engine::{
    AttachTarget, ContainerName, DotDot, Limits, NewKind, NewSandbox, Point, SandboxId,
    SandboxPath, SnapshotId,
};

use super::endpoint::EndpointFlags;
use super::files::OutputFlags;
use super::place::conflict;
use super::snapshots::{LimitFlags, label};
use crate::config::{Pause, StoreUrl, TokenWish};

pub(super) const AFTER_HELP: &str = "\
Without --store, the sandboxes of a server are meant.

Examples:
  sandkeep sandbox create alice --max-total-size 1G --label team=blue
  sandkeep sandbox create --from alice@v1 --ttl 1h --json
  sandkeep sandbox list --endpoint http://10.0.0.7:2468 --token secret
  sandkeep sandbox list --store file:./store";

/// Flags of every sandbox command.
#[derive(Args, Debug)]
pub(crate) struct SandboxFlags {
    #[command(flatten)]
    server: EndpointFlags,
    /// A store instead of a server, such as file:./store; it must not be open in a server
    #[arg(long, env = "SANDKEEP_STORE", hide_env_values = true, value_name = "URL", global = true)]
    store: Option<StoreUrl>,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

/// What holds the sandboxes that are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    /// A server.
    Server(&'a EndpointFlags),
    /// A store, without a server.
    Store(&'a StoreUrl),
}

impl SandboxFlags {
    /// What holds the sandboxes that are meant.
    pub(crate) fn holder(&self) -> Holder<'_> {
        self.store.as_ref().map_or(Holder::Server(&self.server), Holder::Store)
    }

    /// Takes in what was said of the token before `sandbox`, and refuses two holders at once. A flag
    /// beats the environment.
    pub(super) fn settle(&mut self, given: &ArgMatches, early: TokenWish) -> Result<(), Error> {
        self.server.settle(given, early)?;
        match ["store", "endpoint"].map(|name| given.value_source(name)) {
            [Some(ValueSource::CommandLine), Some(ValueSource::CommandLine)] => {
                return Err(conflict(
                    "--store works without a server, and --endpoint is about one",
                ));
            }
            [Some(ValueSource::EnvVariable), Some(ValueSource::CommandLine)] => self.store = None,
            [Some(ValueSource::EnvVariable), Some(ValueSource::EnvVariable)] => {
                let message = "SANDKEEP_STORE and SANDKEEP_ENDPOINT are both set: \
                    say which is meant with --store or --endpoint";
                return Err(conflict(message));
            }
            [_, _] => {}
        }
        match (self.holder(), self.command.only_on_a_server()) {
            (Holder::Store(_), Some(flag)) => Err(conflict(&format!(
                "{flag} is for the sandboxes of a server: give --endpoint instead of --store"
            ))),
            (Holder::Server(_) | Holder::Store(_), _) => Ok(()),
        }
    }
}

/// What can be done with sandboxes.
#[derive(Subcommand, Debug)]
pub(crate) enum SandboxCommand {
    /// Make a sandbox
    ///
    /// It is empty, or begins as a copy of another. A store is made when it is missing; `sandkeep
    /// serve --store` makes its own sandbox by itself.
    #[command(after_help = "Examples:\n  \
        sandkeep sandbox create alice\n  \
        sandkeep sandbox create --ttl 30m --label by=ci --json\n  \
        sandkeep sandbox create experiment --from alice@before-upgrade\n  \
        sandkeep sandbox create build --kind host --root build --prefix /workspace\n  \
        sandkeep sandbox create web --container web --container-path /workspace\n  \
        sandkeep sandbox create small --max-total-size 100MiB --max-nodes 1000 --store file:./store")]
    Create(Box<NewSandboxFlags>),

    /// List the sandboxes
    ///
    /// Those of a server with what is known of each, those of a store with how much each holds.
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  \
        sandkeep sandbox list\n  \
        sandkeep sandbox list --label team=blue --label by --json\n  \
        sandkeep sandbox list --store file:./store"
    )]
    List {
        /// Only those with this label: KEY=VALUE, or KEY with any value; repeat it for more
        #[arg(short, long = "label", value_name = "LABEL", value_parser = wanted_label)]
        labels: Vec<(String, Option<String>)>,
    },

    /// Show what is known of a sandbox, and how much it holds
    #[command(after_help = "Examples:\n  \
        sandkeep sandbox show alice\n  \
        sandkeep sandbox show alice --json --store file:./store")]
    Show {
        /// Which
        #[arg(value_parser = SandboxId::parse)]
        name: SandboxId,
    },

    /// Delete sandboxes with their files and snapshots; forks of them stay
    ///
    /// On a terminal you are asked first. What only they held in a store is freed by the next
    /// garbage collection. A directory goes only if it was made for the sandbox.
    #[command(
        visible_aliases = ["remove", "rm"],
        after_help = "Examples:\n  \
        sandkeep sandbox delete experiment\n  \
        sandkeep sandbox delete one two --yes --store file:./store"
    )]
    Delete {
        /// Which
        #[arg(required = true, value_name = "NAME", value_parser = SandboxId::parse)]
        names: Vec<SandboxId>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

impl SandboxCommand {
    /// The first flag that means nothing without a server.
    fn only_on_a_server(&self) -> Option<&'static str> {
        match self {
            Self::Create(flags) => flags.only_on_a_server(),
            Self::List { labels } => (!labels.is_empty()).then_some("--label"),
            Self::Show { .. } | Self::Delete { .. } => None,
        }
    }
}

/// How the tree of a new sandbox is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindWord {
    /// In the server's store, isolated from every machine
    Virtual,
    /// In a directory of the server's machine, confined by the kernel
    Host,
}

/// A sandbox that is to be made.
#[derive(Args, Debug)]
pub(crate) struct NewSandboxFlags {
    /// Its name [default: main in a store; a server makes one up and it is printed]
    #[arg(value_parser = SandboxId::parse)]
    pub(crate) name: Option<SandboxId>,

    /// How its tree is kept [default: host with --root, --container or --pid, else virtual]
    #[arg(long)]
    kind: Option<KindWord>,

    /// Directory of the server's machine, beneath one that its operator allowed
    #[arg(long, value_name = "DIR")]
    root: Option<String>,

    /// Docker or Podman container of the server's machine, by name or id, whose tree it is
    #[arg(long, value_name = "NAME", value_parser = ContainerName::parse,
        conflicts_with_all = ["root", "from", "pid"])]
    container: Option<ContainerName>,

    /// Process of the server's machine whose root is the tree, until it ends
    #[arg(long, value_name = "PID", conflicts_with_all = ["root", "from"])]
    pid: Option<u32>,

    /// Directory of the container at which the tree begins [default: /]
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    container_path: Option<SandboxPath>,

    /// Absolute path at which clients of /v1/fs see the tree
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    prefix: Option<SandboxPath>,

    /// Begin as a copy of another sandbox, as it is now or in a snapshot
    #[arg(
        long, value_name = "SANDBOX[@SNAPSHOT]", value_parser = origin, conflicts_with = "root"
    )]
    pub(crate) from: Option<(SandboxId, Point)>,

    /// What a program wants to know about it; repeat it for more
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// How long it lives, such as 30m [default: for ever]
    #[arg(long, value_name = "TIME")]
    ttl: Option<Pause>,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
}

impl NewSandboxFlags {
    /// The sandbox that a server is to make.
    pub(crate) fn wish(&self, limits: Option<Limits>) -> Result<NewSandbox, Error> {
        Ok(NewSandbox {
            id: self.name.clone(),
            kind: self.new_kind()?,
            prefix: self.prefix.clone().unwrap_or_else(SandboxPath::root),
            limits,
            labels: self.labels.iter().cloned().collect::<BTreeMap<_, _>>(),
            ttl: self.ttl.map(|ttl| ttl.0),
        })
    }

    fn new_kind(&self) -> Result<NewKind, Error> {
        let target = match (&self.container, self.pid) {
            (Some(name), _) => Some(AttachTarget::Container(name.clone())),
            (None, Some(pid)) => Some(AttachTarget::Process { pid, birth: None }),
            (None, None) => None,
        };
        match (target, &self.container_path) {
            (Some(_), _) if self.kind == Some(KindWord::Virtual) => {
                return Err(conflict("a virtual sandbox lies in no container"));
            }
            (Some(target), path) => {
                let path = path.clone().unwrap_or_else(SandboxPath::root);
                return Ok(NewKind::Attached { target, path });
            }
            (None, Some(_)) => {
                return Err(conflict("--container-path is about --container or --pid"));
            }
            (None, None) => {}
        }
        match (self.kind, &self.root, &self.from) {
            (Some(KindWord::Virtual), Some(_), _) => {
                Err(conflict("--root is a directory, and a virtual sandbox lies in none"))
            }
            (Some(KindWord::Host), _, Some(_)) => {
                Err(conflict("a sandbox in a directory is no copy: leave out --kind or --from"))
            }
            (None | Some(KindWord::Virtual), _, Some((of, from))) => {
                Ok(NewKind::Fork { of: of.clone(), from: from.clone() })
            }
            (Some(KindWord::Host), root, None) | (None, root @ Some(_), None) => {
                Ok(NewKind::Host { root: root.clone() })
            }
            (None | Some(KindWord::Virtual), None, None) => Ok(NewKind::Virtual),
        }
    }

    fn only_on_a_server(&self) -> Option<&'static str> {
        let flags = [
            ("--kind", self.kind.is_some()),
            ("--root", self.root.is_some()),
            ("--container", self.container.is_some()),
            ("--pid", self.pid.is_some()),
            ("--container-path", self.container_path.is_some()),
            ("--prefix", self.prefix.is_some()),
            ("--from", self.from.is_some()),
            ("--label", !self.labels.is_empty()),
            ("--ttl", self.ttl.is_some()),
        ];
        flags.into_iter().find(|(_, is_set)| *is_set).map(|(flag, _)| flag)
    }
}

/// An absolute path.
pub(super) fn absolute(text: &str) -> Result<SandboxPath, String> {
    if !text.starts_with('/') {
        return Err("the path is absolute, such as /workspace".into());
    }
    SandboxPath::parse(text, DotDot::Refuse).map_err(|err| err.to_string())
}

fn origin(text: &str) -> engine::Result<(SandboxId, Point)> {
    match text.split_once('@') {
        None => Ok((SandboxId::parse(text)?, Point::Live)),
        Some((sandbox, snapshot)) => {
            let snapshot = SnapshotId::parse(snapshot)?;
            Ok((SandboxId::parse(sandbox)?, Point::Snapshot(snapshot)))
        }
    }
}

fn wanted_label(text: &str) -> Result<(String, Option<String>), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("a label is KEY=VALUE or KEY, such as by=ci".into()),
        Some((key, value)) => Ok((key.into(), Some(value.into()))),
        None => Ok((text.into(), None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_sandbox_and_perhaps_a_snapshot_of_it() {
        let alice = SandboxId::parse("alice").unwrap();
        let v1 = Point::Snapshot(SnapshotId::parse("v1").unwrap());
        assert_eq!(origin("alice").unwrap(), (alice.clone(), Point::Live));
        assert_eq!(origin("alice@v1").unwrap(), (alice, v1));
        assert!(origin("alice@").is_err() && origin("@v1").is_err());
    }

    #[test]
    fn a_label_is_wanted_with_its_value_or_with_any() {
        assert_eq!(wanted_label("a=b"), Ok(("a".into(), Some("b".into()))));
        assert_eq!(wanted_label("a"), Ok(("a".into(), None)));
        assert!(wanted_label("=b").is_err());
    }
}
