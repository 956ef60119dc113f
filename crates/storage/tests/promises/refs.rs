//! Refs one at a time: create, swap, delete.

use bytes::Bytes;
use sandkeep_storage::{Expected, RefKey, Swap, Token};

use super::promises;
use super::store::{Store, lost, named, noise};

promises! {
    a_ref_is_loaded_as_it_was_created;
    a_ref_that_was_never_created_is_none;
    a_ref_is_created_once;
    a_lost_create_tells_what_is_there;
    a_swap_with_the_right_token_wins;
    a_swap_with_a_stale_token_loses_and_changes_nothing;
    a_lost_swap_tells_a_token_that_wins;
    a_swap_of_a_missing_ref_loses_to_nothing;
    a_token_of_another_ref_loses;
    a_token_changes_even_with_equal_bytes;
    a_token_does_not_come_back_with_its_value;
    a_ref_created_again_does_not_know_its_old_token;
    a_ref_is_deleted_with_its_token;
    a_ref_is_not_deleted_with_a_stale_token;
    a_missing_ref_is_not_deleted;
    a_deleted_ref_can_be_created_again;
    an_empty_value_is_a_value;
    a_value_of_64_kib_is_kept;
    a_value_of_any_bytes_is_kept;
    a_key_of_512_bytes_is_kept;
    refs_do_not_touch_each_other;
}

async fn a_ref_is_loaded_as_it_was_created(store: Store) {
    let token = store.create("s/demo/root", "value").await;
    let current = store.load(&named("s/demo/root")).await.unwrap().unwrap();
    assert_eq!((current.value, current.token), (Bytes::from("value"), token));
}

async fn a_ref_that_was_never_created_is_none(store: Store) {
    store.create("a", "value").await;
    for key in ["b", "a/a", "aa"] {
        assert_eq!(store.load(&named(key)).await.unwrap(), None);
    }
}

async fn a_ref_is_created_once(store: Store) {
    store.create("a", "first").await;
    let swap = store.swap(&named("a"), &Expected::Absent, "second".into()).await.unwrap();
    assert!(matches!(swap, Swap::Lost(_)));
    assert_eq!(store.value("a").await.unwrap(), "first");
}

async fn a_lost_create_tells_what_is_there(store: Store) {
    let token = store.create("a", "first").await;
    let swap = store.swap(&named("a"), &Expected::Absent, "second".into()).await.unwrap();
    let Swap::Lost(Some(current)) = swap else { panic!("{swap:?}") };
    assert_eq!((current.value, current.token), (Bytes::from("first"), token));
}

async fn a_swap_with_the_right_token_wins(store: Store) {
    let first = store.create("a", "first").await;
    let second = store.set("a", &first, "second").await;
    assert_ne!(first, second);
    let current = store.load(&named("a")).await.unwrap().unwrap();
    assert_eq!((current.value, current.token), (Bytes::from("second"), second));
}

async fn a_swap_with_a_stale_token_loses_and_changes_nothing(store: Store) {
    let first = store.create("a", "first").await;
    let second = store.set("a", &first, "second").await;
    let stale = Expected::Token(first);
    let swap = store.swap(&named("a"), &stale, "third".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "second");
    assert_eq!(store.load(&named("a")).await.unwrap().unwrap().token, second);
}

async fn a_lost_swap_tells_a_token_that_wins(store: Store) {
    store.create("a", "first").await;
    let swap = store.swap(&named("a"), &Expected::Absent, "x".into()).await.unwrap();
    let Swap::Lost(Some(current)) = swap else { panic!("{swap:?}") };
    store.set("a", &current.token, "second").await;
    assert_eq!(store.value("a").await.unwrap(), "second");
}

async fn a_swap_of_a_missing_ref_loses_to_nothing(store: Store) {
    let token = store.create("a", "value").await;
    let expected = Expected::Token(token);
    let swap = store.swap(&named("b"), &expected, "value".into()).await.unwrap();
    assert_eq!(lost(swap), None);
    assert_eq!(store.value("b").await, None);
}

async fn a_token_of_another_ref_loses(store: Store) {
    let token = store.create("a", "equal").await;
    store.create("b", "equal").await;
    let expected = Expected::Token(token);
    let swap = store.swap(&named("b"), &expected, "changed".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "equal");
}

