//! What objects and refs are called in a bucket.
//!
//! ```text
//! PREFIX/o/DOMAIN/ID   an object, both in hex
//! PREFIX/r/NAME        a ref
//! ```
//!
//! Buckets list their keys by bytes, but some keep them in directories and sort each by itself, so
//! that `a/b` comes before `a-b`. The name of a ref therefore has no slash where its key has one:
//! the three letters that sort before digits each become one that sorts as they do.
//!
//! ```text
//! of the key    -   .   /
//! of the name   !   -   .
//! ```
//!
//! Nor do all take parts of more than 255 bytes: a slash stands behind every 200 bytes of a name,
//! which changes no order either.

use object_store::path::Path;

use crate::{Domain, ObjectId, ObjectKey, RefKey};

/// How long the parts of a name are.
const PART: usize = 200;

/// The names under one prefix.
#[derive(Clone, Debug)]
pub(super) struct Names {
    objects: String,
    refs: String,
}

impl Names {
    /// The names under a prefix, which may be empty.
    pub(super) fn under(prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Self { objects: format!("{prefix}o/"), refs: format!("{prefix}r/") }
    }

    /// The name of an object.
    pub(super) fn object(&self, key: &ObjectKey) -> String {
        format!("{}{key}", self.objects)
    }

    /// How the names of all objects begin, or of those of one domain.
    pub(super) fn objects(&self, domain: Option<Domain>) -> String {
        match domain {
            Some(domain) => format!("{}{domain}/", self.objects),
            None => self.objects.clone(),
        }
    }

    /// The object that a name names, if it is one.
    pub(super) fn to_object(&self, name: &Path) -> Option<ObjectKey> {
        let (domain, id) = name.as_ref().strip_prefix(&self.objects)?.split_once('/')?;
        Some(ObjectKey { domain: Domain(from_hex(domain)?), id: ObjectId(from_hex(id)?) })
    }

    /// The name of a ref.
    pub(super) fn reference(&self, key: &RefKey) -> String {
        format!("{}{}", self.refs, in_parts(key.as_str().bytes().map(to_name)))
    }

    /// How the names of refs begin whose keys begin so; none if no key does.
    pub(super) fn references(&self, prefix: &str) -> Option<String> {
        let is_of_keys =
            |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/');
        if prefix.len() > RefKey::MAX_LEN || !prefix.bytes().all(is_of_keys) {
            return None;
        }
        Some(format!("{}{}", self.refs, in_parts(prefix.bytes().map(to_name))))
    }

    /// The key of the ref that a name names, if it is one.
    pub(super) fn to_ref(&self, name: &Path) -> Option<RefKey> {
        let name = name.as_ref().strip_prefix(&self.refs)?;
        let key: String =
            name.bytes().filter(|byte| *byte != b'/').map(to_key).map(char::from).collect();
        RefKey::new(&key).ok()
    }
}

/// The bytes as text, with a slash behind each part unless it is the last.
fn in_parts(bytes: impl Iterator<Item = u8>) -> String {
    let mut name = String::new();
    for (at, byte) in bytes.enumerate() {
        if at > 0 && at % PART == 0 {
            name.push('/');
        }
        name.push(char::from(byte));
    }
    name
}

fn to_name(byte: u8) -> u8 {
    match byte {
        b'-' => b'!',
        b'.' => b'-',
        b'/' => b'.',
        other => other,
    }
}

fn to_key(byte: u8) -> u8 {
    match byte {
        b'!' => b'-',
        b'-' => b'.',
        b'.' => b'/',
        other => other,
    }
}

fn from_hex<const LEN: usize>(text: &str) -> Option<[u8; LEN]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * LEN {
        return None;
    }
    let mut bytes = [0; LEN];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        // Others would be a second name of the same object.
        if pair.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(name: &str) -> Path {
        Path::parse(name).unwrap()
    }

    #[test]
    fn a_ref_is_named_as_the_table_says() {
        let names = Names::under("team/a");
        let key = RefKey::new("s/my-box/snap/v1.0_b").unwrap();
        assert_eq!(names.reference(&key), "team/a/r/s.my!box.snap.v1-0_b");
        assert_eq!(names.references("s/my-").unwrap(), "team/a/r/s.my!");
        assert_eq!(names.references("S"), None);
    }

    #[test]
    fn an_object_survives_its_name() {
        let names = Names::under("");
        let key = ObjectKey { domain: Domain::random(), id: ObjectId(rand::random()) };
        let name = names.object(&key);
        assert!(name.starts_with(&names.objects(Some(key.domain))), "{name}");
        assert_eq!(names.to_object(&path(&name)), Some(key));
        assert_eq!(names.to_object(&path(&name.to_uppercase().replace("O/", "o/"))), None);
        assert_eq!(names.to_object(&path("o/ab/cd")), None);
    }

    #[test]
    fn no_part_of_a_name_is_long() {
        let names = Names::under("");
        let key = RefKey::new(&"x".repeat(512)).unwrap();
        let name = names.reference(&key);
        assert_eq!(name.split('/').map(str::len).max(), Some(PART));
        assert_eq!(names.to_ref(&path(&name)), Some(key));
    }

    proptest! {
        #[test]
        fn names_sort_as_keys_and_give_them_back(
            one in "[a-b0.-][a-b0._-]{0,4}(/[a-b._-]{1,3}0){0,2}",
            two in "[a-b0.-][a-b0._-]{0,4}(/[a-b._-]{1,3}0){0,2}",
            // So that some end just before, at or behind the end of a part.
            length in 195_usize..205,
        ) {
            let names = Names::under("p");
            for start in [String::new(), "a".repeat(length)] {
                let keys = [&one, &two].map(|key| RefKey::new(&format!("{start}{key}")));
                let [Ok(one), Ok(two)] = keys else { continue };
                let [first, second] = [&one, &two].map(|key| names.reference(key));
                prop_assert_eq!(one.cmp(&two), first.cmp(&second));
                prop_assert_eq!(names.to_ref(&path(&first)), Some(one.clone()));
                let prefix = names.references(one.as_str()).unwrap();
                let begins = two.as_str().starts_with(one.as_str());
                prop_assert_eq!(second.starts_with(&prefix), begins);
            }
        }
    }
}
