//! Settings of a served tree: where it is, where clients see it, how much it may hold.

use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::{Ceiling, LimitWish, Size, StoreUrl};

const DIR: &str = "sandbox";
/// The sandbox that is meant when nobody names one.
pub(crate) const MAIN: &str = "main";
const MOST_CONNECTIONS: usize = 1024;

/// One source's settings of a served tree; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "The tree and its limits")]
pub(crate) struct Confine {
    /// Directory to serve; it is made when missing [default: ./sandbox]
    #[arg(value_name = "DIR", env = "SANDKEEP_DIR", help_heading = "Arguments")]
    pub(crate) dir: Option<PathBuf>,

    /// Serve a virtual sandbox of this store instead of a directory: memory:, file:DIR,
    /// sqlite:FILE, postgres://, redis://, s3://, az://, gs://, dynamodb:// or split:
    #[arg(long, env = "SANDKEEP_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,

    /// What the sandbox is called; in a store it is made when missing [default: main]
    #[arg(long, env = "SANDKEEP_SANDBOX", value_name = "NAME")]
    pub(crate) sandbox: Option<String>,

    /// Store beside DIR that keeps its snapshots and all other sandboxes and keys
    /// [default: file: in $XDG_STATE_HOME/sandkeep/data, one for each DIR]
    #[arg(long, env = "SANDKEEP_SNAPSHOTS", hide_env_values = true, value_name = "URL")]
    pub(crate) snapshots: Option<StoreUrl>,

    /// Absolute path at which clients see the tree, such as /workspace or /
    /// [default: DIR's own absolute path; / for a sandbox of a store]
    #[arg(long, env = "SANDKEEP_ROOT_PREFIX", value_name = "PATH")]
    pub(crate) root_prefix: Option<String>,

    /// Directory for unfinished files, outside DIR and on its file system
    /// [default: $XDG_STATE_HOME/sandkeep/staging, else .sandkeep-staging beside DIR]
    #[arg(long, env = "SANDKEEP_STAGING", value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,

    /// The longest file, such as 10MiB, or none [default: no limit; a sandbox of a store keeps the
    /// limits that it has]
    #[arg(long, env = "SANDKEEP_MAX_FILE_SIZE", value_name = "SIZE")]
    pub(crate) max_file_size: Option<Ceiling<Size>>,

    /// All files together, such as 2G, or none [default: likewise]
    #[arg(long, env = "SANDKEEP_MAX_TOTAL_SIZE", value_name = "SIZE")]
    pub(crate) max_total_size: Option<Ceiling<Size>>,

    /// Files and directories together, the root included, or none [default: likewise]
    #[arg(long, env = "SANDKEEP_MAX_NODES", value_name = "COUNT")]
    pub(crate) max_nodes: Option<Ceiling<u64>>,

    /// The content of one downloaded archive [default: no limit]
    #[arg(long, env = "SANDKEEP_MAX_ARCHIVE_SIZE", value_name = "SIZE")]
    pub(crate) max_archive_size: Option<Size>,

    /// Files and directories in one downloaded archive [default: no limit]
    #[arg(long, env = "SANDKEEP_MAX_ARCHIVE_ENTRIES", value_name = "COUNT")]
    pub(crate) max_archive_entries: Option<u64>,

    /// Connections that are open at once [default: 1024]
    #[arg(long, env = "SANDKEEP_MAX_CONNECTIONS", value_name = "COUNT")]
    pub(crate) max_connections: Option<usize>,

    /// Whether an answer waits until the change would survive a power cut [default: full]
    #[arg(long, env = "SANDKEEP_DURABILITY")]
    pub(crate) durability: Option<Durability>,

