//! What tells whether a file was changed since somebody looked.

use crate::host_fs::is_settled;
use crate::tree::Stamp;
use crate::virtual_fs::Family;

/// Makes stamps of the states that host files are in.
///
/// A stamp is a keyed hash of number, length, time of modification and time of change. Nobody can
/// set the last of these, so a file that bears the same stamp again is the same, content and mode.
#[derive(Clone, Copy)]
pub(super) struct Fingerprints {
    key: [u8; 32],
}

impl Fingerprints {
    /// The name of the key is part of the format.
    pub(super) fn of(family: &Family) -> Self {
        Self { key: blake3::derive_key("sandkeep 1 host file states", &family.secret.0) }
    }

    /// The stamp of a state.
    pub(super) fn stamp(&self, stat: &host::Stat) -> Stamp {
        let host::Stat { inode, size, modified, changed, .. } = *stat;
        self.hash([inode, size], [modified, changed])
    }

    /// The stamp of a served directory, whatever is in it: that of its number, and of when it was
    /// made, where that is known. It stays the same when the directory is moved.
    pub(super) fn origin(&self, root: &host::Stat) -> Stamp {
        let never = host::Time { seconds: 0, nanoseconds: 0 };
        // No state of a file is so long.
        self.hash([root.inode, u64::MAX], [root.created.unwrap_or(never), never])
    }

    fn hash(&self, numbers: [u64; 2], times: [host::Time; 2]) -> Stamp {
        let mut hash = blake3::Hasher::new_keyed(&self.key);
        for number in numbers {
            hash.update(&number.to_le_bytes());
        }
        for time in times {
            hash.update(&time.seconds.to_le_bytes()).update(&time.nanoseconds.to_le_bytes());
        }
        let mut hash = hash.finalize_xof();
        let (mut time, mut salt) = ([0; 8], [0; 4]);
        hash.fill(&mut time);
        hash.fill(&mut salt);
        Stamp { time: u64::from_le_bytes(time), salt: u32::from_le_bytes(salt) }
    }

    /// The stamp of a state that was just seen, if it can be trusted. Within the clock's last tick
    /// a file can change again and look the same, so it gets a stamp that nothing ever matches.
    pub(super) fn lasting(&self, stat: &host::Stat) -> Stamp {
        if is_settled(stat) { self.stamp(stat) } else { unmatched() }
    }
}

/// A stamp that no state has.
pub(super) fn unmatched() -> Stamp {
    Stamp { time: rand::random(), salt: rand::random() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: host::Time = host::Time { seconds: 1_700_000_000, nanoseconds: 1 };
    const STAT: host::Stat = host::Stat {
        kind: host::Kind::File,
        mode: 0o644,
        size: 10,
        links: 1,
        uid: 0,
        gid: 0,
        device: (0, 0),
        inode: 7,
        mount: 1,
        modified: TIME,
        changed: TIME,
        created: None,
    };

    #[test]
    fn a_change_of_number_length_or_times_is_another_state() {
        let marks = Fingerprints::of(&Family::random());
        let later = host::Time { nanoseconds: 2, ..TIME };
        let others = [
            host::Stat { inode: 8, ..STAT },
            host::Stat { size: 11, ..STAT },
            host::Stat { modified: later, ..STAT },
            host::Stat { changed: later, ..STAT },
        ];
        assert!(others.iter().all(|other| marks.stamp(other) != marks.stamp(&STAT)));
        assert_eq!(marks.stamp(&STAT), marks.stamp(&STAT));
    }

    #[test]
    fn a_file_that_changed_just_now_matches_nothing() {
        let marks = Fingerprints::of(&Family::random());
        let now = host::precise_now();
        let fresh = host::Stat { modified: now, changed: now, ..STAT };
        assert_ne!(marks.lasting(&fresh), marks.stamp(&fresh));
        assert_ne!(marks.lasting(&fresh), marks.lasting(&fresh));
        assert_eq!(marks.lasting(&STAT), marks.stamp(&STAT));
    }
}
