//! What makes two storages the parts of one, and of no other.
//!
//! Both bear the same random name, each with the word for what it is. A collector removes what its
//! own refs do not lead to, so that two stores with the same chunks, or a part that is opened as if
//! it was the whole, would lose their data to each other.
//!
//! Three writes pair them: the refs get a name that is not settled yet, the chunks get it, and it is
//! settled. Whoever finds one that is not settled goes on, as nothing was ever stored under it.

use crate::address::invalid;
use crate::{Error, ErrorKind, Expected, Ref, RefKey, Result, Storage, Swap};

/// The ref that says which part of what a storage is.
pub(super) const KEY: &str = "split/identity";

/// What a storage's proof leaves, and what we do.
const OURS: [&str; 2] = ["probe/", "split/"];

/// How often others may get ahead while they pair the same two.
const TRIES: usize = 10;

/// What a storage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It is to have the refs, as soon as the chunks know.
    NewRefs,
    Refs,
    Chunks,
}

impl Role {
    const ALL: [Self; 3] = [Self::NewRefs, Self::Refs, Self::Chunks];

    fn word(self) -> &'static str {
        match self {
            Self::NewRefs => "new-refs",
            Self::Refs => "refs",
            Self::Chunks => "chunks",
        }
    }
}

/// Which part a storage is, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    role: Role,
    name: String,
}

impl Identity {
    fn encode(&self) -> String {
        format!("{} {}", self.role.word(), self.name)
    }

    fn decode(stored: &Ref) -> Result<Self> {
        let text = str::from_utf8(&stored.value).ok().and_then(|text| text.split_once(' '));
        let identity = text.and_then(|(word, name)| {
            let role = Role::ALL.into_iter().find(|role| role.word() == word)?;
            Some(Self { role, name: name.to_owned() })
        });
        identity.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, "the name of a part of split: is not as it was written")
        })
    }
}

/// Makes sure that two storages belong together; pairs them if they are new to each other.
pub(super) async fn pair(refs: &dyn Storage, chunks: &dyn Storage) -> Result<()> {
    refuse_inhabited(chunks).await?;
    for _ in 0..TRIES {
        // In this order: chunks bear a name only after the refs do, so that refs without one are no
        // part of these chunks, however many pair them at the same time.
        let (large, _) = load(chunks).await?;
        let (found, before) = load(refs).await?;
        let (Some(found), Some(before)) = (found, before) else {
            if large.is_some() {
                return Err(strangers());
            }
            let name = format!("{:032x}", rand::random::<u128>());
            set(refs, &Expected::Absent, &Identity { role: Role::NewRefs, name }).await?;
            continue;
        };
        let wanted = Identity { role: Role::Chunks, name: found.name.clone() };
        let is_paired = large.as_ref() == Some(&wanted);
        match (found.role, large) {
            (Role::Refs, Some(_)) if is_paired => return Ok(()),
            (Role::NewRefs, Some(_)) if is_paired => {
                let settled = Identity { role: Role::Refs, name: found.name };
                set(refs, &Expected::Token(before.token), &settled).await?;
            }
            (Role::NewRefs, None) => set(chunks, &Expected::Absent, &wanted).await?,
            // Somebody may have paired them between the two looks.
            (Role::Refs, None) if load(chunks).await?.0.is_some() => {}
            (Role::NewRefs | Role::Refs | Role::Chunks, _) => return Err(strangers()),
        }
    }
    Err(Error::new(ErrorKind::Unavailable, "others are at the parts of split:"))
}

/// Refuses a storage that is one part of two, where it should be a whole.
pub(crate) async fn refuse_part(storage: &dyn Storage) -> Result<()> {
    if load(storage).await?.0.is_none() {
        return Ok(());
    }
    let message = "this is one part of a split store: open both as split:refs=URL,chunks=URL";
    Err(invalid(message))
}

async fn load(storage: &dyn Storage) -> Result<(Option<Identity>, Option<Ref>)> {
    let stored = storage.load(&RefKey::new(KEY)?).await?;
    Ok((stored.as_ref().map(Identity::decode).transpose()?, stored))
}

/// Sets what a storage is. Who loses looks again at what it is then.
async fn set(storage: &dyn Storage, expected: &Expected, identity: &Identity) -> Result<()> {
    match storage.swap(&RefKey::new(KEY)?, expected, identity.encode().into()).await? {
        Swap::Won(_) | Swap::Lost(_) => Ok(()),
    }
}

/// Refuses chunks that somebody uses as a store of its own: nothing else puts refs there.
async fn refuse_inhabited(chunks: &dyn Storage) -> Result<()> {
    let mut after = None;
    while let Some((key, _)) = chunks.list_refs("", after.as_ref(), 1).await?.first() {
        let Some(ours) = OURS.iter().find(|ours| key.as_str().starts_with(**ours)) else {
            let message = "the chunks of split: are a store of their own, with sandboxes in it; \
                           name a place that is empty";
            return Err(invalid(message));
        };
        // A zero is the next letter behind a slash.
        after = Some(RefKey::new(&ours.replace('/', "0"))?);
    }
    Ok(())
}

fn strangers() -> Error {
    let message = "the parts of split: do not belong together: name the refs and the chunks that \
                   were first opened with each other, or empty places for a new store";
    invalid(message)
}
