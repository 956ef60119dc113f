//! The wall around files: Landlock leaves the process nothing but the root, the staging directories and
//! `/proc`, or but the directory of the store.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

use super::Gate;

/// The newest rights that were tried. A kernel that knows fewer enforces those it knows.
const TRIED: ABI = ABI::V6;

/// Builds the wall for this thread and all that it will start. Says how far it goes.
pub(super) fn restrict(gate: &Gate) -> Result<RulesetStatus, RulesetError> {
    let everything = AccessFs::from_all(TRIED);
    // A file keeps its rights when it moves, so root and staging have the same. Special files are
    // among them because they can be moved and removed; nothing here is run.
    let owning = everything & !(AccessFs::Execute | AccessFs::IoctlDev);
    let seeing: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let network = AccessNet::from_all(TRIED);
    let network = if gate.connects { network & !AccessNet::ConnectTcp } else { network };
    let status = Ruleset::default()
        // A kernel without this right forbids every move between directories.
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .handle_access(network)?
        .scope(Scope::from_all(TRIED))?
        .create()?
        .add_rules(rules(&gate.own, owning))?
        .add_rules(rules(&gate.seen, seeing))?
        .restrict_self()?;
    Ok(status.ruleset)
}

fn rules(
    dirs: &[PathBuf],
    rights: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<PathFd>, RulesetError>> {
    let opened = dirs.iter().filter_map(|dir| PathFd::new(dir).ok());
    opened.map(move |dir| Ok(PathBeneath::new(dir, rights)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::thread;

    use super::*;

    /// Landlock binds the thread that asks for it, so each test walls in a thread of its own. A
    /// kernel without Landlock is no failure, except in CI, where a test that does not run is one.
    #[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a skipped test is loud")]
    fn behind_the_wall(own: &[&Path], work: impl FnOnce() + Send) {
        let own = own.iter().map(|dir| (*dir).to_owned()).collect();
        let gate = Gate { own, seen: vec!["/proc".into()], connects: false };
        thread::scope(|scope| {
            let walled = scope.spawn(|| match restrict(&gate) {
                Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => work(),
                other => {
                    assert!(std::env::var_os("CI").is_none(), "CI must have Landlock: {other:?}");
                    eprintln!("SKIPPED: this test needs a kernel with Landlock");
                }
            });
            walled.join().unwrap();
        });
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test tries what the wall forbids")]
    fn behind_the_wall_other_files_cannot_be_read_or_written() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        behind_the_wall(&[inside.path()], || {
            let denied = |err: std::io::Error| err.kind() == std::io::ErrorKind::PermissionDenied;
            assert!(denied(std::fs::read(&secret).unwrap_err()));
            assert!(denied(std::fs::write(&secret, "x").unwrap_err()));
            assert!(denied(std::fs::read("/etc/hostname").unwrap_err()));
            assert!(denied(std::fs::read_dir("/etc").unwrap_err()));
            assert!(denied(std::net::TcpStream::connect("127.0.0.1:9").unwrap_err()));
        });
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test tries what the wall allows")]
    fn behind_the_wall_files_move_between_root_and_staging() {
        let (root, staging) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        behind_the_wall(&[root.path(), staging.path()], || {
            let unfinished = staging.path().join("unfinished");
            std::fs::write(&unfinished, "whole").unwrap();
            std::fs::rename(&unfinished, root.path().join("file")).unwrap();
            assert_eq!(std::fs::read(root.path().join("file")).unwrap(), b"whole");
            std::fs::create_dir(root.path().join("dir")).unwrap();
            std::fs::rename(root.path().join("dir"), staging.path().join("dir")).unwrap();
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(root.path().join("file"), mode).unwrap();
            assert!(std::fs::read("/proc/self/status").is_ok());
        });
    }

    #[test]
    fn behind_the_wall_no_container_is_reached_and_the_refusal_says_why() {
        if servers::containers_are_left_out() {
            return;
        }
        let namespace = servers::Namespace::start(&[]);
        let target = engine::AttachTarget::Process { pid: namespace.pid(), birth: None };
        let options = engine::AttachedOptions {
            limits: engine::Limits::default(),
            durability: engine::Durability::Full,
        };
        let attach = || {
            let path = engine::SandboxPath::root();
            let files = engine::AttachedFs::new(target.clone(), path, options, None).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(files.attach())
        };
        behind_the_wall(&[Path::new("/tmp")], || {
            let err = attach().unwrap_err();
            assert_eq!(err.kind(), engine::ErrorKind::PermissionDenied);
            assert!(err.message().contains("--no-landlock"), "{err}");
        });
        attach().unwrap();
    }
}
