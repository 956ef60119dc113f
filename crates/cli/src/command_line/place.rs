//! Which tree of this machine is meant, without a server.

use std::path::PathBuf;

use clap::error::{Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _};
use engine::{AttachTarget, SandboxPath};

use super::Cli;
use crate::config::{MAIN, StoreUrl};
use crate::render::quoted;

/// A tree of this machine.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A directory.
    Directory {
        /// Which.
        dir: PathBuf,
        /// The store of its snapshots.
        snapshots: Option<StoreUrl>,
        /// Under which name they are kept there.
        name: String,
    },
    /// A sandbox of a store.
    Sandbox {
        /// The store.
        store: StoreUrl,
        /// Which it is.
        name: String,
    },
    /// A tree of a container.
    Container {
        /// Whose.
        target: AttachTarget,
        /// Where in it.
        path: SandboxPath,
        /// Where its engine answers.
        socket: Option<PathBuf>,
    },
}

impl Place {
    /// The flag that means such a tree.
    pub(super) fn flag(&self) -> &'static str {
        match self {
            Self::Directory { .. } => "--dir",
            Self::Sandbox { .. } => "--store",
            Self::Container { target: AttachTarget::Container(_), .. } => "--container",
            Self::Container { target: AttachTarget::Process { .. }, .. } => "--pid",
        }
    }

    /// The flags that mean this tree.
    pub(crate) fn words(&self) -> String {
        let named = |name: &String| match name.as_str() {
            MAIN => String::new(),
            name => format!(" --sandbox {name}"),
        };
        match self {
            Self::Directory { dir, snapshots, name } => {
                let mut words = format!("--dir {}", quoted(&dir.display().to_string()));
                if let Some(url) = snapshots {
                    words += &format!(" --snapshots {}{}", quoted(&url.to_string()), named(name));
                }
                words
            }
            Self::Sandbox { store, name } => {
                format!("--store {}{}", quoted(&store.to_string()), named(name))
            }
            Self::Container { target, path, .. } => {
                let mut words = match target {
                    AttachTarget::Container(name) => format!("--container {name}"),
                    AttachTarget::Process { pid, .. } => format!("--pid {pid}"),
                };
                if !path.is_root() {
                    words += &format!(" --container-path {}", quoted(path.as_str()));
                }
                words
            }
        }
    }
}

/// Flags of the commands that work on a tree of this machine.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceFlags {
    /// Store of the sandbox, such as file:./store
    #[arg(long, env = "SANDKEEP_STORE", hide_env_values = true, value_name = "URL", global = true)]
    store: Option<StoreUrl>,

    /// Which sandbox of the store
    #[arg(
        long, env = "SANDKEEP_SANDBOX", value_name = "NAME", global = true, default_value = MAIN
    )]
    sandbox: String,

    /// A directory instead of a sandbox of a store
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,

    /// Store that keeps the snapshots of DIR; --sandbox says under which name
    #[arg(
        long,
        env = "SANDKEEP_SNAPSHOTS",
        hide_env_values = true,
        value_name = "URL",
        global = true
    )]
    snapshots: Option<StoreUrl>,
}

impl PlaceFlags {
    /// The tree that is meant. A directory that was named beats a store in the environment.
    pub(super) fn settle(&self, given: &ArgMatches) -> Result<Place, Error> {
        let name = self.sandbox.clone();
        let is_flag = given.value_source("store") == Some(ValueSource::CommandLine);
        match (&self.dir, &self.store) {
            (Some(_), Some(_)) if is_flag => Err(conflict("--dir and --store mean two trees")),
            (Some(dir), _) => {
                let (dir, snapshots) = (dir.clone(), self.snapshots.clone());
                Ok(Place::Directory { dir, snapshots, name })
            }
            (None, Some(store)) => Ok(Place::Sandbox { store: store.clone(), name }),
            (None, None) => {
                let message = "say which tree: --store URL, or --dir DIR with --snapshots URL";
                Err(Cli::command().error(ErrorKind::MissingRequiredArgument, message))
            }
        }
    }
}

/// Two flags that cannot be meant together.
pub(super) fn conflict(message: &str) -> Error {
    Cli::command().error(ErrorKind::ArgumentConflict, message)
}
