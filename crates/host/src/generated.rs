//! File systems whose files are made up as they are read.

use std::os::fd::AsFd;

use rustix::fs::fstatfs;

/// `PROC_SUPER_MAGIC` of `<linux/magic.h>`, where all these numbers are from.
pub(crate) const PROC: i64 = 0x9fa0;

/// proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs.
const GENERATED: [i64; 7] =
    [PROC, 0x6265_6572, 0x0027_e0eb, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673];

/// What else the kernel makes up and a container may see: devpts, mqueue, bpf, nsfs, pstore,
/// efivarfs, configfs, binfmt_misc, hugetlbfs, rpc_pipefs, selinuxfs, smackfs, AppArmor's,
/// fusectl, autofs (which mounts when it is looked at), anonymous inodes, sockets, pipes, processes
/// (pidfs), secret memory, nfsd, resctrl, binderfs, USB's, Xen's, Open Firmware's.
const OF_THE_KERNEL: [i64; 26] = [
    0x1cd1,
    0x1980_0202,
    0xcafe_4a11,
    0x6e73_6673,
    0x6165_676c,
    0xde5e_81e4,
    0x6265_6570,
    0x4249_4e4d,
    0x9584_58f6,
    0x6759_6969,
    0xf97c_ff8c,
    0x4341_5d53,
    0x5a3c_69f0,
    0x6573_5543,
    0x0187,
    0x0904_1934,
    0x534f_434b,
    0x5049_5045,
    0x5049_4446,
    0x5345_434d,
    0x6e66_7364,
    0x0765_5821,
    0x6c6f_6f70,
    0x9fa2,
    0xabba_1974,
    0x9fa1,
];

/// Whether the content of an open file is made up.
pub(crate) fn is_generated(file: impl AsFd) -> bool {
    fstatfs(file).is_ok_and(|system| GENERATED.contains(&system.f_type))
}

/// Whether an open file belongs to the kernel and not to a container, whatever it is called there.
/// One that cannot be asked is taken for it.
pub(crate) fn is_of_the_kernel(file: impl AsFd) -> bool {
    let kind = fstatfs(file).map(|system| system.f_type);
    kind.map_or(true, |kind| GENERATED.contains(&kind) || OF_THE_KERNEL.contains(&kind))
}
