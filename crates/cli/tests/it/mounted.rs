//! File systems that a test mounts for itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::attack_form::{machine_has, root};

/// A mount. Dropping it unmounts.
pub(crate) struct Mounted {
    point: PathBuf,
}

impl Mounted {
    /// Mounts, or says that this machine cannot.
    pub(crate) fn mount(kind: &str, options: &str, source: &str, point: &Path) -> Option<Self> {
        if !root() {
            return None;
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", kind, "-o", options, source]).arg(point);
        let output = mount.output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        let mounts = machine_has(&format!("to mount {kind} ({})", why.trim()), success(&output));
        mounts.then(|| Self { point: point.to_path_buf() })
    }

    /// Makes a directory a mount of its own, into which nothing can be renamed from beside it: a
    /// server then finds no place for staging.
    pub(crate) fn alone(dir: &Path) -> Option<Self> {
        Self::mount("none", "bind", dir.to_str().unwrap(), dir)
    }

    /// A mount that another program made.
    pub(crate) fn by_another(point: &Path) -> Self {
        Self { point: point.to_path_buf() }
    }

    /// Changes the options of the mount, such as `ro`.
    pub(crate) fn remount(&self, options: &str) {
        run(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.point));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, so that a test that failed with a server still on it cleans up as well.
        Command::new("umount").arg("-l").arg(&self.point).output().ok();
    }
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|err| panic!("{command:?}: {err}"));
    assert!(success(&output), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn success(output: &Output) -> bool {
    output.status.success()
}
