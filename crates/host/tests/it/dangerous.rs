//! Files that must never be opened.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host::{Error, Kind};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{Staged, World};

fn make_fifo(world: &World) {
    let path = world.root.join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}

#[test]
fn a_fifo_is_refused_at_once() {
    let world = World::new(Staged::Outside);
    make_fifo(&world);
    let began = Instant::now();
    assert_eq!(world.read("fifo"), Err(Error::Special));
    assert_eq!(world.dir.list(Path::new("fifo")).unwrap_err(), Error::Os(host::Errno::NOTDIR));
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_socket_is_refused_and_can_be_removed() {
    let world = World::new(Staged::Outside);
    let _listener = UnixListener::bind(world.root.join("socket")).unwrap();
    assert_eq!(world.read("socket"), Err(Error::Special));
    world.dir.remove_one(&world.spot("socket")).unwrap();
    assert!(world.names("").is_empty());
}

#[test]
fn special_files_are_listed_for_what_they_are() {
    let world = World::new(Staged::Outside);
    make_fifo(&world);
    let listing = world.dir.list(Path::new("")).unwrap();
    assert_eq!(listing.stat("fifo".as_ref()).unwrap().unwrap().kind, Kind::Special);
}

#[test]
fn a_tree_with_a_fifo_is_not_copied() {
    let world = World::new(Staged::Outside);
    world.put("tree/file", "x").unwrap();
    fs::rename(world.root.join("tree"), world.root.join("source")).unwrap();
    mknodat(CWD, world.root.join("source/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let copied = world.dir.copy_to_scratch(&world.spot("source"), &world.spot("copy"));
    assert_eq!(copied.unwrap_err(), Error::Special);
    assert_eq!(fs::read_dir(&world.staging).unwrap().count(), 1);
    assert!(!world.root.join("copy").exists());
}

/// Whoever opens such a file is made to wait until its holder lets go, or for 45 seconds.
#[test]
fn a_file_under_a_lease_is_refused_at_once() {
    let world = World::new(Staged::Outside);
    world.put("leased", "x").unwrap();
    let hold = "import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()";
    let mut holder = Command::new("python3");
    holder.args(["-c", hold]).arg(world.root.join("leased"));
    let Ok(mut holder) = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        println!("SKIPPED: this test needs python3");
        return;
    };
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let began = Instant::now();
    let read = world.read("leased");
    let took = began.elapsed();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!((&*said, read), ("held\n", Err(Error::Locked)));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn setuid_bits_do_not_survive_a_replacement() {
    let world = World::new(Staged::Outside);
    world.put("tool", "old").unwrap();
    let path = world.root.join("tool");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
    world.put("tool", "new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn a_file_without_permissions_is_statable_and_removable() {
    let world = World::new(Staged::Outside);
    world.put("closed", "x").unwrap();
    fs::set_permissions(world.root.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    assert_eq!(world.dir.stat(Path::new("closed")).unwrap().mode, 0);
    world.dir.remove_one(&world.spot("closed")).unwrap();
}

/// A directory that crosses mounts, as the whole machine is served.
fn crossing(root: &Path) -> host::Dir {
    let options = host::Options {
        mounts: host::Mounts::Cross,
        durability: host::Durability::Relaxed,
        staging: Vec::new(),
    };
    host::Dir::open_root(root, options).unwrap()
}

#[test]
fn the_memory_and_environment_of_a_process_are_never_opened() {
    let machine = crossing(Path::new("/proc"));
    for file in ["self/mem", "self/environ", "1/environ", "self/maps"] {
        assert_eq!(machine.open_file(Path::new(file)).unwrap_err(), Error::Special, "{file}");
    }
    let spot = machine.spot(Path::new("self/mem"), host::Links::Follow, host::Parents::Require);
    assert_eq!(machine.open_spot(&spot.unwrap()).unwrap_err(), Error::Special);
}

#[test]
fn what_the_kernel_makes_up_is_read_and_never_written() {
    let machine = crossing(Path::new("/proc"));
    let (file, stat) = machine.open_file(Path::new("version")).unwrap();
    assert!(machine.is_generated(&file) && stat.size == 0);
    assert!(file.read_at(&mut [0; 64], 0).unwrap() > 0);
    let path = Path::new("sys/kernel/hostname");
    let spot = machine.spot(path, host::Links::Follow, host::Parents::Require).unwrap();
    assert_eq!(machine.open_spot(&spot).unwrap_err(), Error::Special);
}

#[test]
fn a_file_that_got_another_name_is_not_changed_in_place() {
    let world = World::new(Staged::Outside);
    fs::hard_link(world.outside.join("secret"), world.root.join("shared")).unwrap();
    let changed = world.dir.set_metadata(&world.spot("shared"), Some(0o777), None);
    assert_eq!(changed, Err(Error::Shared));
}
