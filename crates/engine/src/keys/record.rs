//! What a store keeps of a key.

use bytes::Bytes;

use crate::tree::{Damaged, Input, put_check, put_number, put_text, put_time};
use crate::{DotDot, Error, ErrorKind, MAX_PATH, Result, Role, SandboxId, SandboxPath, UnixTime};

use super::grant::MOST_SANDBOXES;
use super::{Actor, Grant, KeyId, Scope, SecretHash};

const FORMAT: u8 = 1;
const LONGEST_LABEL: usize = 256;
const LONGEST_ID: u64 = 63;
/// A byte that is not UTF-8 is spelled with four.
const LONGEST_PREFIX: u64 = 4 * MAX_PATH as u64;

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: KeyId,
    /// What it allows.
    pub grant: Grant,
    /// What its maker called it.
    pub label: String,
    /// When it was made.
    pub created: UnixTime,
    /// Who made it.
    pub created_by: Actor,
    /// What is kept of its secret.
    pub secret: SecretHash,
}

/// Refuses a label that is too long, or would spoil a list on a terminal.
pub(super) fn check_label(label: &str) -> Result<()> {
    if label.len() <= LONGEST_LABEL && !label.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("a label has at most {LONGEST_LABEL} bytes and no control characters");
    Err(Error::new(ErrorKind::InvalidArgument, message))
}

impl KeyRecord {
    /// The bytes that are kept. The id is where they are kept.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORMAT];
        let Self { id: _, grant, label, created, created_by, secret } = self;
        put_grant(&mut out, grant);
        put_text(&mut out, label);
        put_time(&mut out, *created);
        created_by.put(&mut out);
        out.extend_from_slice(secret.as_bytes());
        put_check(&mut out);
        out
    }

    pub(super) fn decode(id: KeyId, bytes: &Bytes) -> Result<Self, Damaged> {
        let mut input = Input::record(bytes, FORMAT)?;
        let record = Self {
            id,
            grant: grant(&mut input)?,
            label: input.text(LONGEST_LABEL as u64)?.to_string(),
            created: input.time()?,
            created_by: Actor::read(&mut input)?,
            secret: SecretHash::from_bytes(input.array()?),
        };
        input.ends()?;
        check_label(&record.label).map_err(|_| Damaged("a label cannot be"))?;
        Ok(record)
    }
}

fn put_grant(out: &mut Vec<u8>, grant: &Grant) {
    let Grant { role, scope, prefix, expires } = grant;
    out.push(match role {
        Role::Viewer => 0,
        Role::Developer => 1,
        Role::Owner => 2,
    });
    match scope {
        Scope::All => put_number(out, 0),
        Scope::Only(ids) => {
            put_number(out, ids.len() as u64);
            ids.iter().for_each(|id| put_text(out, id.as_str()));
        }
    }
    // A path has at least one letter.
    put_text(out, prefix.as_ref().map_or("", SandboxPath::as_str));
    match expires {
        None => out.push(0),
        Some(end) => {
            out.push(1);
            put_time(out, *end);
        }
    }
}

fn grant(input: &mut Input) -> Result<Grant, Damaged> {
    let role = match input.byte()? {
        0 => Role::Viewer,
        1 => Role::Developer,
        2 => Role::Owner,
        _ => return Err(Damaged("it was written by a later version")),
    };
    let scope = scope(input)?;
    let prefix = match &*input.text(LONGEST_PREFIX)? {
        "" => None,
        text => Some(prefix(text).ok_or(Damaged("a path cannot be"))?),
    };
    let expires = match input.byte()? {
        0 => None,
        1 => Some(input.time()?),
        _ => return Err(Damaged("it was written by a later version")),
    };
    Ok(Grant { role, scope, prefix, expires })
}

fn scope(input: &mut Input) -> Result<Scope, Damaged> {
    let count = match input.number()? {
        0 => return Ok(Scope::All),
        count if count > MOST_SANDBOXES as u64 => {
            return Err(Damaged("it names too many sandboxes"));
        }
        count => count,
    };
    let id = |_| {
        SandboxId::parse(&input.text(LONGEST_ID)?).map_err(|_| Damaged("a sandbox id cannot be"))
    };
    let ids = (0..count).map(id).collect::<Result<Vec<_>, Damaged>>()?;
    if !ids.is_sorted_by(|one, next| one < next) {
        return Err(Damaged("its sandboxes are not in order"));
    }
    Ok(Scope::Only(ids.into_iter().collect()))
}

/// The directory that a text names, in its one spelling; the root is none.
fn prefix(text: &str) -> Option<SandboxPath> {
    let path = SandboxPath::parse(text, DotDot::Refuse).ok()?;
    (path.as_str() == text && !path.is_root()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::golden::bytes;

    fn golden() -> KeyRecord {
        let ids = ["a", "b-1"].map(|id| SandboxId::parse(id).unwrap());
        KeyRecord {
            id: KeyId::parse("abcdefghij01").unwrap(),
            grant: Grant {
                role: Role::Developer,
                scope: Scope::Only(ids.into()),
                prefix: prefix("/src"),
                expires: Some(UnixTime { seconds: 3, nanoseconds: 5 }),
            },
            label: "é".into(),
            created: UnixTime { seconds: -1, nanoseconds: 0 },
            created_by: Actor::Key(KeyId::parse("zyxwvutsrq98").unwrap()),
            secret: SecretHash::from_bytes([7; 32]),
        }
    }

    /// Role, sandboxes, directory, end, label, when and by whom it was made, hash, check.
    fn golden_bytes() -> Bytes {
        let head = "01  01  02 01 61 03 62 2d 31  04 2f 73 72 63  01 06 05  02 c3 a9  01 00
                    01 7a 79 78 77 76 75 74 73 72 71 39 38";
        let check = bytes("6e 22 71 71 35 a9 aa 4d b3 4e da 90 6f e1 79 38");
        [&bytes(head)[..], &[7; 32], &check].concat().into()
    }

    fn decode(bytes: &Bytes) -> Result<KeyRecord, Damaged> {
        KeyRecord::decode(golden().id, bytes)
    }

    #[test]
    fn a_key_has_these_bytes() {
        assert_eq!(golden().encode(), golden_bytes());
        assert_eq!(decode(&golden_bytes()).unwrap(), golden());
    }

    #[test]
    fn a_key_without_any_limit_survives_its_bytes() {
        let grant = Grant::everything();
        let record = KeyRecord { grant, created_by: Actor::Token, ..golden() };
        assert_eq!(decode(&record.encode().into()).unwrap(), record);
    }

    #[test]
    fn a_key_with_any_one_byte_changed_or_missing_is_refused() {
        let golden = golden_bytes();
        for at in 0..golden.len() {
            assert!(decode(&golden.slice(..at)).is_err(), "the first {at} bytes");
            let mut changed = golden.to_vec();
            changed[at] ^= 1;
            assert!(decode(&changed.into()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_key_that_was_changed_on_purpose_is_refused_or_understood() {
        let golden = golden_bytes();
        let content = &golden[..golden.len() - 16];
        for at in 0..content.len() {
            for change in 1..=255 {
                let mut changed = content.to_vec();
                changed[at] ^= change;
                put_check(&mut changed);
                if let Ok(record) = decode(&changed.clone().into()) {
                    assert_eq!(record.encode(), changed, "byte {at}");
                }
            }
        }
    }

    #[test]
    fn debug_does_not_show_what_is_kept_of_the_secret() {
        assert!(!format!("{:?}", golden()).contains('7'), "{:?}", golden());
    }
}
