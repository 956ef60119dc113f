//! What a store keeps of a sandbox beside its tree.

use std::collections::BTreeMap;

use bytes::{BufMut as _, Bytes};

use crate::tree::{Damaged, Input, put_check, put_number, put_text, put_time};
use crate::{
    AttachTarget, ContainerName, DotDot, Error, ErrorKind, Limits, MAX_PATH, Result, SandboxPath,
    UnixTime,
};

const FORMAT: u8 = 1;
const MOST_LABELS: usize = 64;
const LONGEST_LABEL: usize = 256;
/// What machines, containers and births of processes are told apart by.
const LONGEST_MARK: u64 = 512;
/// A byte that is not UTF-8 is spelled with four.
const LONGEST_PATH: u64 = 4 * MAX_PATH as u64;

/// A sandbox: how its tree is kept, and what its maker said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) home: Home,
    pub(super) prefix: SandboxPath,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) created: UnixTime,
    pub(super) expires: Option<UnixTime>,
}

/// How the tree of a sandbox is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In the store, which knows its limits.
    Store,
    /// In a directory of a machine.
    Directory(Directory),
    /// In a container of a machine.
    Attached(Attached),
}

/// A tree of a container, or of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attached {
    /// What tells its machine from others, where the same name means another container.
    pub(super) machine: String,
    pub(super) target: AttachTarget,
    /// Where in the container the tree begins.
    pub(super) path: SandboxPath,
    pub(super) limits: Limits,
}

/// A directory of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directory {
    /// Its whole path on that machine.
    pub(super) path: String,
    /// What tells the allowed directory that it lies beneath from those of other machines.
    pub(super) root: Identity,
    /// What tells it from others that were or will be at that path.
    pub(super) identity: Identity,
    /// Whether it was made for the sandbox, and goes with it.
    pub(super) made: bool,
    pub(super) limits: Limits,
}

/// The number of a directory, and when it was made.
pub(super) type Identity = (u64, Option<UnixTime>);

impl Record {
    /// Whether the time of the sandbox is over.
    pub(super) fn is_over(&self, now: UnixTime) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// The same sandbox, whose time is over: only what it leaves is to be removed.
    pub(super) fn doomed(self) -> Self {
        Self { expires: Some(UnixTime::EPOCH), ..self }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORMAT];
        match &self.home {
            Home::Store => out.push(0),
            Home::Directory(directory) => {
                out.push(1);
                directory.encode(&mut out);
            }
            Home::Attached(attached) => {
                out.push(2);
                attached.encode(&mut out);
            }
        }
        put_text(&mut out, self.prefix.as_str());
        put_number(&mut out, self.labels.len() as u64);
        for (key, value) in &self.labels {
            put_text(&mut out, key);
            put_text(&mut out, value);
        }
        put_time(&mut out, self.created);
        put_maybe_time(&mut out, self.expires);
        put_check(&mut out);
        out
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self, Damaged> {
        let mut input = Input::record(bytes, FORMAT)?;
        let home = match input.byte()? {
            0 => Home::Store,
            1 => Home::Directory(Directory::decode(&mut input)?),
            2 => Home::Attached(Attached::decode(&mut input)?),
            _ => return Err(Damaged("it was written by a later version")),
        };
        let prefix = path(&mut input, "its prefix cannot be")?;
        let labels = labels(&mut input)?;
        let (created, expires) = (input.time()?, maybe_time(&mut input)?);
        input.ends()?;
        Ok(Self { home, prefix, labels, created, expires })
    }
}

impl Directory {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, &self.path);
        for (inode, made) in [self.root, self.identity] {
            out.put_u64_le(inode);
            put_maybe_time(out, made);
        }
        out.push(u8::from(self.made));
        put_limits(out, self.limits);
    }

    fn decode(input: &mut Input) -> Result<Self, Damaged> {
        let path = input.text(MAX_PATH as u64)?.to_string();
        let root = (input.fixed_u64()?, maybe_time(input)?);
        let identity = (input.fixed_u64()?, maybe_time(input)?);
        let made = flag(input)?;
        Ok(Self { path, root, identity, made, limits: limits(input)? })
    }
}

