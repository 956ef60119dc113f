//! Which sandboxes there are, whatever keeps their trees, and those of them that are open.
//!
//! A virtual sandbox is there as long as its root is (`sandboxes/{id}/root`); what else is known of
//! it stands in `sandboxes/{id}/record`, which may be missing. A sandbox in a directory is there as
//! long as its record is. When each ends stands under `expiry/`, in the order of time, and where
//! those in directories lie under `directories/`.

mod attachments;
mod change;
mod create;
mod expiry;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod grounds;
mod hosts;
mod list;
mod open;
mod record;
mod refs;
mod remove;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::virtual_fs::now;
use crate::{
    AttachTarget, Containers, Durability, Error, ErrorKind, Limits, Mounts, Point, Result, Sandbox,
    SandboxId, SandboxPath, Store, UnixTime,
};

pub use self::change::RegisteredChange;
pub use self::list::RegisteredPage;

use self::attachments::Attachments;
use self::hosts::HostRoots;
use self::table::OpenSandboxes;

/// The sandboxes of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    main: Main,
    hosts: HostRoots,
    attachments: Attachments,
    open: OpenSandboxes,
}

/// The sandbox that a server was started with. It cannot be removed.
#[derive(Debug)]
struct Main {
    sandbox: Arc<Sandbox>,
    kind: MainKind,
    opened: UnixTime,
}

/// How the tree of the sandbox is kept that a server was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MainKind {
    /// In the store that keeps all other sandboxes.
    Stored,
    /// Elsewhere.
    Apart(SandboxKind, Limits),
}

impl Main {
    fn is_stored(&self) -> bool {
        self.kind == MainKind::Stored
    }

    fn registered(&self) -> Registered {
        let Sandbox { id, prefix, .. } = &*self.sandbox;
        let (kind, limits) = match &self.kind {
            MainKind::Stored => (SandboxKind::Virtual, Limits::default()),
            MainKind::Apart(kind, limits) => (kind.clone(), *limits),
        };
        Registered {
            id: id.clone(),
            kind,
            prefix: prefix.clone(),
            limits,
            labels: BTreeMap::new(),
            created: self.opened,
            expires: None,
            is_main: true,
        }
    }
}

/// How a server keeps its sandboxes.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// Directories of this machine beneath which sandboxes may be made. They must exist.
    pub host_roots: Vec<PathBuf>,
    /// Whether changes in directories wait for the disk.
    pub durability: Durability,
    /// Whether paths may lead into other mounts there.
    pub mounts: Mounts,
    /// Who knows the containers that sandboxes may be attached to; none if none may be.
    pub containers: Option<Arc<dyn Containers>>,
    /// How many sandboxes are held open, those that are worked in aside.
    pub most_open: usize,
    /// How long a sandbox is held open that nobody works in.
    pub idle: Duration,
}

impl Default for RegistryOptions {
    fn default() -> Self {
        Self {
            host_roots: Vec::new(),
            containers: None,
            durability: Durability::Full,
            mounts: Mounts::Stay,
            most_open: 4096,
            idle: Duration::from_mins(10),
        }
    }
}

/// What is known of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// What it is called.
    pub id: SandboxId,
    /// How its tree is kept.
    pub kind: SandboxKind,
    /// The absolute path at which its clients see the root of the tree.
    pub prefix: SandboxPath,
    /// How much it may hold.
    pub limits: Limits,
    /// What programs want to know about it.
    pub labels: BTreeMap<String, String>,
    /// When it was made.
    pub created: UnixTime,
    /// When it ends, if it does.
    pub expires: Option<UnixTime>,
    /// Whether the server was started with it.
    pub is_main: bool,
}

/// How the tree of a sandbox is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxKind {
    /// In the server's store, isolated from every machine.
    Virtual,
    /// In a directory of this machine, confined by the kernel.
    Host {
        /// The whole path of the directory.
        root: String,
        /// Whether it was made for the sandbox, and goes with it.
        made: bool,
    },
    /// In a container of this machine, or wherever a process has its root, confined by the kernel.
    Attached {
        /// Whose tree it is.
        target: AttachTarget,
        /// Where in it the sandbox begins.
        path: SandboxPath,
    },
}

/// A sandbox that is to be made.
#[derive(Clone, Debug)]
pub struct NewSandbox {
    /// What it is called; an id is made up without it.
    pub id: Option<SandboxId>,
    /// How its tree is kept.
    pub kind: NewKind,
    /// The absolute path at which its clients see the root of the tree.
    pub prefix: SandboxPath,
    /// How much it may hold; without it, as much as what it begins as.
    pub limits: Option<Limits>,
    /// What programs want to know about it.
    pub labels: BTreeMap<String, String>,
    /// How long it lives, if not for ever.
    pub ttl: Option<Duration>,
}

/// How the tree of a new sandbox is kept, and how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewKind {
    /// In the server's store, empty.
    Virtual,
    /// In the server's store, as a copy of another sandbox as it is or was.
    Fork {
        /// Of which.
        of: SandboxId,
        /// As it is now, or a snapshot of it.
        from: Point,
    },
    /// In a directory of this machine, with what is in it.
    Host {
        /// Its path, beneath one of the allowed directories or relative to the first of them; a
        /// new one of the sandbox's name without it.
        root: Option<String>,
    },
    /// In a container of this machine, or wherever a process has its root.
    Attached {
        /// Whose tree it is.
        target: AttachTarget,
        /// Where in it the sandbox begins.
        path: SandboxPath,
    },
}

impl Registry {
    /// The sandboxes that `store` keeps, and the one that the server was started with. Blocks.
    pub fn new(store: Store, main: (Sandbox, MainKind), options: &RegistryOptions) -> Result<Self> {
        let hosts = HostRoots::open(options)?;
        let (sandbox, kind) = main;
        let main = Main { sandbox: Arc::new(sandbox), kind, opened: now() };
        let open = OpenSandboxes::new(options);
        let attachments = Attachments::new(options);
        Ok(Self { shared: Arc::new(Shared { store, main, hosts, attachments, open }) })
    }

    /// The sandbox that the server was started with.
    pub fn main(&self) -> &Arc<Sandbox> {
        &self.shared.main.sandbox
    }

    /// The store that keeps the sandboxes.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    fn is_main(&self, id: &SandboxId) -> bool {
        self.shared.main.sandbox.id == *id
    }
}

/// The error of an id that no sandbox has.
fn missing(id: &SandboxId) -> Error {
    Error::new(ErrorKind::SandboxNotFound, format!("there is no sandbox `{id}`"))
}

fn exists(id: &SandboxId) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("a sandbox `{id}` exists"))
}

/// The error of a change of the sandbox that the server was started with.
fn is_main(id: &SandboxId) -> Error {
    let message = format!("the server was started with the sandbox `{id}`; its flags decide");
    Error::new(ErrorKind::InvalidArgument, message)
}
