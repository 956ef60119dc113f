//! Deleting objects, by exact token.

use sandkeep_storage::{Domain, Token};

use super::promises;
use super::store::{Store, fresh, numbered};

promises! {
    an_object_goes_with_its_token;
    an_object_stored_again_since_it_was_listed_stays;
    a_token_of_another_object_removes_nothing;
    a_token_that_never_was_removes_nothing;
    a_delete_counts_what_went;
    an_object_goes_only_once;
    deleting_nothing_is_no_mistake;
    an_object_that_went_can_be_stored_again;
    a_token_from_before_the_delete_does_not_remove_the_new_object;
}

async fn an_object_goes_with_its_token(store: Store) {
    let key = fresh();
    store.put(key, b"x").await;
    let token = store.token(key).await;
    assert_eq!(store.delete_exact(&[(key, token)]).await.unwrap(), 1);
    assert!(!store.has(key).await);
    assert_eq!(store.listed(key.domain).await, []);
}

async fn an_object_stored_again_since_it_was_listed_stays(store: Store) {
    let key = fresh();
    store.put(key, b"equal").await;
    let stale = store.token(key).await;
    store.put(key, b"equal").await;
    assert_eq!(store.delete_exact(&[(key, stale)]).await.unwrap(), 0);
    assert_eq!(store.content(key).await, "equal");
}

async fn a_token_of_another_object_removes_nothing(store: Store) {
    let domain = Domain::random();
    let [one, two] = [1, 2].map(|number| numbered(domain, number));
    store.put(one, b"equal").await;
    store.put(two, b"equal").await;
    let token = store.token(one).await;
    assert_eq!(store.delete_exact(&[(two, token)]).await.unwrap(), 0);
    assert!(store.has(one).await && store.has(two).await);
}

async fn a_token_that_never_was_removes_nothing(store: Store) {
    let key = fresh();
    store.put(key, b"x").await;
    for token in ["", "x", "sixteen bytes!!!"].map(Token::new) {
        assert_eq!(store.delete_exact(&[(key, token)]).await.unwrap(), 0);
    }
    assert!(store.has(key).await);
}

async fn a_delete_counts_what_went(store: Store) {
    let domain = Domain::random();
    let [gone, stale, missing] = [1, 2, 3].map(|number| numbered(domain, number));
    store.put(gone, b"x").await;
    store.put(stale, b"x").await;
    let wanted = [gone, stale, missing];
    let (one, two) = (store.token(gone).await, store.token(stale).await);
    store.put(stale, b"x").await;
    let tokens = [one.clone(), two, one];
    let objects: Vec<_> = wanted.into_iter().zip(tokens).collect();
    assert_eq!(store.delete_exact(&objects).await.unwrap(), 1);
    assert!(!store.has(gone).await && store.has(stale).await);
}

async fn an_object_goes_only_once(store: Store) {
    let key = fresh();
    store.put(key, b"x").await;
    let token = store.token(key).await;
    let twice = [(key, token.clone()), (key, token.clone())];
    assert_eq!(store.delete_exact(&twice).await.unwrap(), 1);
    assert_eq!(store.delete_exact(&[(key, token)]).await.unwrap(), 0);
}

async fn deleting_nothing_is_no_mistake(store: Store) {
    assert_eq!(store.delete_exact(&[]).await.unwrap(), 0);
}

async fn an_object_that_went_can_be_stored_again(store: Store) {
    let key = fresh();
    for _ in 0..3 {
        store.put(key, b"x").await;
        let token = store.token(key).await;
        assert_eq!(store.delete_exact(&[(key, token)]).await.unwrap(), 1);
    }
    store.put(key, b"again").await;
    assert_eq!(store.content(key).await, "again");
}

async fn a_token_from_before_the_delete_does_not_remove_the_new_object(store: Store) {
    let key = fresh();
    store.put(key, b"x").await;
    let token = store.token(key).await;
    store.delete_exact(&[(key, token.clone())]).await.unwrap();
    store.put(key, b"x").await;
    assert_eq!(store.delete_exact(&[(key, token)]).await.unwrap(), 0);
    assert!(store.has(key).await);
}