impl Attached {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, &self.machine);
        match &self.target {
            AttachTarget::Container(name) => {
                out.push(0);
                put_text(out, name.as_str());
            }
            AttachTarget::Process { pid, birth } => {
                out.push(1);
                put_number(out, u64::from(*pid));
                put_text(out, birth.as_deref().unwrap_or_default());
            }
        }
        put_text(out, self.path.as_str());
        put_limits(out, self.limits);
    }

    fn decode(input: &mut Input) -> Result<Self, Damaged> {
        let machine = input.text(LONGEST_MARK)?.to_string();
        let target = match input.byte()? {
            0 => {
                let name = ContainerName::parse(&input.text(LONGEST_MARK)?);
                AttachTarget::Container(name.map_err(|_| Damaged("its container cannot be"))?)
            }
            1 => {
                let pid = u32::try_from(input.number()?);
                let pid = pid.map_err(|_| Damaged("its process cannot be"))?;
                let birth = Some(input.text(LONGEST_MARK)?.to_string());
                AttachTarget::Process { pid, birth: birth.filter(|birth| !birth.is_empty()) }
            }
            _ => return Err(Damaged("it was written by a later version")),
        };
        let path = path(input, "its path in the container cannot be")?;
        Ok(Self { machine, target, path, limits: limits(input)? })
    }
}

fn path(input: &mut Input, damage: &'static str) -> Result<SandboxPath, Damaged> {
    let text = input.text(LONGEST_PATH)?;
    let parsed = SandboxPath::parse(&text, DotDot::Refuse);
    parsed.ok().filter(|path| path.as_str() == &*text).ok_or(Damaged(damage))
}

fn put_limits(out: &mut Vec<u8>, limits: Limits) {
    for limit in [limits.file_size, limits.total_size, limits.nodes] {
        out.push(u8::from(limit.is_some()));
        out.put_u64_le(limit.unwrap_or_default());
    }
}

fn limits(input: &mut Input) -> Result<Limits, Damaged> {
    Ok(Limits { file_size: limit(input)?, total_size: limit(input)?, nodes: limit(input)? })
}

/// Refuses labels that are too many or too long.
pub(super) fn check_labels(labels: &BTreeMap<String, String>) -> Result<()> {
    let fits = |(key, value): (&String, &String)| {
        (1..=LONGEST_LABEL).contains(&key.len()) && value.len() <= LONGEST_LABEL
    };
    if labels.len() <= MOST_LABELS && labels.iter().all(fits) {
        return Ok(());
    }
    let message = format!("a sandbox has at most {MOST_LABELS} labels of {LONGEST_LABEL} bytes");
    Err(Error::new(ErrorKind::InvalidArgument, message))
}

fn labels(input: &mut Input) -> Result<BTreeMap<String, String>, Damaged> {
    let count = input.number()?;
    if count > MOST_LABELS as u64 {
        return Err(Damaged("it has too many labels"));
    }
    let mut labels: Vec<(String, String)> = Vec::new();
    for _ in 0..count {
        let mut text = || input.text(LONGEST_LABEL as u64).map(|text| text.to_string());
        labels.push((text()?, text()?));
    }
    if !labels.is_sorted_by(|one, next| one.0 < next.0) {
        return Err(Damaged("its labels are not in order"));
    }
    Ok(labels.into_iter().collect())
}

fn put_maybe_time(out: &mut Vec<u8>, time: Option<UnixTime>) {
    out.push(u8::from(time.is_some()));
    if let Some(time) = time {
        put_time(out, time);
    }
}

fn maybe_time(input: &mut Input) -> Result<Option<UnixTime>, Damaged> {
    flag(input)?.then(|| input.time()).transpose()
}

fn limit(input: &mut Input) -> Result<Option<u64>, Damaged> {
    match (flag(input)?, input.fixed_u64()?) {
        (true, limit) => Ok(Some(limit)),
        (false, 0) => Ok(None),
        (false, _) => Err(Damaged("an absent limit has a value")),
    }
}

