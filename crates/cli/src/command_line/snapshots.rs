//! The words of `sandkeep snapshot`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory as _, Subcommand};
use engine::{Point, SandboxId, SnapshotId};

use super::Cli;
use super::files::OutputFlags;
use super::place::{Place, PlaceFlags};
use crate::config::{Ceiling, LimitWish, Size};
use crate::trees::Missing;

pub(super) const AFTER_HELP: &str = "\
The tree:
  --store URL [--sandbox NAME] means a sandbox of a store; --dir DIR --snapshots URL means a
  directory whose snapshots lie in a store. A store is open in one process at a time: stop its
  server first, or ask the server itself, at /v1/sandboxes/NAME/snapshots.

Names:
  A snapshot is called by 1 to 64 lower-case letters, digits, dots, underscores and hyphens. Without
  a name it gets one that sorts by time. @live is the tree as it is now.

Exit codes:
  those of `sandkeep fs --help`

Examples:
  sandkeep snapshot create before-upgrade --message 'all tests pass' --store file:./store
  sandkeep snapshot list --store file:./store
  sandkeep snapshot diff before-upgrade --store file:./store
  sandkeep snapshot restore before-upgrade --store file:./store
  sandkeep snapshot fork before-upgrade experiment --store file:./store";

/// Flags of every snapshot command.
#[derive(Args, Debug)]
pub(crate) struct SnapshotFlags {
    #[command(flatten)]
    place: PlaceFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: SnapshotCommand,
}

impl SnapshotFlags {
    /// The tree that is meant.
    pub(crate) fn place(&self, given: &ArgMatches) -> Result<Place, clap::Error> {
        let place = self.place.settle(given)?;
        if matches!(place, Place::Directory { snapshots: None, .. }) {
            let message = "with --dir, say where its snapshots are kept: --snapshots URL";
            return Err(Cli::command().error(ErrorKind::MissingRequiredArgument, message));
        }
        Ok(place)
    }
}

impl SnapshotCommand {
    /// What becomes of a directory's store that is not there: who brings the first snapshot makes it.
    pub(crate) fn missing_store(&self) -> Missing {
        match self {
            Self::Create { .. } | Self::Import { .. } => Missing::Made,
            Self::List { .. }
            | Self::Show { .. }
            | Self::Diff { .. }
            | Self::Restore { .. }
            | Self::Fork { .. }
            | Self::Export { .. }
            | Self::Delete { .. }
            | Self::Adopt => Missing::Refused,
        }
    }
}

/// What can be done with snapshots.
#[derive(Subcommand, Debug)]
pub(crate) enum SnapshotCommand {
    /// Keep the tree as it is now, and print the snapshot's name
    ///
    /// In a store this costs the same whatever the size of the tree.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot create --store file:./store\n  \
        sandkeep snapshot create v1 --message 'first release' --label by=ci --store file:./store\n  \
        sandkeep snapshot create --dir ./demo --snapshots file:./store")]
    Create {
        /// Its name; one that sorts by time is made up without it
        #[arg(value_parser = SnapshotId::parse)]
        name: Option<SnapshotId>,
        #[command(flatten)]
        words: WordFlags,
    },

