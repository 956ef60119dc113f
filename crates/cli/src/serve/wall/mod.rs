//! The second wall: what the process itself can no longer do once it serves.
//!
//! The first wall is `host`, which keeps every client path beneath the root, or a virtual tree, which
//! knows no path of this machine. Should it ever have a hole, there is nothing behind it: Landlock hides
//! all other files, and seccomp refuses calls that a file server never makes.

mod calls;
mod files;

use std::error::Error;
use std::path::PathBuf;

use anyhow::{Result, bail};
use landlock::RulesetStatus;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

use crate::config::Confine;

/// Limits of the process: no core dumps with clients' bytes, as many descriptors as may be, and
/// modes that do not depend on who started it.
pub(super) fn limit_process() {
    umask(Mode::WGRP | Mode::WOTH);
    if let Err(err) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
        tracing::warn!(error = &err as &dyn Error, "core dumps cannot be switched off");
    }
    let most = getrlimit(Resource::Nofile).maximum;
    if let Err(err) = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }) {
        tracing::warn!(error = &err as &dyn Error, "the limit of open files stays low");
    }
}

/// What a wall lets through.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// Directories whose files may be read, made, changed, moved and removed.
    pub(super) own: Vec<PathBuf>,
    /// Files and directories that may be read.
    pub(super) seen: Vec<PathBuf>,
    /// Whether other machines may be called.
    pub(super) connects: bool,
}

/// Builds the wall for this thread and all that it will start, unless the operator does without. Logs
/// whether it stands; fails if it does not and the operator insists on it.
pub(super) fn stand(confine: &Confine, gate: &Gate) -> Result<()> {
    if confine.confine == Some(false) {
        tracing::info!(landlock = "off", seccomp = "off", "no second wall: --confine=false");
        return Ok(());
    }
    let stands = [around_files(confine, gate), around_calls()];
    if confine.confine == Some(true) && stands.contains(&false) {
        bail!(
            "this kernel cannot confine the server, and --confine insists on it: see the warnings \
             above, or leave --confine away to serve without the second wall"
        );
    }
    Ok(())
}

fn around_files(confine: &Confine, gate: &Gate) -> bool {
    if confine.no_landlock == Some(true) {
        tracing::info!(landlock = "off", "no wall around files: only the first one confines paths");
        return true;
    }
    match files::restrict(gate) {
        Ok(RulesetStatus::FullyEnforced) => tracing::info!(landlock = "full", "second wall stands"),
        Ok(RulesetStatus::PartiallyEnforced) => {
            tracing::info!(landlock = "partial", "second wall stands, as far as this kernel goes");
        }
        Ok(RulesetStatus::NotEnforced) => return warn_without_wall(None),
        Err(err) => return warn_without_wall(Some(&err)),
    }
    true
}

fn warn_without_wall(error: Option<&(dyn Error + 'static)>) -> bool {
    tracing::warn!(landlock = "none", error, "no second wall: this kernel has no usable Landlock");
    false
}

fn around_calls() -> bool {
    let refused = calls::restrict();
    match &refused {
        Ok(()) => tracing::info!(seccomp = "on", "calls that no file server makes are refused"),
        Err(err) => {
            let error = err as &dyn Error;
            tracing::warn!(seccomp = "none", error, "no call is refused: no usable seccomp");
        }
    }
    refused.is_ok()
}
