//! Storing and reading objects.

use bytes::Bytes;
use sandkeep_storage::{Domain, ErrorKind, ObjectId, ObjectKey, frame};

use super::promises;
use super::store::{Store, fresh, noise, numbered};

promises! {
    an_object_is_read_as_it_was_stored;
    an_object_that_was_never_stored_is_none;
    many_objects_are_read_in_the_order_of_their_keys;
    reading_no_objects_gives_none;
    storing_no_objects_is_no_mistake;
    an_object_stored_twice_has_the_second_bytes;
    an_empty_object_is_kept;
    an_object_of_4_mib_is_kept;
    many_large_objects_are_stored_at_once;
    many_small_objects_are_stored_at_once;
    keys_of_any_bytes_are_kept;
    one_key_twice_in_a_put_keeps_the_last;
    bytes_that_are_not_sealed_are_refused;
    of_a_put_that_is_refused_nothing_is_stored;
}

async fn an_object_is_read_as_it_was_stored(store: Store) {
    let (key, stored) = (fresh(), frame::seal(b"hello"));
    store.put_many(vec![(key, stored.clone())]).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), Some(stored));
}

async fn an_object_that_was_never_stored_is_none(store: Store) {
    store.put(fresh(), b"another").await;
    assert_eq!(store.get(&fresh()).await.unwrap(), None);
}

async fn many_objects_are_read_in_the_order_of_their_keys(store: Store) {
    let domain = Domain::random();
    let [one, two, none] = [1, 2, 3].map(|number| numbered(domain, number));
    store.put(one, b"one").await;
    store.put(two, b"two").await;
    let found = store.get_many(&[two, none, one, two]).await.unwrap();
    let found: Vec<_> =
        found.iter().map(|stored| stored.as_ref().map(|it| frame::open(it).unwrap())).collect();
    let expected = [Some("two"), None, Some("one"), Some("two")].map(|it| it.map(Bytes::from));
    assert_eq!(found, expected);
}

async fn reading_no_objects_gives_none(store: Store) {
    assert_eq!(store.get_many(&[]).await.unwrap(), []);
}

async fn storing_no_objects_is_no_mistake(store: Store) {
    store.put_many(Vec::new()).await.unwrap();
    assert_eq!(store.list(None, None, 10).await.unwrap(), []);
}

async fn an_object_stored_twice_has_the_second_bytes(store: Store) {
    let key = fresh();
    let [first, second] = [frame::seal(b"equal"), frame::seal(b"equal")];
    assert_ne!(first, second);
    store.put_many(vec![(key, first)]).await.unwrap();
    let before = store.token(key).await;
    store.put_many(vec![(key, second.clone())]).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), Some(second));
    assert_ne!(store.token(key).await, before, "the token tells the writes apart");
    assert_eq!(store.listed(key.domain).await.len(), 1);
}

async fn an_empty_object_is_kept(store: Store) {
    let key = fresh();
    store.put(key, b"").await;
    assert_eq!(store.content(key).await, "");
}

async fn an_object_of_4_mib_is_kept(store: Store) {
    let (key, content) = (fresh(), noise(4 << 20));
    store.put(key, &content).await;
    assert!(store.content(key).await == content, "not what was stored");
}

async fn many_large_objects_are_stored_at_once(store: Store) {
    let (domain, content) = (Domain::random(), noise(3 << 20));
    let objects = (0..8).map(|number| (numbered(domain, number), frame::seal(&content)));
    store.put_many(objects.collect()).await.unwrap();
    for number in 0..8 {
        assert!(store.content(numbered(domain, number)).await == content, "object {number}");
    }
}

async fn many_small_objects_are_stored_at_once(store: Store) {
    let domain = Domain::random();
    let objects = (0..2000).map(|n| (numbered(domain, n), frame::seal(&n.to_le_bytes())));
    store.put_many(objects.collect()).await.unwrap();
    let keys: Vec<_> = (0..2000).map(|number| numbered(domain, number)).collect();
    for (number, stored) in (0..2000_u32).zip(store.get_many(&keys).await.unwrap()) {
        assert_eq!(frame::open(&stored.unwrap()).unwrap(), number.to_le_bytes().as_slice());
    }
}

async fn keys_of_any_bytes_are_kept(store: Store) {
    let domains = [[0; 16], [0xff; 16], *b"/../\0\n\"'%_\\ \xff\xfe{}", [0x2a; 16]];
    let ids = [[0; 32], [0xff; 32], [b'/'; 32], [b'%'; 32], [0x80; 32]];
    let all = domains
        .into_iter()
        .flat_map(|domain| ids.map(|id| ObjectKey { domain: Domain(domain), id: ObjectId(id) }));
    for key in all.clone() {
        store.put(key, key.to_string().as_bytes()).await;
    }
    for key in all {
        assert_eq!(store.content(key).await, key.to_string());
    }
}

async fn one_key_twice_in_a_put_keeps_the_last(store: Store) {
    let key = fresh();
    let [first, last] = [frame::seal(b"equal"), frame::seal(b"equal")];
    store.put_many(vec![(key, first), (key, last.clone())]).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), Some(last));
}

async fn bytes_that_are_not_sealed_are_refused(store: Store) {
    let too_long = frame::seal(&vec![0; frame::MAX_PLAIN + 1]);
    for stored in [Bytes::new(), Bytes::from("short"), Bytes::from(vec![9; 64]), too_long] {
        let err = store.put_many(vec![(fresh(), stored)]).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidObject);
    }
}

async fn of_a_put_that_is_refused_nothing_is_stored(store: Store) {
    let domain = Domain::random();
    let objects = vec![
        (numbered(domain, 0), frame::seal(b"sealed")),
        (numbered(domain, 1), Bytes::from("not sealed")),
        (numbered(domain, 2), frame::seal(b"sealed")),
    ];
    store.put_many(objects).await.unwrap_err();
    assert_eq!(store.listed(domain).await, []);
}
