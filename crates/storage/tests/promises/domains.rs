//! Domains are worlds of their own.

use sandkeep_storage::{Domain, ObjectKey};

use super::promises;
use super::store::{Store, numbered};

promises! {
    the_same_id_in_two_domains_is_two_objects;
    deleting_in_one_domain_leaves_the_other;
    a_token_of_one_domain_removes_nothing_in_another;
    neighbouring_domains_are_told_apart;
}

async fn the_same_id_in_two_domains_is_two_objects(store: Store) {
    let [here, there] = pair();
    store.put(here, b"here").await;
    assert!(!store.has(there).await);
    store.put(there, b"there").await;
    assert_eq!(store.content(here).await, "here");
    assert_eq!(store.content(there).await, "there");
}

async fn deleting_in_one_domain_leaves_the_other(store: Store) {
    let [here, there] = pair();
    store.put(here, b"here").await;
    store.put(there, b"there").await;
    let token = store.token(here).await;
    assert_eq!(store.delete_exact(&[(here, token)]).await.unwrap(), 1);
    assert!(!store.has(here).await && store.has(there).await);
}

async fn a_token_of_one_domain_removes_nothing_in_another(store: Store) {
    let [here, there] = pair();
    store.put(here, b"equal").await;
    store.put(there, b"equal").await;
    let token = store.token(here).await;
    assert_eq!(store.delete_exact(&[(there, token)]).await.unwrap(), 0);
    assert!(store.has(there).await);
}

async fn neighbouring_domains_are_told_apart(store: Store) {
    let [mut low, mut high] = [[7; 16], [7; 16]];
    (low[15], high[15]) = (0xfe, 0xff);
    for domain in [low, high].map(Domain) {
        store.put(numbered(domain, u32::MAX), b"last").await;
        store.put(numbered(domain, 0), b"first").await;
    }
    for domain in [low, high].map(Domain) {
        let keys: Vec<_> = store.listed(domain).await.into_iter().map(|it| it.key).collect();
        assert_eq!(keys, [numbered(domain, 0), numbered(domain, u32::MAX)]);
    }
}

/// The same id in two domains.
fn pair() -> [ObjectKey; 2] {
    [Domain::random(), Domain::random()].map(|domain| numbered(domain, 7))
}
