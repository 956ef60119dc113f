//! A tree that is held, for as long as its process lives.

use std::os::fd::AsFd as _;
use std::sync::{Arc, Weak};

use host::{Errno, Process, RootMark};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio_util::sync::CancellationToken;

use super::{AttachedOptions, Attachment, gone};
use crate::{
    AttachTarget, Error, ErrorKind, HostFs, Result, SandboxId, SandboxPath, Store, blocking,
};

/// The tree of a process, and what tells that it is still the same.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) files: HostFs,
    pub(super) process: Arc<Process>,
    root: RootMark,
    target: AttachTarget,
    /// Cancelled when the process ended.
    ended: CancellationToken,
}

impl Hold {
    /// Opens the tree of a process.
    pub(super) async fn open(
        process: Arc<Process>,
        path: &SandboxPath,
        options: AttachedOptions,
        target: AttachTarget,
    ) -> Result<Self> {
        let (held, path) = (Arc::clone(&process), path.clone());
        let opened = blocking::run(move || {
            let root = held.root_mark();
            let shares_ours = held.shares_our_root();
            let files = HostFs::of_process(Arc::clone(&held), &path, options);
            // Looked at once more, so that what was judged is what was opened.
            Ok((root.and_then(|root| Ok((root, held.root_mark()?))), shares_ours, files))
        });
        let (roots, shares_ours, files) = opened.await?;
        let (root, root_now) = roots.map_err(|err| meaning(err, &target))?;
        if root != root_now {
            let message = format!("{target} changes its root all the time");
            return Err(Error::new(ErrorKind::SandboxUnavailable, message));
        }
        if shares_ours.map_err(|err| meaning(err, &target))? {
            let message = format!("{target} is in no container: its root is the server's own");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let files = files.map_err(|err| of_the_tree(err, &target))?;
        Ok(Self { files, process, root, target, ended: CancellationToken::new() })
    }

    /// Has a store keep the snapshots of the tree.
    pub(super) fn keep_snapshots(&mut self, store: Store, id: SandboxId) {
        self.files = self.files.clone().with_snapshots(store, id);
    }

    /// Whether the process still lives, with the same root. Asks the kernel, by one call.
    pub(super) fn is_still(&self) -> bool {
        !self.ended.is_cancelled() && self.process.root_mark().is_ok_and(|root| root == self.root)
    }

    /// Whoever wants to know when the process ends.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Whose tree it is.
    pub(super) fn target(&self) -> &AttachTarget {
        &self.target
    }
}

/// Lets go of a tree at once when its process ends: what is held of a container that ended keeps its
/// mounts alive, and would be in the way when it starts again.
pub(super) fn watch_over(hold: &Arc<Hold>, attachment: Weak<Attachment>) -> Result<()> {
    // One of its own for each tree: a process that changed its root is waited for by those who still
    // have the former one, and no descriptor can be waited for twice.
    let descriptor = hold.process.as_fd().try_clone_to_owned();
    #[expect(deprecated, reason = "what took its place is unsafe; nobody else has the descriptor")]
    let waiting = descriptor.and_then(|own| AsyncFd::with_interest(own, Interest::READABLE));
    let waiting = waiting.map_err(|err| {
        Error::new(ErrorKind::Busy, "the end of the process cannot be waited for").because(err)
    })?;
    let (ended, held) = (hold.ended.clone(), Arc::downgrade(hold));
    tokio::spawn(async move {
        let let_go = ended.clone();
        tokio::select! {
            _ended = waiting.readable() => ended.cancel(),
            () = let_go.cancelled() => {}
        }
        if let (Some(attachment), Some(held)) = (attachment.upgrade(), held.upgrade()) {
            attachment.let_go(&held);
        }
    });
    Ok(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// Holds the process of a number.
pub(super) async fn process(target: &AttachTarget, pid: u32) -> Result<Arc<Process>> {
    let found = blocking::run(move || Ok(Process::find(pid))).await?;
    found.map(Arc::new).map_err(|err| {
        if err != Errno::SRCH.into() {
            return meaning(err, target);
        }
        Error::new(ErrorKind::NotFound, format!("there is no process {pid}")).because(err)
    })
}

/// Why a process cannot be held, or its root not be opened.
pub(super) fn meaning(err: host::Error, target: &AttachTarget) -> Error {
    if [Errno::SRCH, Errno::NOENT].map(host::Error::Os).contains(&err) {
        return gone(target).because(err);
    }
    if [Errno::ACCESS, Errno::PERM].map(host::Error::Os).contains(&err) {
        let message = format!(
            "the system does not let the server into the tree of {target}: it needs the rights to \
             trace that process (the same user, or CAP_SYS_PTRACE) and must not be confined by \
             Landlock (--no-landlock)"
        );
        return Error::new(ErrorKind::PermissionDenied, message).because(err);
    }
    Error::new(ErrorKind::Unavailable, format!("{target} cannot be attached to")).because(err)
}

/// Why the tree cannot be opened, although the process is there.
fn of_the_tree(err: Error, target: &AttachTarget) -> Error {
    if ![ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&err.kind()) {
        return err;
    }
    let message = format!("there is no such directory in {target}");
    Error::new(ErrorKind::NotFound, message).because(err)
}
