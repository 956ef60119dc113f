//! A process, by whose root the tree of a container is found.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::{Error, Result, Stat, beneath, stat};

/// More than any file of `/proc` has that is read here.
const MOST_TEXT: usize = 16 << 10;
const MOST_TABLE: usize = 16 << 20;
/// Where the time of the start stands in `/proc/PID/stat`, counted from behind the name.
const STARTED: usize = 19;
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A process that is held: whatever becomes of its number, no other one is ever taken for it.
///
/// As a descriptor it becomes readable when the process ends.
#[derive(Debug)]
pub struct Process {
    number: u32,
    descriptor: OwnedFd,
    /// Its directory in `/proc`, which answers nothing once the process is gone, even if another
    /// one has its number by then.
    directory: OwnedFd,
}

/// What tells the root of a process from any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootMark {
    mount: u64,
    device: (u32, u32),
    inode: u64,
}

impl Process {
    /// Holds the process of a number. One that ended already is `ESRCH`.
    pub fn find(number: u32) -> Result<Self> {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = match open(format!("/proc/{number}"), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Err(Errno::SRCH.into()),
            outcome => outcome?,
        };
        beneath::check_proc(&directory)?;
        let found = Self { number, descriptor, directory };
        // Looked at last, so that the process lived with that number when its directory was
        // opened. Where `/proc` is that of other processes than ours, the numbers differ.
        if found.number_in_proc()? != Some(number) {
            return Err(Errno::SRCH.into());
        }
        Ok(found)
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What no other process has, of this or any other run of the machine.
    pub fn birth(&self) -> Result<String> {
        let boot = open("/proc/sys/kernel/random/boot_id", READ, Mode::empty())?;
        let boot = text_of(&boot, MOST_TEXT)?;
        let stat = text_of(&openat(&self.directory, "stat", READ, Mode::empty())?, MOST_TEXT)?;
        // The name may hold anything, brackets too.
        let behind = stat.rsplit_once(") ").map(|(_, behind)| behind).unwrap_or_default();
        let started = behind.split(' ').nth(STARTED).ok_or(Errno::IO)?;
        Ok(format!("{}/{started}", boot.trim()))
    }

    /// What its root is now. A process that ended has none. It never blocks, whatever the process made
    /// its root.
    pub fn root_mark(&self) -> Result<RootMark> {
        stat::followed(&self.directory, "root").map(|root| RootMark::of(&root))
    }

    /// Whether its root is the one of this process, so that it is in no container.
    pub fn shares_our_root(&self) -> Result<bool> {
        let own = stat::of(open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)?;
        Ok(stat::followed(&self.directory, "root")?.is_same_file(&own))
    }

    /// Opens its root: the only magic link that is ever followed, and never one that a client
    /// named.
    pub(crate) fn root(&self) -> Result<OwnedFd> {
        Ok(openat(&self.directory, "root", DIRECTORY, Mode::empty())?)
    }

    /// Opens a directory as the process itself would find it; the empty path is the root.
    pub(crate) fn open(&self, path: &Path) -> Result<OwnedFd> {
        let root = self.root()?;
        if path.as_os_str().is_empty() {
            return Ok(root);
        }
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let flags = DIRECTORY | OFlags::NONBLOCK;
        Ok(openat2(root, path, flags, Mode::empty(), resolve)?)
    }

    /// What is mounted where, as the process sees it.
    pub(crate) fn mounts(&self) -> Result<Vec<u8>> {
        read_all(&openat(&self.directory, "mountinfo", READ, Mode::empty())?, MOST_TABLE)
    }

    fn number_in_proc(&self) -> Result<Option<u32>> {
        let own = format!("/proc/self/fdinfo/{}", self.descriptor.as_raw_fd());
        let text = text_of(&open(own, READ, Mode::empty())?, MOST_TEXT)?;
        let number = text.lines().find_map(|line| line.strip_prefix("Pid:"));
        Ok(number.and_then(|number| number.trim().parse().ok()))
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl AsRawFd for Process {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl RootMark {
    fn of(root: &Stat) -> Self {
        Self { mount: root.mount, device: root.device, inode: root.inode }
    }
}

/// What tells this machine from others: what its operator set up, or else its name.
pub fn machine() -> Result<String> {
    let set_up = openat(CWD, "/etc/machine-id", READ, Mode::empty()).map_err(Error::from);
    let set_up = set_up.and_then(|file| text_of(&file, MOST_TEXT)).unwrap_or_default();
    match set_up.trim() {
        "" => {
            let name = openat(CWD, "/proc/sys/kernel/hostname", READ, Mode::empty())?;
            Ok(text_of(&name, MOST_TEXT)?.trim().to_owned())
        }
        id => Ok(id.to_owned()),
    }
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn text_of(file: &OwnedFd, most: usize) -> Result<String> {
    Ok(String::from_utf8_lossy(&read_all(file, most)?).into_owned())
}

/// All that a file of the kernel says, which is never so much.
pub(crate) fn read_all(file: &OwnedFd, most: usize) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut space = [0; 8192];
    loop {
        match rustix::io::retry_on_intr(|| rustix::io::read(file, &mut space[..]))? {
            0 => return Ok(text),
            _ if text.len() > most => return Err(Errno::FBIG.into()),
            len => text.extend_from_slice(space.get(..len).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_born_once() {
        let own = Process::find(std::process::id()).unwrap();
        assert_eq!(
            own.birth().unwrap(),
            Process::find(std::process::id()).unwrap().birth().unwrap()
        );
        // The kernel counts births in hundredths of a second.
        std::thread::sleep(std::time::Duration::from_millis(30));
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let born = Process::find(other.id()).unwrap().birth().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        assert_ne!(born, own.birth().unwrap());
    }

    #[test]
    fn a_process_that_ended_has_no_root_even_before_anybody_took_note() {
        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let held = Process::find(other.id()).unwrap();
        assert!(held.root_mark().is_ok());
        drop(other.stdin.take());
        // Waits for its end and leaves it as it is, a process that nobody took note of.
        let id = rustix::process::WaitId::Pid(Pid::from_child(&other));
        let options =
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(id, options).unwrap();
        assert!(held.root_mark().is_err());
        other.wait().unwrap();
        assert!(held.root_mark().is_err() && held.birth().is_err() && held.root().is_err());
    }

    #[test]
    fn numbers_that_no_process_has_are_refused() {
        assert_eq!(Process::find(0).unwrap_err(), Errno::SRCH.into());
        assert_eq!(Process::find(u32::MAX).unwrap_err(), Errno::SRCH.into());
        assert_eq!(Process::find(i32::MAX as u32).unwrap_err(), Errno::SRCH.into());
    }

    #[test]
    fn this_process_has_its_own_root() {
        assert!(Process::find(std::process::id()).unwrap().shares_our_root().unwrap());
    }
}
