//! Where a server keeps its sandboxes, and the directories of this machine that may hold some.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use engine::{
    AttachTarget, AttachedFs, AttachedOptions, Durability, ErrorKind, HostFs, MainKind, Mounts,
    Registry, RegistryOptions, Sandbox, SandboxId, SandboxPath, Store, StoreOptions,
};
use rustix::process::{Resource, getrlimit};
use sha2::{Digest as _, Sha256};

use crate::command_line::Place;
use crate::config::{Attach, Confine, Many, Pause, Reach, StoreUrl, surroundings};
use crate::failure::OrHint as _;
use crate::{local, stores};

use super::{COLLECTING, container};

/// How long a server waits for the one before it to leave their store.
const HANDOVER: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The store beside a served directory: its snapshots, and all other sandboxes.
pub(super) struct Records {
    pub(super) store: StoreUrl,
    pub(super) reach: Reach,
    name: SandboxId,
    /// The flags of other commands that mean the directory; none if nobody named the store.
    words: Option<String>,
}

impl Records {
    /// The store that the operator named, or one for this directory in the usual place.
    pub(super) fn of(confine: &Confine, root: &Path) -> Result<Self> {
        let name = SandboxId::parse(confine.sandbox()).context("--sandbox")?;
        let Some(url) = &confine.snapshots else { return Ok(Self::usual(root, name)) };
        stores::refuse_overlap(url, root)?;
        let (store, reach) = stores::settle(url)?;
        let place = Place::Directory {
            dir: confine.dir().into(),
            snapshots: Some(url.clone()),
            name: name.to_string(),
        };
        Ok(Self { store, reach, name, words: Some(place.words()) })
    }

    /// The store that the operator named, or one for this tree of a container in the usual place.
    /// What is attached to a process ends with it, and so do its snapshots without a store.
    pub(super) fn of_container(
        confine: &Confine,
        target: &AttachTarget,
        path: &SandboxPath,
    ) -> Result<Self> {
        let name = SandboxId::parse(confine.sandbox()).context("--sandbox")?;
        let (url, words) = match (&confine.snapshots, target) {
            (Some(url), _) => (url.clone(), Some(String::new())),
            (None, AttachTarget::Process { .. }) => (StoreUrl::Memory, None),
            (None, AttachTarget::Container(container)) => {
                // No directory is called like that.
                let place = format!("//container/{container}{path}");
                return Ok(Self::kept_in(usual_place(Path::new(&place)), name));
            }
        };
        let (store, reach) = stores::settle(&url)?;
        Ok(Self { store, reach, name, words })
    }

    /// One that nobody else uses, if there is a place for it; else in memory.
    fn usual(root: &Path, name: SandboxId) -> Self {
        let place = usual_place(root).and_then(|dir| {
            stores::refuse_overlap(&StoreUrl::Directory(dir.clone()), root).map(|()| dir)
        });
        Self::kept_in(place, name)
    }

    fn kept_in(place: Result<PathBuf>, name: SandboxId) -> Self {
        let settled = place.and_then(|dir| stores::settle(&StoreUrl::Directory(dir)));
        let (store, reach) = settled.unwrap_or_else(|err| {
            let why = &*err.root_cause().to_string();
            tracing::warn!(
                why,
                "other sandboxes, keys and snapshots end with this server; --snapshots URL keeps them"
            );
            (StoreUrl::Memory, Reach::default())
        });
        Self { store, reach, name, words: None }
    }

    /// Opens the store, and has it keep the snapshots of the directory.
    pub(super) async fn open(self, files: HostFs) -> Result<(HostFs, Store)> {
        let Some(words) = self.words else { return self.open_usual(files).await };
        let store = stores::open_or_make(&self.store).await?;
        store.tend(COLLECTING);
        let files = files.with_snapshots(store.clone(), self.name);
        stores::check_snapshots(&files, &words).await?;
        Ok((files, store))
    }

    /// Opens the store, and has it keep the snapshots of a tree of a container.
    pub(super) async fn open_container(
        self,
        (target, path): (&AttachTarget, &SandboxPath),
        options: AttachedOptions,
        attach: &Attach,
    ) -> Result<(AttachedFs, Store)> {
        let store = match self.words {
            Some(_) => stores::open_or_make(&self.store).await?,
            None => open_when_free(&self.store).await?,
        };
        if !self.store.is_in_memory() {
            store.tend(COLLECTING);
        }
        let (target, path) = (target.clone(), path.clone());
        let kept = (store.clone(), self.name);
        let engines = Some(attach.engines());
        let known = target.clone();
        let files = AttachedFs::new_with_snapshots(target, path, options, engines, kept)?;
        container::attach(&files, &known).await?;
        files.tend().context("the container's tree cannot be tended")?;
        Ok((files, store))
    }

