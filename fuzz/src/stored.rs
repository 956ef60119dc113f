//! Pages, records and sealed objects: refused, or understood exactly.
//!
//! The first byte says which kind it is. What ends with a check of itself gets the right one, unless
//! the byte says otherwise: nothing would come further without it.

use bytes::Bytes;
use engine::fuzzing::{Stored, check as put_check};
use storage::frame;

/// Takes what follows as it is.
const AS_IT_IS: u8 = 0x80;

/// Holds that bytes are refused, or are written again as they were read.
pub fn check(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    match Stored::ALL.get(usize::from(first & !AS_IT_IS)) {
        Some(kind) => {
            let bytes = Bytes::from(completed(*kind, first & AS_IT_IS != 0, rest));
            if let Some(again) = kind.again(&bytes) {
                assert_eq!(again, bytes, "{kind:?}");
            }
        }
        None => check_frame(rest),
    }
}

fn completed(kind: Stored, as_it_is: bool, rest: &[u8]) -> Vec<u8> {
    if as_it_is || !kind.has_check() {
        return rest.to_vec();
    }
    let mut record = rest.to_vec();
    // A snapshot holds a root, which ends with a check of its own.
    if kind == Stored::Snapshot {
        let (words, root) =
            rest.split_at(rest.len().min(usize::from(rest.first().copied().unwrap_or_default())));
        let mut root = root.to_vec();
        put_check(&mut root);
        record = [words.get(1..).unwrap_or_default(), &root].concat();
    }
    put_check(&mut record);
    record
}

fn check_frame(stored: &[u8]) {
    let sealed = frame::seal(stored);
    assert_eq!(frame::open(&sealed).expect("what was sealed can be opened"), stored);
    assert!(sealed.len() <= stored.len() + 22);
    if let Ok(plain) = frame::open(&Bytes::copy_from_slice(stored)) {
        assert!(plain.len() <= frame::MAX_PLAIN);
        assert_eq!(frame::open(&frame::seal(&plain)).expect("it can be opened again"), plain);
    }
}
