//! Who is let in by a key, and for how long.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures::future::join_all;
use sandkeep_engine::{
    Access, Actor, Claim, CollectOptions, ErrorKind, Grant, KeyId, KeyRecord, KeyText, Keys,
    Limits, NewKey, Role, SandboxPath, Scope, SecretHash, Store, UnixTime,
};
use storage::{Expected, MemoryStorage, RefKey, Refs as _, Storage};
use tokio::time::advance;

use crate::contents::{sandbox, write};
use crate::fixture::refusal;
use crate::troubled::Troubled;

fn memory() -> Arc<MemoryStorage> {
    Arc::default()
}

/// A server's view of the keys of a store.
fn server(storage: &Arc<impl Storage>) -> Keys {
    Keys::new(&Store::flushing(Arc::clone(storage) as Arc<dyn Storage>))
}

fn new(label: &str) -> NewKey {
    NewKey { grant: Grant::everything(), label: label.into(), created_by: Actor::Token }
}

async fn made(keys: &Keys) -> (KeyId, KeyText) {
    let (record, text) = keys.create(new("trial")).await.unwrap();
    (record.id, text)
}

async fn is_let_in(keys: &Keys, text: &KeyText) -> bool {
    keys.check(text.expose()).await.unwrap().is_some()
}

/// A key of which everything but the id is wrong.
fn with_another_secret(text: &KeyText) -> String {
    format!("{}{}", &text.expose()[..17], "x".repeat(32))
}

#[tokio::test]
async fn a_key_lets_in_whoever_has_all_of_it() {
    for store in [Store::in_memory(), Store::flushing(memory())] {
        let keys = Keys::new(&store);
        let grant = Grant {
            role: Role::Developer,
            scope: Scope::Only([sandbox("a")].into()),
            prefix: Some(SandboxPath::clamped("/src").unwrap()),
            expires: Some(UnixTime { seconds: 4_102_444_800, nanoseconds: 0 }),
        };
        let wanted = NewKey { grant: grant.clone(), ..new("ours") };
        let (record, text) = keys.create(wanted).await.unwrap();
        let found = keys.check(text.expose()).await.unwrap().unwrap();
        assert_eq!((&found, &found.grant, &*found.label), (&record, &grant, "ours"));
        assert_eq!(*found, keys.stat(&record.id).await.unwrap());
        let wrong = with_another_secret(&text);
        for presented in ["", "ask_", &wrong, &text.expose().to_uppercase(), record.id.as_str()] {
            assert_eq!(keys.check(presented).await.unwrap(), None, "{presented}");
        }
    }
}

#[tokio::test]
async fn a_store_has_no_key_that_lets_anybody_in() {
    let storage = memory();
    let (_, text) = made(&server(&storage)).await;
    let secret = &text.expose().as_bytes()[17..];
    for (_, stored) in storage.list_refs("", None, 100).await.unwrap() {
        let mut windows = stored.value.windows(secret.len());
        assert!(!windows.any(|window| window == secret));
    }
}