    /// Let paths lead into file systems that are mounted beneath DIR
    #[arg(
        long, env = "SANDKEEP_CROSS_MOUNTS", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) cross_mounts: Option<bool>,

    /// Do without Landlock, the kernel's second wall around DIR or the store
    #[arg(
        long, env = "SANDKEEP_NO_LANDLOCK", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) no_landlock: Option<bool>,

    /// Wall the server itself in: Landlock around what it serves, seccomp against calls that a file
    /// server never makes. Said, it must stand; =false does without [default: where the kernel can]
    #[arg(
        long, env = "SANDKEEP_CONFINE", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) confine: Option<bool>,
}

/// Whether an answer waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Durability {
    /// An acknowledged change survives a power cut.
    Full,
    /// An acknowledged change survives the end of the server, not a power cut.
    Relaxed,
}

impl Durability {
    /// What the operator wants, in the engine's words. Says so where that is the weaker promise.
    pub(crate) fn of(confine: &Confine) -> engine::Durability {
        match confine.durability {
            Some(Self::Relaxed) => {
                tracing::warn!("durability is relaxed: a power cut may take acknowledged changes");
                engine::Durability::Relaxed
            }
            Some(Self::Full) | None => engine::Durability::Full,
        }
    }
}

impl Confine {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            dir: self.dir.or(lower.dir),
            store: self.store.or(lower.store),
            sandbox: self.sandbox.or(lower.sandbox),
            snapshots: self.snapshots.or(lower.snapshots),
            root_prefix: self.root_prefix.or(lower.root_prefix),
            staging: self.staging.or(lower.staging),
            max_file_size: self.max_file_size.or(lower.max_file_size),
            max_total_size: self.max_total_size.or(lower.max_total_size),
            max_nodes: self.max_nodes.or(lower.max_nodes),
            max_archive_size: self.max_archive_size.or(lower.max_archive_size),
            max_archive_entries: self.max_archive_entries.or(lower.max_archive_entries),
            max_connections: self.max_connections.or(lower.max_connections),
            durability: self.durability.or(lower.durability),
            cross_mounts: self.cross_mounts.or(lower.cross_mounts),
            no_landlock: self.no_landlock.or(lower.no_landlock),
            confine: self.confine.or(lower.confine),
        }
    }

    /// The same settings, with relative paths beginning at `base`.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        for path in [&mut self.dir, &mut self.staging].into_iter().flatten() {
            *path = base.join(&*path);
        }
        let based = |url: StoreUrl| url.relative_to(base);
        (self.store, self.snapshots) = (self.store.map(based), self.snapshots.map(based));
        self
    }

    /// The directory to serve.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or(Path::new(DIR))
    }

    /// What is said of the tree's limits.
    pub(crate) fn limits(&self) -> LimitWish {
        LimitWish {
            file_size: self.max_file_size,
            total_size: self.max_total_size,
            nodes: self.max_nodes,
        }
    }

    /// What the served sandbox is called.
    pub(crate) fn sandbox(&self) -> &str {
        self.sandbox.as_deref().unwrap_or(MAIN)
    }

    /// Connections that are open at once.
    pub(crate) fn most_connections(&self) -> usize {
        self.max_connections.unwrap_or(MOST_CONNECTIONS)
    }

    /// These settings, and what holds when nobody says anything.
    pub(crate) fn or_usual(self) -> Self {
        let tree = if self.store.is_some() {
            Self { root_prefix: Some("/".into()), ..Self::default() }
        } else {
            Self { dir: Some(DIR.into()), cross_mounts: Some(false), ..Self::default() }
        };
        self.over(tree).or_usual_of_all()
    }

    /// The same where the tree is one of a container.
    pub(crate) fn or_usual_of_container(self) -> Self {
        self.over(Self { root_prefix: Some("/".into()), ..Self::default() }).or_usual_of_all()
    }

    fn or_usual_of_all(self) -> Self {
        self.over(Self {
            sandbox: Some(MAIN.into()),
            durability: Some(Durability::Full),
            max_connections: Some(MOST_CONNECTIONS),
            no_landlock: Some(false),
            ..Self::default()
        })
    }
}
