//! Podman with runc, from Debian's packages.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::installed;
use crate::process::{self, Process};

/// An image that holds busybox, under all its names, and nothing else.
const IMAGE: &str = "localhost/sandkeep-test:1";
/// What runs where no init system hands out groups of processes.
const OPTIONS: [&str; 3] = ["--runtime", "runc", "--cgroup-manager=cgroupfs"];
/// Limits of the machine that tests run on may lie below podman's own.
const LIMITS: [&str; 5] =
    ["--network=none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"];

/// Podman's API, on a socket of its own.
pub struct Engine {
    _service: Process,
    place: TempDir,
}

/// A container. It is removed when this is dropped.
pub struct Container {
    name: String,
}

impl Engine {
    /// Starts to answer.
    pub fn start() -> Self {
        let place = tempfile::tempdir().expect("a directory for the socket");
        make_image(place.path());
        let socket = place.path().join("podman.sock");
        let mut command = process::command(&[], &installed::on_path("podman"), place.path());
        command.args(OPTIONS).args(["system", "service", "--time=0"]);
        command.arg(format!("unix://{}", socket.display()));
        let mut service = Process::spawn(command, place.path().join("log"));
        if service.wait_until(|| UnixStream::connect(&socket).is_ok()).is_err() {
            panic!("podman does not answer: {}", service.last_words());
        }
        Self { _service: service, place }
    }

    /// Where it answers.
    pub fn socket(&self) -> PathBuf {
        self.place.path().join("podman.sock")
    }

    /// Runs a container that does nothing, with these options of `podman run`.
    pub fn run(&self, options: &[&str]) -> Container {
        self.run_script(options, "exec sleep 100000")
    }

    /// Runs a container of this name that does nothing.
    pub fn run_named(&self, name: &str, options: &[&str]) -> Container {
        run(name, options, "exec sleep 100000")
    }

    /// Runs a container with a script of busybox's shell.
    pub fn run_script(&self, options: &[&str], script: &str) -> Container {
        run(&fresh_name(), options, script)
    }
}

/// A name that no other container has.
pub(crate) fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("sandkeep-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn run(name: &str, options: &[&str], script: &str) -> Container {
    let container = Container { name: name.to_owned() };
    let mut command = podman();
    command.args(["run", "--detach", "--name", name]).args(LIMITS).args(options);
    // Its first process ends at once when it is told to.
    let script = format!("trap 'exit 0' TERM; {script}");
    finished(command.args([IMAGE, "sh", "-c", &script]));
    container
}

impl Container {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a script says that is run in it.
    pub fn exec(&self, script: &str) -> String {
        let output = finished(podman().args(["exec", &self.name, "sh", "-c", script]));
        String::from_utf8(output.stdout).expect("scripts of tests say text")
    }

    /// Its first process, as podman tells.
    pub fn pid(&self) -> u32 {
        let output = finished(podman().args(["inspect", "-f", "{{.State.Pid}}", &self.name]));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.trim().parse().expect("a container has a process")
    }

    /// Ends it.
    pub fn stop(&self) {
        finished(podman().args(["stop", "--time", "0", &self.name]));
    }

    /// Ends it as the kernel does when memory runs out.
    pub fn kill(&self) {
        finished(podman().args(["kill", &self.name]));
    }

    /// Starts it again.
    pub fn start(&self) {
        finished(podman().args(["start", &self.name]));
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        podman().args(["rm", "--force", "--volumes", "--time", "0", &self.name]).output().ok();
    }
}

fn podman() -> Command {
    let mut command = Command::new(installed::on_path("podman"));
    command.args(OPTIONS);
    command
}

fn finished(command: &mut Command) -> Output {
    let output = command.output().expect("podman starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// Makes the image, once for all tests.
fn make_image(place: &Path) {
    let lock = std::env::temp_dir().join("sandkeep-test-image.lock");
    let lock = File::options().create(true).append(true).open(lock).expect("the lock is made");
    flock(&lock, FlockOperation::LockExclusive).expect("whoever comes second waits");
    let is_there = podman().args(["image", "exists", IMAGE]).output().expect("podman starts");
    if is_there.status.success() {
        return;
    }
    let tree = place.join("image");
    for dir in ["bin", "etc", "proc", "sys", "dev", "tmp", "workspace"] {
        fs::create_dir_all(tree.join(dir)).expect("the tree is made");
    }
    let busybox = installed::on_path("busybox");
    fs::copy(&busybox, tree.join("bin/busybox")).expect("busybox is copied");
    let names = Command::new(&busybox).arg("--list").output().expect("busybox starts").stdout;
    for name in String::from_utf8_lossy(&names).lines().filter(|name| *name != "busybox") {
        symlink("busybox", tree.join("bin").join(name)).expect("its names are made");
    }
    fs::write(tree.join("etc/passwd"), "root:x:0:0:root:/:/bin/sh\n").expect("a user is made");
    let archive = place.join("image.tar");
    finished(Command::new("tar").arg("-C").arg(&tree).arg("-cf").arg(&archive).arg("."));
    finished(podman().arg("import").arg(&archive).arg(IMAGE));
}
