//! The one mutable record of a sandbox: which tree it is now, and what it may hold.

use bytes::{BufMut as _, Bytes};
use storage::Domain;

use crate::tree::{
    Body, Damaged, Input, Node, Stamp, Sum, decode_node, encode_node, put_check, put_time,
};
use crate::{Limits, UnixTime, Usage};

use super::lease::Lease;
use super::objects::{Family, Secret};

const FORMAT: u8 = 1;
/// How many writers' last commits a root remembers.
const WRITERS: usize = 32;

/// The state of a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) family: Family,
    /// How many commits led here.
    pub(crate) sequence: u64,
    /// The greatest time that anything here was stamped with.
    pub(crate) clock: u64,
    pub(crate) created: UnixTime,
    pub(crate) limits: Limits,
    /// The last commit of each recent writer, the latest last. It tells a writer whose answer got
    /// lost whether its commit happened.
    pub(crate) writers: Vec<(u128, u64)>,
    /// Who asks that all changes be made through him.
    pub(crate) lease: Option<Lease>,
    /// The root directory.
    pub(crate) tree: Node,
}

impl Root {
    /// An empty tree.
    pub(crate) fn new(family: Family, limits: Limits, now: UnixTime) -> Self {
        let body = Body::Directory(Box::default());
        let stamp = Stamp::default();
        let tree = Node { mode: 0o755, created: now, modified: now, stamp, body };
        let (writers, lease) = (Vec::new(), None);
        Self { family, sequence: 0, clock: 0, created: now, limits, writers, lease, tree }
    }

    /// What tells the sandbox from others that had or will have its id.
    pub(crate) fn identity(&self) -> (Domain, UnixTime) {
        (self.family.domain, self.created)
    }

    /// What the tree adds up to, its root not counted.
    pub(crate) fn sum(&self) -> Sum {
        self.tree.directory().map(|dir| dir.sum).unwrap_or_default()
    }

    /// How much the tree holds.
    pub(crate) fn usage(&self) -> Usage {
        usage(&self.sum())
    }

    /// Notes a commit of a writer.
    pub(crate) fn note(&mut self, writer: u128, commit: u64) {
        self.writers.retain(|(known, _)| *known != writer);
        self.writers.push((writer, commit));
        let surplus = self.writers.len().saturating_sub(WRITERS);
        self.writers.drain(..surplus);
    }

