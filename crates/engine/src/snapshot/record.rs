//! What a store keeps of a snapshot.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Snapshot, SnapshotId};
use crate::tree::{Damaged, Input, put_check, put_number, put_text};
use crate::virtual_fs::Root;
use crate::{Error, ErrorKind, Result};

const FORMAT: u8 = 1;
const LONGEST_MESSAGE: usize = 4096;
const MOST_LABELS: usize = 64;
const LONGEST_LABEL: usize = 256;

/// A snapshot: the root of a tree, and what its maker said about it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) root: Root,
    pub(crate) message: String,
    pub(crate) labels: BTreeMap<String, String>,
}

impl Record {
    /// Refuses words that are too many or too long.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::new(ErrorKind::InvalidArgument, message));
        if self.message.len() > LONGEST_MESSAGE {
            return refuse(format!("a snapshot's message has at most {LONGEST_MESSAGE} bytes"));
        }
        let short = |text: &String| text.len() <= LONGEST_LABEL;
        let fits = self.labels.iter().all(|(key, value)| short(key) && short(value));
        if self.labels.len() > MOST_LABELS || !fits {
            return refuse(format!(
                "a snapshot has at most {MOST_LABELS} labels of {LONGEST_LABEL} bytes"
            ));
        }
        Ok(())
    }

    /// What others see of it. The time it was taken is when its root was made.
    pub(crate) fn snapshot(&self, id: SnapshotId) -> Snapshot {
        let Self { root, message, labels } = self;
        let (created, usage) = (root.created, root.usage());
        Snapshot { id, created, message: message.clone(), labels: labels.clone(), usage }
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, Damaged> {
        let mut out = vec![FORMAT];
        put_text(&mut out, &self.message);
        put_number(&mut out, self.labels.len() as u64);
        for (key, value) in &self.labels {
            put_text(&mut out, key);
            put_text(&mut out, value);
        }
        out.extend(self.root.encode()?);
        put_check(&mut out);
        Ok(out)
    }

    pub(crate) fn decode(bytes: &Bytes) -> Result<Self, Damaged> {
        let mut input = Input::record(bytes, FORMAT)?;
        let message = input.text(LONGEST_MESSAGE as u64)?.to_string();
        let count = input.number()?;
        if count > MOST_LABELS as u64 {
            return Err(Damaged("it has too many labels"));
        }
        let label = |_| {
            let mut text = || input.text(LONGEST_LABEL as u64).map(|text| text.to_string());
            Ok((text()?, text()?))
        };
        let labels: Vec<(String, String)> =
            (0..count).map(label).collect::<Result<_, Damaged>>()?;
        if !labels.is_sorted_by(|one, next| one.0 < next.0) {
            return Err(Damaged("its labels are not in order"));
        }
        let labels = labels.into_iter().collect();
        Ok(Self { root: Root::decode(&input.0)?, message, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::golden::bytes;
    use crate::virtual_fs::root_golden;

    fn golden() -> Record {
        let labels = [("a", "1"), ("b", "é")].map(|(key, value)| (key.into(), value.into()));
        Record { root: root_golden(), message: "before".into(), labels: labels.into() }
    }

    /// Message, labels, the root as it is, and a check of all of it.
    fn golden_bytes() -> Bytes {
        let words = "01  06 62 65 66 6f 72 65  02  01 61 01 31  01 62 02 c3 a9";
        let root = root_golden().encode().unwrap();
        let check = bytes("a4 a5 96 69 ed d1 36 1c f3 c3 b8 2c 01 7e d0 00");
        [&bytes(words)[..], &root, &check].concat().into()
    }

    #[test]
    fn a_snapshot_has_these_bytes() {
        assert_eq!(golden().encode().unwrap(), golden_bytes());
        let read = Record::decode(&golden_bytes()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", golden()));
    }

    #[test]
    fn a_snapshot_with_any_one_byte_changed_or_missing_is_refused() {
        let golden = golden_bytes();
        for at in 0..golden.len() {
            assert!(Record::decode(&golden.slice(..at)).is_err(), "the first {at} bytes");
            let mut changed = golden.to_vec();
            changed[at] ^= 1;
            assert!(Record::decode(&changed.into()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_snapshot_that_was_changed_on_purpose_is_refused_or_understood() {
        let golden = golden_bytes();
        let content = &golden[..golden.len() - 16];
        for at in 0..content.len() {
            for change in 1..=255 {
                let mut changed = content.to_vec();
                changed[at] ^= change;
                put_check(&mut changed);
                if let Ok(record) = Record::decode(&changed.clone().into()) {
                    assert_eq!(record.encode().unwrap(), changed, "byte {at}");
                }
            }
        }
    }
}