    /// Without a place for a store, the server does without. A store that is there holds what other
    /// runs of the server promised to keep, so none of them goes on without it.
    async fn open_usual(self, files: HostFs) -> Result<(HostFs, Store)> {
        let store = open_when_free(&self.store).await?;
        if self.store.is_in_memory() {
            return Ok((files, store));
        }
        store.tend(COLLECTING);
        let kept = files.clone().with_snapshots(store.clone(), self.name);
        match kept.check_snapshots().await {
            Ok(()) => Ok((kept, store)),
            Err(err) => {
                tracing::warn!(error = err.message(), "snapshots of the directory are off");
                Ok((files, store))
            }
        }
    }
}

/// Opens a store that a server before this one may be about to leave.
async fn open_when_free(url: &StoreUrl) -> Result<Store> {
    let until = Instant::now() + HANDOVER;
    loop {
        let opened = Store::open_with(&url.absolute()?, StoreOptions::default()).await;
        let is_held = opened.as_ref().is_err_and(|err| err.kind() == ErrorKind::Locked);
        if !is_held || Instant::now() >= until {
            return opened.with_context(|| format!("the store {url} cannot be opened")).or_hint(
                || {
                    let of_its_own = "give this one a store of its own: --snapshots URL, or \
                                      --snapshots memory: to keep nothing";
                    if is_held {
                        format!(
                            "stop the server that serves the directory already, or {of_its_own}"
                        )
                    } else {
                        format!(
                            "it holds the sandboxes and keys of this directory. Or {of_its_own}"
                        )
                    }
                },
            );
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Where the store of a directory lies when nobody says: one for each directory, because a store
/// has one user at a time.
fn usual_place(root: &Path) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let hash = Sha256::digest(root.as_os_str().as_bytes());
    let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let state = surroundings::state_dir().context("neither XDG_STATE_HOME nor HOME is set")?;
    Ok(state.join("data").join(digits))
}

/// The directories that may hold sandboxes. They are made, because behind the wall they cannot be.
/// None may hold the store, or what else belongs to the server, which whoever works there could
/// change; and none may lie within a directory that is served itself.
pub(super) fn host_roots(
    many: &Many,
    store: &StoreUrl,
    others: &[(&str, &Path)],
) -> Result<Vec<PathBuf>> {
    let roots = many.host_roots.iter().flatten().map(|root| {
        local::make_dir(root)?;
        // Unfinished files of all sandboxes lie there.
        local::make_private_dir(&root.join(".sandkeep-staging"))?;
        local::canonical(root)
    });
    let roots: Vec<PathBuf> = roots.collect::<Result<_>>()?;
    roots.iter().try_for_each(|root| stores::refuse_overlap(store, root))?;
    let audit = many.audit.as_deref().filter(|file| *file != Path::new("-"));
    for (what, other) in others.iter().copied().chain(audit.map(|file| ("--audit", file))) {
        let other = local::eventual(other)?;
        let overlaps = |root: &&PathBuf| root.starts_with(&other) || other.starts_with(root);
        if let Some(root) = roots.iter().find(overlaps) {
            let message =
                format!("--host-roots {} and {what} lie within one another", root.display());
            return Err(anyhow::anyhow!(message))
                .or_hint(|| "choose a directory that holds nothing but sandboxes".into());
        }
    }
    let nested =
        |root: &&PathBuf| roots.iter().any(|other| *root != other && root.starts_with(other));
    if let Some(inner) = roots.iter().find(nested) {
        let message = format!("--host-roots {} lies within another one", inner.display());
        return Err(anyhow::anyhow!(message)).or_hint(|| "name the outer one alone".into());
    }
    Ok(roots)
}

/// How many sandboxes are held open if the process may have so many descriptors: an open directory
/// takes one, and three quarters are for connections, files and the store.
fn most_open(usual: usize, descriptors: Option<u64>) -> usize {
    let share = descriptors.map_or(u64::MAX, |descriptors| descriptors / 4);
    usual.min(usize::try_from(share).unwrap_or(usize::MAX))
}

/// The sandboxes of a server.
pub(super) fn registry(
    store: Store,
    main: (Sandbox, MainKind),
    host_roots: Vec<PathBuf>,
    (confine, many, attach): (&Confine, &Many, &Attach),
) -> Result<Registry> {
    let usual = RegistryOptions::default();
    let options = RegistryOptions {
        host_roots,
        containers: (attach.containers == Some(true)).then(|| attach.engines()),
        most_open: most_open(usual.most_open, getrlimit(Resource::Nofile).current),
        idle: many.sandbox_idle.map_or(usual.idle, |Pause(time)| time),
        durability: match confine.durability {
            Some(crate::config::Durability::Relaxed) => Durability::Relaxed,
            Some(crate::config::Durability::Full) | None => Durability::Full,
        },
        mounts: if confine.cross_mounts == Some(true) { Mounts::Cross } else { Mounts::Stay },
    };
    Registry::new(store, main, &options).context("the sandboxes of the server cannot be kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_sandboxes_are_held_open_where_descriptors_are_scarce() {
        assert_eq!(most_open(4096, Some(1024)), 256);
        assert_eq!(most_open(4096, Some(1 << 20)), 4096);
        assert_eq!(most_open(4096, None), 4096);
    }
}
