//! The wall around calls: seccomp refuses what a file server never asks of the kernel.
//!
//! What is refused is listed, not what is allowed: drivers of stores and the C library choose their calls
//! anew with every version, and a server that fails at one of them in a year is no safer than one that
//! does not. The list is what would lead from a hole in the program to the rest of the machine: other
//! programs, other processes, mounts and namespaces, modules, handles that pass by every directory.

use std::collections::BTreeMap;

use libc::{CLONE_THREAD, ENOSYS, EPERM, c_long};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

/// Calls that are refused whatever is asked of them.
const REFUSED: &[c_long] = &[
    // Other programs. The server starts none.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Other processes: their memory, their descriptors, their fate as a debugger decides it.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Files by what is no path, so that no directory confines them.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // Other views of the machine.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    // The kernel itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // What goes past the other walls: a ring carries calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine as a whole.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_syslog,
    libc::SYS_personality,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// The other numbers by which an x86-64 kernel may know the same calls (its x32 interface).
#[cfg(target_arch = "x86_64")]
const ALIAS: Option<c_long> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const ALIAS: Option<c_long> = None;

/// Refuses the calls to this thread and all that it will start.
pub(super) fn restrict() -> Result<(), Error> {
    let mut refused: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED.iter().copied() {
        refused.insert(call, Vec::new());
    }
    refused.insert(libc::SYS_clone, vec![another_process()?]);
    apply(refused, EPERM)?;
    // What it asks for is in memory, where no filter looks. The C library then takes the older call.
    apply(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), ENOSYS)
}

/// A clone that is no thread.
fn another_process() -> Result<SeccompRule, BackendError> {
    let is_thread = u64::from(CLONE_THREAD.unsigned_abs());
    let no_thread = SeccompCmpOp::MaskedEq(is_thread);
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, no_thread, 0)?;
    SeccompRule::new(vec![condition])
}

fn apply(mut refused: BTreeMap<c_long, Vec<SeccompRule>>, errno: i32) -> Result<(), Error> {
    if let Some(alias) = ALIAS {
        let aliases = refused.iter().map(|(call, rules)| (call | alias, rules.clone()));
        let aliases: Vec<_> = aliases.collect();
        refused.extend(aliases);
    }
    let with = SeccompAction::Errno(errno.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, with, arch)?;
    let program: BpfProgram = filter.try_into()?;
    apply_filter(&program)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// seccomp binds the thread that asks for it, so each test walls in a thread of its own.
    fn behind_the_wall(work: impl FnOnce() + Send) {
        thread::scope(|scope| {
            let walled = scope.spawn(|| {
                restrict().unwrap();
                work();
            });
            walled.join().unwrap();
        });
    }

    #[test]
    fn behind_the_wall_no_program_is_started() {
        behind_the_wall(|| {
            let err = std::process::Command::new("true").spawn().unwrap_err();
            assert_eq!(err.kind(), std::io::ErrorKind::PermissionDenied, "{err}");
        });
        assert!(std::process::Command::new("true").status().unwrap().success());
    }

    #[test]
    fn behind_the_wall_threads_begin_and_files_are_read() {
        behind_the_wall(|| {
            let read = thread::spawn(|| {
                let dir =
                    rustix::fs::open(".", rustix::fs::OFlags::PATH, rustix::fs::Mode::empty());
                rustix::fs::fstat(dir.unwrap()).is_ok()
            });
            assert!(read.join().unwrap());
        });
    }

    #[test]
    fn behind_the_wall_no_other_view_of_the_machine_is_had() {
        behind_the_wall(|| {
            use rustix::io::Errno;
            let moved = rustix::process::chroot("/");
            assert_eq!(moved, Err(Errno::PERM));
            let mounted = rustix::mount::mount_bind("/", "/proc");
            assert_eq!(mounted, Err(Errno::PERM));
        });
    }
}
