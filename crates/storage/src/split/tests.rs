//! Where what lies, and how two storages become one.

use tokio::task::JoinSet;

use super::identity::{KEY, pair, refuse_part};
use super::*;
use crate::{ErrorKind, MemoryStorage, ObjectId, frame};

/// The largest content that lies with the refs: with its head it has less than 16 KiB.
const SMALL: usize = LARGE - 22 - 1;

fn memory() -> Arc<dyn Storage> {
    Arc::new(MemoryStorage::default())
}

/// An object of so many bytes that do not compress.
fn sealed(number: u8, len: usize) -> (ObjectKey, Bytes) {
    use rand::Rng as _;
    let mut content = vec![0; len];
    rand::rng().fill_bytes(&mut content);
    let key = ObjectKey { domain: Domain([1; 16]), id: ObjectId([number; 32]) };
    (key, frame::seal(&content))
}

async fn numbers(storage: &Arc<dyn Storage>) -> Vec<u8> {
    let listed = storage.list(None, None, usize::MAX).await.unwrap();
    listed.iter().map(|listed| listed.key.id.0[0]).collect()
}

async fn value(storage: &Arc<dyn Storage>) -> Option<Bytes> {
    storage.load(&RefKey::new(KEY).unwrap()).await.unwrap().map(|it| it.value)
}

async fn set(storage: &Arc<dyn Storage>, value: &'static str) {
    let key = RefKey::new(KEY).unwrap();
    storage.swap(&key, &Expected::Absent, value.into()).await.unwrap();
}

#[tokio::test]
async fn what_is_small_lies_with_the_refs_and_what_is_large_with_the_chunks() {
    let (refs, chunks) = (memory(), memory());
    let both = Split { refs: Arc::clone(&refs), chunks: Arc::clone(&chunks) };
    both.put_many(vec![sealed(1, 1), sealed(2, SMALL), sealed(3, SMALL + 1)]).await.unwrap();
    let (root, objects) = (RefKey::new("root").unwrap(), vec![sealed(4, 1), sealed(5, 1 << 20)]);
    let swap = both.commit(objects, &root, &Expected::Absent, "x".into()).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)));
    assert_eq!(numbers(&refs).await, [1, 2, 4]);
    assert_eq!(numbers(&chunks).await, [3, 5]);
    assert!(refs.load(&root).await.unwrap().is_some());
    assert_eq!(chunks.list_refs("", None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_pairing_that_broke_off_goes_on() {
    for before in [["", ""], ["new-refs a", ""], ["new-refs a", "chunks a"]] {
        let (refs, chunks) = (memory(), memory());
        for (part, value) in [&refs, &chunks].into_iter().zip(before) {
            if !value.is_empty() {
                set(part, value).await;
            }
        }
        pair(&*refs, &*chunks).await.unwrap();
        let [one, other] = [value(&refs).await.unwrap(), value(&chunks).await.unwrap()];
        assert_eq!(one.strip_prefix(b"refs "), other.strip_prefix(b"chunks "), "{before:?}");
        pair(&*refs, &*chunks).await.unwrap();
    }
}

#[tokio::test]
async fn a_pairing_that_broke_off_takes_no_chunks_of_others() {
    let (refs, chunks, free) = (memory(), memory(), memory());
    set(&refs, "new-refs a").await;
    set(&chunks, "chunks b").await;
    assert_eq!(pair(&*refs, &*chunks).await.unwrap_err().kind(), ErrorKind::InvalidUrl);
    pair(&*refs, &*free).await.unwrap();
}

#[tokio::test]
async fn one_place_under_two_names_is_not_two() {
    let place = memory();
    assert_eq!(pair(&*place, &*place).await.unwrap_err().kind(), ErrorKind::InvalidUrl);
}

#[tokio::test]
async fn what_says_nothing_that_is_known_is_corrupt() {
    let place = memory();
    set(&place, "thirds a").await;
    assert_eq!(refuse_part(&*place).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(pair(&*place, &*memory()).await.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_pair_at_once_only_those_of_the_same_two_succeed() {
    for _ in 0..50 {
        let (refs, chunks) = ([memory(), memory()], memory());
        let mut pairing = JoinSet::new();
        for number in 0..8 {
            let (refs, chunks) = (Arc::clone(&refs[number % 2]), Arc::clone(&chunks));
            pairing.spawn(async move { (number % 2, pair(&*refs, &*chunks).await.is_ok()) });
        }
        let outcomes = pairing.join_all().await;
        let successes = |which| outcomes.iter().filter(|it| **it == (which, true)).count();
        let both = [successes(0), successes(1)];
        assert!(both == [4, 0] || both == [0, 4], "{both:?}");
    }
}