async fn a_token_changes_even_with_equal_bytes(store: Store) {
    let first = store.create("a", "equal").await;
    let second = store.set("a", &first, "equal").await;
    let third = store.set("a", &second, "equal").await;
    assert!(first != second && second != third && first != third);
}

async fn a_token_does_not_come_back_with_its_value(store: Store) {
    let first = store.create("a", "one").await;
    let second = store.set("a", &first, "two").await;
    store.set("a", &second, "one").await;
    let swap = store.swap(&named("a"), &Expected::Token(first), "x".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "one");
}

async fn a_ref_created_again_does_not_know_its_old_token(store: Store) {
    let old = store.create("a", "equal").await;
    assert!(store.delete_ref(&named("a"), &old).await.unwrap());
    store.create("a", "equal").await;
    let expected = Expected::Token(old.clone());
    let swap = store.swap(&named("a"), &expected, "x".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "equal");
    assert!(!store.delete_ref(&named("a"), &old).await.unwrap());
}

async fn a_ref_is_deleted_with_its_token(store: Store) {
    let token = store.create("a", "value").await;
    assert!(store.delete_ref(&named("a"), &token).await.unwrap());
    assert_eq!(store.value("a").await, None);
    assert!(store.keys("").await.is_empty());
}

async fn a_ref_is_not_deleted_with_a_stale_token(store: Store) {
    let first = store.create("a", "first").await;
    store.set("a", &first, "second").await;
    for stale in [first, Token::new(""), Token::new("another token!!!")] {
        assert!(!store.delete_ref(&named("a"), &stale).await.unwrap());
    }
    assert_eq!(store.value("a").await.unwrap(), "second");
}

async fn a_missing_ref_is_not_deleted(store: Store) {
    let token = store.create("a", "value").await;
    assert!(!store.delete_ref(&named("b"), &token).await.unwrap());
    assert!(store.delete_ref(&named("a"), &token).await.unwrap());
    assert!(!store.delete_ref(&named("a"), &token).await.unwrap());
}

async fn a_deleted_ref_can_be_created_again(store: Store) {
    for value in ["one", "two", "three"] {
        let token = store.create("a", value).await;
        assert_eq!(store.value("a").await.unwrap(), value);
        assert!(store.delete_ref(&named("a"), &token).await.unwrap());
    }
}

async fn an_empty_value_is_a_value(store: Store) {
    let token = store.create("a", "").await;
    assert_eq!(store.value("a").await.unwrap(), "");
    let swap = store.swap(&named("a"), &Expected::Absent, "x".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "");
    store.set("a", &token, "").await;
}

async fn a_value_of_64_kib_is_kept(store: Store) {
    let value = noise(64 << 10);
    let token = store.create("a", value.clone()).await;
    assert!(store.value("a").await.unwrap() == value);
    let another = noise(64 << 10);
    store.set("a", &token, another.clone()).await;
    assert!(store.value("a").await.unwrap() == another);
}

async fn a_value_of_any_bytes_is_kept(store: Store) {
    let value: Vec<u8> = (0..=255).chain([0, 0, 13, 10, 255, 255]).collect();
    store.create("a", value.clone()).await;
    assert_eq!(store.value("a").await.unwrap(), value);
}

async fn a_key_of_512_bytes_is_kept(store: Store) {
    let [one, two] = ["a", "b"].map(|last| format!("{}{last}", "x".repeat(RefKey::MAX_LEN - 1)));
    store.create(&one, "one").await;
    store.create(&two, "two").await;
    assert_eq!(store.value(&one).await.unwrap(), "one");
    assert_eq!(store.value(&two).await.unwrap(), "two");
    assert_eq!(store.keys("x").await, [one, two]);
}

async fn refs_do_not_touch_each_other(store: Store) {
    let keys = ["a", "a.b", "a/b", "a-b", "a_b", "ab", "b"];
    for key in keys {
        store.create(key, key).await;
    }
    let token = store.load(&named("a/b")).await.unwrap().unwrap().token;
    store.set("a/b", &token, "changed").await;
    for key in keys {
        let expected = if key == "a/b" { "changed" } else { key };
        assert_eq!(store.value(key).await.unwrap(), expected);
    }
}
