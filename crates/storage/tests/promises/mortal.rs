//! The process that is killed: it commits for ever and says what was acknowledged.

use std::io::Write as _;

use bytes::Bytes;
use sandkeep_storage::{Domain, Expected, ObjectKey, RefKey, frame};

use super::store::{Store, named, numbered, won};

/// The first argument of such a process; the second is the URL of the store.
pub(crate) const MODE: &str = "--commit-until-killed";

/// How many commit at once, each to a ref of its own.
pub(crate) const LANES: u8 = 4;

/// How many objects one commit stores.
pub(crate) const PARTS: u32 = 3;

/// Commits until it is killed, going on from what is there.
pub(crate) fn live(url: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::for_trial(url).await;
        println!("open");
        let lanes = (0..LANES).map(|lane| tokio::spawn(commit_for_ever(store.clone(), lane)));
        futures::future::join_all(lanes.collect::<Vec<_>>()).await;
    });
}

async fn commit_for_ever(store: Store, lane: u8) {
    let key = root(lane);
    let mut expected = Expected::Absent;
    let mut number = 0;
    if let Some(current) = store.load(&key).await.unwrap() {
        number = count(&current.value);
        expected = Expected::Token(current.token);
    }
    loop {
        number += 1;
        let parts =
            (0..PARTS).map(|at| (part(lane, number, at), frame::seal(&content(number, at))));
        let value = number.to_string().into();
        let swap = store.commit(parts.collect(), &key, &expected, value).await.unwrap();
        expected = Expected::Token(won(swap));
        // One line in one write, so that what is read of it is whole.
        std::io::stdout().lock().write_all(format!("{lane} {number}\n").as_bytes()).unwrap();
    }
}

/// The ref of a lane, whose value is the number of its last commit.
pub(crate) fn root(lane: u8) -> RefKey {
    named(&format!("lane/{lane}"))
}

pub(crate) fn count(value: &Bytes) -> u32 {
    str::from_utf8(value).unwrap().parse().unwrap()
}

/// One of the objects that a commit stores.
pub(crate) fn part(lane: u8, number: u32, at: u32) -> ObjectKey {
    numbered(Domain([lane; 16]), number * PARTS + at)
}

/// What it holds: something small, a page, and now and then what takes the disk a while.
pub(crate) fn content(number: u32, at: u32) -> Vec<u8> {
    let len = match at {
        0 => 500,
        1 => 3000,
        _ if number.is_multiple_of(16) => 400_000,
        _ => 12_000,
    };
    let mut state = u64::from(number) << 32 | u64::from(at) | 1 << 63;
    let noise = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    noise.take(len / 8).collect::<Vec<_>>().into_flattened()
}
