//! Objects and a ref in one step.

use bytes::Bytes;
use sandkeep_storage::{Domain, ErrorKind, Expected, Swap, frame};

use super::promises;
use super::store::{Store, fresh, lost, named, noise, numbered, won};

promises! {
    a_commit_stores_its_objects_and_sets_its_ref;
    a_commit_goes_on_from_the_token_of_the_last;
    a_commit_without_objects_is_a_swap;
    a_lost_commit_changes_no_ref_and_tells_what_is_there;
    the_objects_of_a_lost_commit_are_stored;
    a_commit_with_bytes_that_are_not_sealed_changes_nothing;
    a_commit_of_many_objects_is_whole;
    a_commit_of_large_objects_is_whole;
    a_ref_is_never_seen_before_its_objects;
    a_ref_of_a_commit_is_an_ordinary_ref;
}

async fn a_commit_stores_its_objects_and_sets_its_ref(store: Store) {
    let (domain, key) = (Domain::random(), named("s/demo/root"));
    let objects = vec![
        (numbered(domain, 1), frame::seal(b"one")),
        (numbered(domain, 2), frame::seal(b"two")),
    ];
    let swap = store.commit(objects, &key, &Expected::Absent, "root".into()).await.unwrap();
    let current = store.load(&key).await.unwrap().unwrap();
    assert_eq!((current.value, current.token), (Bytes::from("root"), won(swap)));
    assert_eq!(store.content(numbered(domain, 1)).await, "one");
    assert_eq!(store.content(numbered(domain, 2)).await, "two");
}

async fn a_commit_goes_on_from_the_token_of_the_last(store: Store) {
    let (domain, key) = (Domain::random(), named("a"));
    let mut expected = Expected::Absent;
    for number in 0..20 {
        let objects = vec![(numbered(domain, number), frame::seal(&number.to_le_bytes()))];
        let value = number.to_string().into();
        let swap = store.commit(objects, &key, &expected, value).await.unwrap();
        expected = Expected::Token(won(swap));
    }
    assert_eq!(store.value("a").await.unwrap(), "19");
    assert_eq!(store.listed(domain).await.len(), 20);
}

async fn a_commit_without_objects_is_a_swap(store: Store) {
    let key = named("a");
    let swap = store.commit(Vec::new(), &key, &Expected::Absent, "one".into()).await.unwrap();
    let expected = Expected::Token(won(swap));
    won(store.commit(Vec::new(), &key, &expected, "two".into()).await.unwrap());
    let swap = store.commit(Vec::new(), &key, &expected, "three".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "two");
}

async fn a_lost_commit_changes_no_ref_and_tells_what_is_there(store: Store) {
    let token = store.create("a", "first").await;
    let objects = vec![(fresh(), frame::seal(b"x"))];
    let swap = store.commit(objects, &named("a"), &Expected::Absent, "x".into()).await.unwrap();
    let Swap::Lost(Some(current)) = swap else { panic!("{swap:?}") };
    assert_eq!((current.value, current.token), (Bytes::from("first"), token));
    assert_eq!(store.value("a").await.unwrap(), "first");
}

async fn the_objects_of_a_lost_commit_are_stored(store: Store) {
    let key = fresh();
    store.create("a", "first").await;
    let objects = vec![(key, frame::seal(b"kept"))];
    lost(store.commit(objects, &named("a"), &Expected::Absent, "x".into()).await.unwrap());
    assert_eq!(store.content(key).await, "kept");
}

async fn a_commit_with_bytes_that_are_not_sealed_changes_nothing(store: Store) {
    let domain = Domain::random();
    let objects = vec![
        (numbered(domain, 1), frame::seal(b"sealed")),
        (numbered(domain, 2), Bytes::from("not sealed")),
    ];
    let err = store.commit(objects, &named("a"), &Expected::Absent, "x".into()).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidObject);
    assert_eq!(store.value("a").await, None);
    assert_eq!(store.listed(domain).await, []);
}

async fn a_commit_of_many_objects_is_whole(store: Store) {
    let domain = Domain::random();
    let objects = (0..1500).map(|number| (numbered(domain, number), frame::seal(b"x")));
    let (key, expected) = (named("a"), Expected::Absent);
    won(store.commit(objects.collect(), &key, &expected, "x".into()).await.unwrap());
    assert_eq!(store.listed(domain).await.len(), 1500);
}

async fn a_commit_of_large_objects_is_whole(store: Store) {
    let (domain, content) = (Domain::random(), noise(4 << 20));
    let objects = (0..4).map(|number| (numbered(domain, number), frame::seal(&content)));
    let (key, expected) = (named("a"), Expected::Absent);
    won(store.commit(objects.collect(), &key, &expected, "x".into()).await.unwrap());
    for number in 0..4 {
        assert!(store.content(numbered(domain, number)).await == content);
    }
}

async fn a_ref_is_never_seen_before_its_objects(store: Store) {
    let (domain, key) = (Domain::random(), named("a"));
    let token = store.create("a", "0").await;
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            let (key, mut expected) = (named("a"), Expected::Token(token));
            for number in 1..=100 {
                let objects =
                    (0..10).map(|part| (part_of(domain, number, part), frame::seal(b"x")));
                let value = number.to_string().into();
                let swap = store.commit(objects.collect(), &key, &expected, value).await.unwrap();
                expected = Expected::Token(won(swap));
            }
        }
    });
    while !writing.is_finished() {
        // What is answered at once never lets the other go on.
        tokio::task::yield_now().await;
        let current = store.load(&key).await.unwrap().unwrap().value;
        let number: u32 = str::from_utf8(&current).unwrap().parse().unwrap();
        if number > 0 {
            let parts: Vec<_> = (0..10).map(|part| part_of(domain, number, part)).collect();
            let found = store.get_many(&parts).await.unwrap();
            assert!(found.iter().all(Option::is_some), "the ref tells {number} too early");
        }
    }
    writing.await.unwrap();
}

async fn a_ref_of_a_commit_is_an_ordinary_ref(store: Store) {
    let key = named("a");
    let objects = vec![(fresh(), frame::seal(b"x"))];
    let swap = store.commit(objects, &key, &Expected::Absent, "one".into()).await.unwrap();
    let token = store.set("a", &won(swap), "two").await;
    assert_eq!(store.keys("").await, ["a"]);
    assert!(store.delete_ref(&key, &token).await.unwrap());
}

fn part_of(domain: Domain, number: u32, part: u32) -> sandkeep_storage::ObjectKey {
    numbered(domain, number * 100 + part)
}