    /// Whether so many others have committed since that a commit from then may be forgotten.
    pub(crate) fn forgot_writers_since(&self, old: &Self) -> bool {
        let is_full = self.writers.len() >= WRITERS;
        is_full && self.writers.iter().all(|writer| !old.writers.contains(writer))
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, Damaged> {
        let mut out = vec![FORMAT];
        out.extend_from_slice(&self.family.domain.0);
        out.extend_from_slice(&self.family.secret.0);
        out.put_u64_le(self.sequence);
        out.put_u64_le(self.clock);
        put_time(&mut out, self.created);
        for limit in [self.limits.file_size, self.limits.total_size, self.limits.nodes] {
            out.push(u8::from(limit.is_some()));
            out.put_u64_le(limit.unwrap_or_default());
        }
        out.push(u8::try_from(self.writers.len()).unwrap_or(u8::MAX));
        for (writer, commit) in self.writers.iter().take(usize::from(u8::MAX)) {
            out.put_u128_le(*writer);
            out.put_u64_le(*commit);
        }
        let extension = self.lease.as_ref().map(Lease::encode).unwrap_or_default();
        out.put_u32_le(u32::try_from(extension.len()).unwrap_or(u32::MAX));
        out.extend_from_slice(&extension);
        encode_node(&mut out, &self.tree)?;
        put_check(&mut out);
        Ok(out)
    }

    pub(crate) fn decode(bytes: &Bytes) -> Result<Self, Damaged> {
        let mut input = Input::record(bytes, FORMAT)?;
        let family = Family::new(Domain(input.array()?), Secret(input.array()?));
        let (sequence, clock) = (input.fixed_u64()?, input.fixed_u64()?);
        let created = input.time()?;
        let limits = Limits {
            file_size: limit(&mut input)?,
            total_size: limit(&mut input)?,
            nodes: limit(&mut input)?,
        };
        let count = input.byte()?;
        let writers = (0..count)
            .map(|_| Ok((u128::from_le_bytes(input.array()?), input.fixed_u64()?)))
            .collect::<Result<_, Damaged>>()?;
        let lease = match u32::from_le_bytes(input.array()?) {
            0 => None,
            length => Some(Lease::decode(&mut input, length)?),
        };
        let tree = decode_node(&mut input)?;
        input.ends()?;
        if tree.directory().is_none() {
            return Err(Damaged("its root is no directory"));
        }
        Ok(Self { family, sequence, clock, created, limits, writers, lease, tree })
    }
}

fn limit(input: &mut Input) -> Result<Option<u64>, Damaged> {
    let is_set = input.byte()?;
    let limit = input.fixed_u64()?;
    match (is_set, limit) {
        (0, 0) => Ok(None),
        (1, limit) => Ok(Some(limit)),
        _ => Err(Damaged("a limit cannot be")),
    }
}

/// How much a directory holds that adds up to this.
pub(super) fn usage(sum: &Sum) -> Usage {
    Usage {
        bytes: sum.bytes,
        files: sum.files + sum.links,
        directories: sum.directories.saturating_add(1),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tree::Link;
    use crate::tree::tests::golden::bytes;

    /// A record byte by byte, as docs/decisions/0004-pages-and-roots.md has it.
    const GOLDEN: &str = "01
        d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0 d0
        55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55
        55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55
        07 00 00 00 00 00 00 00  2a 00 00 00 00 00 00 00
        02 02
        01 0a 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00 00  01 e8 03 00 00 00 00 00 00
        01 cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc  05 00 00 00 00 00 00 00
        00 00 00 00
        04  ed 03  02 02  06 04  2a 00 00 00 00 00 00 00  0d 0c 0b 0a  00
        01 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
        11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
        03 ac 02 02 01 01 02 c8 01
        09 ef e1 41 ed f1 e7 0d 75 5b 1a 72 69 0d 84 0f";

    pub(crate) fn golden() -> Root {
        let family = Family::new(Domain([0xd0; 16]), Secret([0x55; 32]));
        let limits = Limits { file_size: Some(10), total_size: None, nodes: Some(1000) };
        let at = |seconds, nanoseconds| UnixTime { seconds, nanoseconds };
        let sum = Sum {
            names: 3,
            bytes: 300,
            files: 2,
            directories: 1,
            links: 1,
            depth: 2,
            largest: 200,
        };
        let top = Some(Link::Stored(storage::ObjectId([0x11; 32])));
        let body = Body::Directory(Box::new(crate::tree::Directory { top, sum }));
        let stamp = Stamp { time: 42, salt: 0x0a0b_0c0d };
        let tree = Node { mode: 0o755, created: at(1, 2), modified: at(3, 4), stamp, body };
        let writers = vec![(u128::from_le_bytes([0xcc; 16]), 5)];
        let created = at(1, 2);
        Root { family, sequence: 7, clock: 42, created, limits, writers, lease: None, tree }
    }

    #[test]
    fn a_root_has_these_bytes() {
        assert_eq!(golden().encode().unwrap(), bytes(GOLDEN));
        let read = Root::decode(&bytes(GOLDEN)).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", golden()));
        assert_eq!(read.family.secret, Secret([0x55; 32]));
    }

    #[test]
    fn a_lease_lies_where_a_root_has_room() {
        let lease = Lease { owner: 1, until: 2, address: "http://a:1".into() };
        let root = Root { lease: Some(lease), ..golden() };
        let encoded = root.encode().unwrap();
        let golden = bytes(GOLDEN);
        // Behind it comes the node of the root, and the check.
        let at = golden.len() - 16 - 62 - 4;
        let expected = bytes(
            "24 00 00 00  01  01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
             02 00 00 00 00 00 00 00  0a 68 74 74 70 3a 2f 2f 61 3a 31",
        );
        assert_eq!(encoded[..at], golden[..at]);
        assert_eq!(encoded[at..at + expected.len()], expected);
        let read = Root::decode(&encoded.into()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{root:?}"));
    }

    #[test]
    fn the_keys_of_a_family_come_from_its_secret() {
        let Family { ids, heights, .. } = golden().family;
        let id = ids.id(crate::tree::ObjectKind::Chunk, b"content").to_string();
        assert_eq!(id, "4e2850e01c0fdc6c7f5c1e3863d6ae20c986db8a59260719580ce3ffb787520a");
        let high: Vec<u32> = (0..4096).filter(|n| heights.height(&n.to_string()) > 1).collect();
        assert_eq!(high, [604, 1076, 1118, 1329, 1783, 2669, 3812]);
    }

    #[test]
    fn a_root_with_any_one_byte_changed_or_missing_is_refused() {
        let golden = bytes(GOLDEN);
        for at in 0..golden.len() {
            assert!(Root::decode(&golden.slice(..at)).is_err(), "the first {at} bytes");
            for change in 1..=255 {
                let mut changed = golden.to_vec();
                changed[at] ^= change;
                assert!(Root::decode(&changed.into()).is_err(), "byte {at}");
            }
        }
    }

    #[test]
    fn a_root_that_was_changed_on_purpose_is_refused_or_understood() {
        let golden = golden().encode().unwrap();
        let content = &golden[..golden.len() - 16];
        for at in 0..content.len() {
            for change in 1..=255 {
                let mut changed = content.to_vec();
                changed[at] ^= change;
                put_check(&mut changed);
                if let Ok(root) = Root::decode(&changed.clone().into()) {
                    assert_eq!(root.encode().unwrap(), changed, "byte {at}");
                }
            }
        }
    }
}