#[tokio::test]
async fn a_key_that_is_revoked_is_refused_at_once() {
    let keys = server(&memory());
    let ((id, text), clone) = (made(&keys).await, keys.clone());
    assert!(is_let_in(&keys, &text).await && is_let_in(&clone, &text).await);
    keys.revoke(&id).await.unwrap();
    assert!(!is_let_in(&keys, &text).await && !is_let_in(&clone, &text).await);
    assert_eq!(keys.find(&id).await.unwrap(), None);
    assert_eq!(refusal(keys.stat(&id)).await, ErrorKind::NotFound);
    assert_eq!(refusal(keys.revoke(&id)).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_look_that_began_before_the_key_was_revoked_lets_nobody_in_after_it() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    let (id, text) = made(&keys).await;
    storage.trouble.loads_held.store(1, SeqCst);
    let (early, early_text) = (keys.clone(), text.clone());
    let early = tokio::spawn(async move { is_let_in(&early, &early_text).await });
    while storage.trouble.loads_held.load(SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    keys.revoke(&id).await.unwrap();
    assert!(!is_let_in(&keys, &text).await, "nobody waits for what was seen before");
    storage.load_gate.add_permits(1);
    assert!(early.await.unwrap(), "who asked before may hear what was so then");
    assert!(!is_let_in(&keys, &text).await, "and what he heard is not remembered");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_another_server_revoked_is_refused_within_five_seconds() {
    let storage = memory();
    let [one, other] = [server(&storage), server(&storage)];
    let (id, text) = made(&one).await;
    assert!(is_let_in(&other, &text).await);
    advance(Duration::from_millis(1900)).await;
    one.revoke(&id).await.unwrap();
    assert!(is_let_in(&other, &text).await, "it does not look each time");
    advance(Duration::from_millis(200)).await;
    assert!(!is_let_in(&other, &text).await);
    assert_eq!(other.find(&id).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_another_server_made_is_known_although_somebody_guessed_it() {
    let storage = memory();
    let [one, other] = [server(&storage), server(&storage)];
    let (id, text) = made(&one).await;
    let key = RefKey::new(&format!("keys/{id}")).unwrap();
    let stored = storage.load(&key).await.unwrap().unwrap();
    assert!(storage.delete_ref(&key, &stored.token).await.unwrap());
    assert!(!is_let_in(&other, &text).await);
    storage.swap(&key, &Expected::Absent, stored.value).await.unwrap();
    advance(Duration::from_secs(2)).await;
    assert!(is_let_in(&other, &text).await);
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_believed_for_five_seconds_when_the_store_is_away() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    let (_, text) = made(&keys).await;
    assert!(is_let_in(&keys, &text).await);
    storage.trouble.loads_refused.store(u64::MAX, SeqCst);
    advance(Duration::from_millis(4900)).await;
    assert!(is_let_in(&keys, &text).await);
    advance(Duration::from_millis(200)).await;
    assert_eq!(refusal(keys.check(text.expose())).await, ErrorKind::Unavailable);
    storage.trouble.loads_refused.store(0, SeqCst);
    assert!(is_let_in(&keys, &text).await);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_lets_nobody_wait_for_ever() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    let (_, text) = made(&keys).await;
    storage.trouble.loads_lost.store(1, SeqCst);
    let began = tokio::time::Instant::now();
    assert_eq!(refusal(keys.check(text.expose())).await, ErrorKind::Unavailable);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(is_let_in(&keys, &text).await);
}

#[tokio::test(start_paused = true)]
async fn who_is_revoked_while_the_store_is_away_is_not_let_in_by_what_was_seen() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    let (id, text) = made(&keys).await;
    assert!(is_let_in(&keys, &text).await);
    storage.trouble.loads_refused.store(u64::MAX, SeqCst);
    assert_eq!(refusal(keys.revoke(&id)).await, ErrorKind::Unavailable);
    assert_eq!(refusal(keys.check(text.expose())).await, ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn the_store_is_asked_once_by_many_and_not_again_for_a_while() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    let (_, text) = made(&keys).await;
    storage.loads.store(0, SeqCst);
    let many = join_all((0..100).map(|_| is_let_in(&keys, &text))).await;
    assert!(many.into_iter().all(|is_let_in| is_let_in));
    assert!(is_let_in(&keys, &text).await);
    assert_eq!(keys.check(&with_another_secret(&text)).await.unwrap(), None);
    assert_eq!(storage.loads.load(SeqCst), 1);
    advance(Duration::from_secs(2)).await;
    assert!(is_let_in(&keys, &text).await);
    assert_eq!(storage.loads.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_store_is_not_asked_for_what_is_no_key_nor_again_for_one_that_is_not_there() {
    let storage = Troubled::new(memory());
    let keys = server(&storage);
    for presented in ["", "secret", "ask_", "ask_abcdefghij01_", "ask_ABCDEFGHIJ01_x"] {
        assert_eq!(keys.check(presented).await.unwrap(), None);
    }
    assert_eq!(storage.loads.load(SeqCst), 0);
    let stranger = format!("ask_abcdefghij01_{}", "x".repeat(32));
    for _ in 0..10 {
        assert_eq!(keys.check(&stranger).await.unwrap(), None);
    }
    assert_eq!(storage.loads.load(SeqCst), 1);
}

#[tokio::test]
async fn a_key_that_expires_lets_nobody_in_from_then_on() {
    let keys = server(&memory());
    let mut grant = Grant { role: Role::Viewer, ..Grant::everything() };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let end = now + Duration::from_millis(300);
    let seconds = i64::try_from(end.as_secs()).unwrap();
    grant.expires = Some(UnixTime { seconds, nanoseconds: end.subsec_nanos() });
    let (record, text) = keys.create(NewKey { grant, ..new("brief") }).await.unwrap();
    assert!(is_let_in(&keys, &text).await);
    while is_let_in(&keys, &text).await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(record.grant.is_expired());
    assert_eq!(keys.find(&record.id).await.unwrap(), None);
    assert_eq!(keys.list(None, 10).await.unwrap(), [KeyRecord::clone(&record)]);
}

#[tokio::test]
async fn keys_are_listed_page_by_page() {
    let keys = server(&memory());
    let mut made = join_all((0..25).map(|_| made(&keys))).await;
    made.sort_by_key(|(id, _)| *id);
    let mut listed: Vec<KeyId> = Vec::new();
    while let page = keys.list(listed.last(), 10).await.unwrap()
        && !page.is_empty()
    {
        assert!(page.len() <= 10);
        listed.extend(page.iter().map(|record| record.id));
    }
    assert_eq!(listed, made.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_key_with_words_that_are_too_long_is_not_made() {
    let keys = server(&memory());
    keys.create(new(&"x".repeat(256))).await.unwrap();
    for label in ["x".repeat(257), "two\nlines".into()] {
        assert_eq!(refusal(keys.create(new(&label))).await, ErrorKind::InvalidArgument);
    }
    assert_eq!(keys.list(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_read_lets_nobody_in_and_can_be_revoked() {
    let storage = memory();
    let (id, text) = made(&server(&storage)).await;
    let key = RefKey::new(&format!("keys/{id}")).unwrap();
    let stored = storage.load(&key).await.unwrap().unwrap();
    storage.swap(&key, &Expected::Token(stored.token), "\x01junk".into()).await.unwrap();
    let keys = server(&storage);
    assert_eq!(refusal(keys.check(text.expose())).await, ErrorKind::Io);
    assert_eq!(refusal(keys.list(None, 10)).await, ErrorKind::Io);
    keys.revoke(&id).await.unwrap();
    assert!(!is_let_in(&keys, &text).await);
}

#[tokio::test]
async fn a_key_whose_making_is_in_doubt_says_so() {
    let storage = Troubled::new(memory());
    storage.trouble.swaps_lost.store(1, SeqCst);
    assert_eq!(refusal(server(&storage).create(new("lost"))).await, ErrorKind::InDoubt);
}

#[tokio::test]
async fn nothing_that_is_logged_shows_a_key() {
    let keys = server(&memory());
    let (record, text) = keys.create(new("ours")).await.unwrap();
    let secret = &text.expose()[17..];
    assert!(is_let_in(&keys, &text).await);
    keys.signer().await.unwrap();
    assert!(!format!("{keys:?} {record:?} {text:?}").contains(secret));
}

#[tokio::test]
async fn all_servers_of_a_store_sign_with_one_secret() {
    let storage = memory();
    let servers: Vec<Keys> = (0..8).map(|_| server(&storage)).collect();
    let signers = join_all(servers.iter().map(Keys::signer)).await;
    let claim = Claim {
        by: Actor::Token,
        sandbox: sandbox("a"),
        access: Access::WriteFile,
        path: SandboxPath::clamped("/x").unwrap(),
        expires: UnixTime { seconds: 4_102_444_800, nanoseconds: 0 },
    };
    let secret = SecretHash::of("token");
    for one in &signers {
        let text = one.as_ref().unwrap().sign(&claim, &secret);
        for other in &signers {
            let signed = other.as_ref().unwrap().verify(&text).unwrap();
            assert_eq!(signed.claim(&secret).as_ref(), Some(&claim));
        }
    }
    let stranger = server(&memory());
    let text = stranger.signer().await.unwrap().sign(&claim, &secret);
    assert!(signers[0].as_ref().unwrap().verify(&text).is_none());
}

/// Refs that servers keep beside trees.
async fn with_servers_refs(storage: &Arc<MemoryStorage>) -> (Keys, KeyText) {
    let keys = server(storage);
    let (_, text) = made(&keys).await;
    keys.signer().await.unwrap();
    for key in
        ["audit/-server/1", "audit/s/1", "directories/at/0/s", "expiry/1-s", "sandboxes/s/record"]
    {
        let key = RefKey::new(key).unwrap();
        storage.swap(&key, &Expected::Absent, "not a root".into()).await.unwrap();
    }
    (keys, text)
}

#[tokio::test]
async fn what_servers_keep_in_a_store_stops_neither_a_collection_nor_a_check() {
    let storage = memory();
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/x", "kept").await;
    with_servers_refs(&storage).await;
    store.collect(CollectOptions { grace: Duration::ZERO }).await.unwrap();
    let verified = store.verify_all(|_| ()).await.unwrap();
    assert_eq!((verified.sandboxes, verified.problems), (1, vec![]));
    assert_eq!(store.list(None, 10).await.unwrap(), [sandbox("s")]);
}

#[tokio::test]
async fn a_copy_of_a_store_lets_the_same_keys_in() {
    let [from, to] = [memory(), memory()];
    let (_, text) = with_servers_refs(&from).await;
    let [source, target] = [&from, &to].map(|storage| Arc::clone(storage) as Arc<dyn Storage>);
    storage::copy(&source, &target, |_| ()).await.unwrap();
    assert!(is_let_in(&server(&to), &text).await);
    let names = |refs: Vec<(RefKey, storage::Ref)>| {
        refs.into_iter().map(|(key, stored)| (key, stored.value)).collect::<Vec<_>>()
    };
    let all = names(from.list_refs("", None, 100).await.unwrap());
    assert_eq!(names(to.list_refs("", None, 100).await.unwrap()), all);
    assert_eq!(all.len(), 7);
}