fn flag(input: &mut Input) -> Result<bool, Damaged> {
    match input.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Damaged("a flag is neither set nor unset")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::golden::bytes;

    fn golden() -> Record {
        let at = |seconds, nanoseconds| UnixTime { seconds, nanoseconds };
        let labels = [("a", "1"), ("b", "é")].map(|(key, value)| (key.into(), value.into()));
        let limits = Limits { file_size: None, total_size: Some(3), nodes: None };
        let home = Home::Directory(Directory {
            path: "/r/x".into(),
            root: (7, None),
            identity: (9, Some(at(1, 2))),
            made: true,
            limits,
        });
        let prefix = SandboxPath::parse("/w", DotDot::Refuse).unwrap();
        Record { home, prefix, labels: labels.into(), created: at(3, 4), expires: Some(at(5, 6)) }
    }

    fn golden_bytes() -> Bytes {
        let words = "01 01  04 2f 72 2f 78  07 00 00 00 00 00 00 00  00  09 00 00 00 00 00 00 00  01 02 02  01  \
            00 00 00 00 00 00 00 00 00  01 03 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00 00  \
            02 2f 77  02  01 61 01 31  01 62 02 c3 a9  06 04  01 0a 06";
        let mut all = bytes(words).to_vec();
        put_check(&mut all);
        all.into()
    }

    #[test]
    fn a_sandbox_has_these_bytes() {
        assert_eq!(Bytes::from(golden().encode()), golden_bytes());
        assert_eq!(Record::decode(&golden_bytes()).unwrap(), golden());
        let stored = Record { home: Home::Store, expires: None, ..golden() };
        assert_eq!(Record::decode(&stored.encode().into()).unwrap(), stored);
    }

    fn attached(target: AttachTarget) -> Record {
        let path = SandboxPath::parse("/w", DotDot::Refuse).unwrap();
        let limits = Limits { file_size: None, total_size: None, nodes: Some(3) };
        let home = Home::Attached(Attached { machine: "m1".into(), target, path, limits });
        Record { home, labels: BTreeMap::new(), expires: None, ..golden() }
    }

    #[test]
    fn an_attached_sandbox_has_these_bytes() {
        let tail = "02 2f 77  00 00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00 00  \
            01 03 00 00 00 00 00 00 00  02 2f 77  00  06 04  00";
        let whole = |words: &str| {
            let mut all = bytes(&format!("01 02  02 6d 31  {words}  {tail}")).to_vec();
            put_check(&mut all);
            Bytes::from(all)
        };
        let container = attached(AttachTarget::Container(ContainerName::parse("web").unwrap()));
        assert_eq!(Bytes::from(container.encode()), whole("00  03 77 65 62"));
        assert_eq!(Record::decode(&whole("00  03 77 65 62")).unwrap(), container);
        let birth = Some("b/7".to_owned());
        let process = attached(AttachTarget::Process { pid: 300, birth });
        assert_eq!(Bytes::from(process.encode()), whole("01  ac 02  03 62 2f 37"));
        assert_eq!(Record::decode(&whole("01  ac 02  03 62 2f 37")).unwrap(), process);
    }

    #[test]
    fn a_long_prefix_of_bytes_that_are_no_text_is_read_again() {
        let name = "\u{10FE80}".repeat(250);
        let prefix = SandboxPath::parse(&[&*name; 5].join("/"), DotDot::Refuse).unwrap();
        let record = Record { prefix, ..golden() };
        assert_eq!(Record::decode(&record.encode().into()).unwrap(), record);
    }

    #[test]
    fn an_attached_sandbox_whose_container_could_be_a_path_is_refused() {
        let container = attached(AttachTarget::Container(ContainerName::parse("web").unwrap()));
        let changed = container.encode();
        let at = changed.windows(3).position(|bytes| bytes == b"web").unwrap();
        let mut changed = changed[..changed.len() - 16].to_vec();
        changed[at + 1] = b'/';
        put_check(&mut changed);
        assert!(Record::decode(&changed.into()).is_err());
    }

    #[test]
    fn a_sandbox_with_any_one_byte_changed_or_missing_is_refused() {
        let golden = golden_bytes();
        for at in 0..golden.len() {
            assert!(Record::decode(&golden.slice(..at)).is_err(), "the first {at} bytes");
            let mut changed = golden.to_vec();
            changed[at] ^= 1;
            assert!(Record::decode(&changed.into()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_sandbox_that_was_changed_on_purpose_is_refused_or_understood() {
        let golden = golden_bytes();
        let content = &golden[..golden.len() - 16];
        for at in 0..content.len() {
            for change in 1..=255 {
                let mut changed = content.to_vec();
                changed[at] ^= change;
                put_check(&mut changed);
                if let Ok(record) = Record::decode(&changed.clone().into()) {
                    assert_eq!(record.encode(), changed, "byte {at}");
                }
            }
        }
    }
}