    /// List the snapshots in the order of their names
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  \
        sandkeep snapshot list --store file:./store\n  \
        sandkeep snapshot list --after v1 --limit 10 --json --store file:./store"
    )]
    List {
        /// Stop after so many
        #[arg(long, value_name = "COUNT")]
        limit: Option<usize>,
        /// Begin behind this name
        #[arg(long, value_name = "NAME", value_parser = SnapshotId::parse)]
        after: Option<SnapshotId>,
    },

    /// Show what is known of a snapshot
    ///
    /// Its files are read with `sandkeep fs --at NAME`.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot show v1 --store file:./store\n  \
        sandkeep fs --store file:./store --at v1 tree")]
    Show {
        /// Which
        #[arg(value_parser = SnapshotId::parse)]
        name: SnapshotId,
    },

    /// Show what differs between two snapshots, or a snapshot and the tree as it is now
    ///
    /// One line a path, as `git diff --name-status` has it: A added, D removed, M modified in
    /// content, mode, time or kind, R renamed. Directories end with a slash.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot diff v1 --store file:./store\n  \
        sandkeep snapshot diff v1 v2 --json --store file:./store\n  \
        sandkeep snapshot diff @live v1 --store file:./store")]
    Diff {
        /// From this snapshot, or @live
        #[arg(value_parser = point)]
        from: Point,
        /// To this snapshot
        #[arg(value_parser = point, default_value = LIVE)]
        to: Point,
    },

    /// Bring back the tree, or one path of it, as it was
    ///
    /// What is there now is gone unless another snapshot holds it. On a terminal you are asked first.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot restore v1 --store file:./store\n  \
        sandkeep snapshot restore v1 --path src/app --yes --store file:./store")]
    Restore {
        /// Which snapshot
        #[arg(value_parser = SnapshotId::parse)]
        name: SnapshotId,
        /// Only this file or directory; one that the snapshot does not hold is removed
        #[arg(long, value_name = "PATH", default_value = "/")]
        path: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

    /// Make a new sandbox that begins as a copy
    ///
    /// In a store this costs the same whatever the size of the tree, and the two share what they
    /// hold alike. Limits that are not given are those of the original.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot fork v1 experiment --store file:./store\n  \
        sandkeep snapshot fork @live small --max-total-size 1G --store file:./store\n  \
        sandkeep serve --store file:./store --sandbox experiment")]
    Fork {
        /// Which snapshot, or @live
        #[arg(value_parser = point)]
        name: Point,
        /// The new sandbox
        #[arg(value_parser = SandboxId::parse)]
        new: SandboxId,
        #[command(flatten)]
        limits: LimitFlags,
    },

    /// Write a snapshot as one stream, to be imported elsewhere
    ///
    /// The stream describes itself, is compressed, and carries checksums.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot export v1 -o v1.sandkeep --store file:./store\n  \
        sandkeep snapshot export v2 --since v1 -o v2-since-v1.sandkeep --store file:./store\n  \
        sandkeep snapshot export @live --store file:./store | \
        ssh there sandkeep snapshot import - --store file:/srv/store")]
    Export {
        /// Which snapshot, or @live
        #[arg(value_parser = point)]
        name: Point,
        /// File to write; `-` is stdout
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
        /// Leave out what this snapshot holds, which the receiver must have
        #[arg(long, value_name = "NAME", value_parser = SnapshotId::parse)]
        since: Option<SnapshotId>,
    },

    /// Take in an exported snapshot, and print its name
    ///
    /// Every hash and limit is checked; a stream that is cut off or damaged changes nothing.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot import v1.sandkeep v1 --store file:./store\n  \
        sandkeep snapshot restore v1 --store file:./store")]
    Import {
        /// File to read; `-` is stdin
        file: PathBuf,
        /// The name that it gets here; one that sorts by time is made up without it
        #[arg(value_parser = SnapshotId::parse)]
        name: Option<SnapshotId>,
        #[command(flatten)]
        words: WordFlags,
    },

    /// Forget snapshots
    ///
    /// What only they held is freed by the next garbage collection (`sandkeep gc`).
    #[command(
        visible_alias = "rm",
        after_help = "Examples:\n  sandkeep snapshot delete v1 v2 --store file:./store"
    )]
    Delete {
        /// Which
        #[arg(required = true, value_parser = SnapshotId::parse)]
        names: Vec<SnapshotId>,
    },

    /// Make the snapshots of another directory those of this one
    ///
    /// Snapshots belong to one directory, wherever it is moved on its file system. When it was lost,
    /// or copied elsewhere, say so before its successor goes on with them.
    #[command(after_help = "Examples:\n  \
        sandkeep snapshot adopt --dir ./demo --snapshots file:./store\n  \
        sandkeep snapshot restore v1 --dir ./demo --snapshots file:./store")]
    Adopt,
}

/// What is said about a new snapshot.
#[derive(Args, Clone, Debug)]
pub(crate) struct WordFlags {
    /// What a person wants to know about it
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) message: String,
    /// What a program wants to know about it; repeat it for more
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
}

/// Limits of a new sandbox.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitFlags {
    /// The longest file, such as 10MiB, or none
    #[arg(long, value_name = "SIZE")]
    max_file_size: Option<Ceiling<Size>>,
    /// All files together, such as 2G, or none
    #[arg(long, value_name = "SIZE")]
    max_total_size: Option<Ceiling<Size>>,
    /// Files and directories together, the root included, or none
    #[arg(long, value_name = "COUNT")]
    max_nodes: Option<Ceiling<u64>>,
}

impl LimitFlags {
    /// Whether nothing is said of them.
    pub(crate) fn is_silent(&self) -> bool {
        self.wish() == LimitWish::default()
    }

    /// What is said of the limits.
    pub(crate) fn wish(&self) -> LimitWish {
        LimitWish {
            file_size: self.max_file_size,
            total_size: self.max_total_size,
            nodes: self.max_nodes,
        }
    }
}

/// The word for the tree as it is now, which no snapshot can be called.
const LIVE: &str = "@live";

fn point(text: &str) -> engine::Result<Point> {
    if text == LIVE {
        return Ok(Point::Live);
    }
    SnapshotId::parse(text).map(Point::Snapshot)
}

pub(super) fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        Some(_) | None => Err("a label is KEY=VALUE, such as by=ci".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_tree_cannot_be_mistaken_for_a_snapshot() {
        assert_eq!(point(LIVE).unwrap(), Point::Live);
        assert_eq!(point("live").unwrap(), Point::Snapshot(SnapshotId::parse("live").unwrap()));
        assert!(SnapshotId::parse(LIVE).is_err());
    }

    #[test]
    fn a_label_is_a_key_and_a_value() {
        assert_eq!(label("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(label("a="), Ok(("a".into(), String::new())));
        assert!(label("a").is_err() && label("=b").is_err());
    }
}
