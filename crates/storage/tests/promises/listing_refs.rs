//! Listing refs.

use super::promises;
use super::store::{Store, named};

promises! {
    refs_are_listed_by_the_bytes_of_their_keys;
    a_prefix_ends_where_it_ends;
    a_prefix_may_be_a_whole_key;
    a_prefix_that_nothing_has_gives_nothing;
    pages_of_refs_follow_each_other_without_gap_or_overlap;
    a_cursor_before_the_prefix_begins_with_it;
    a_cursor_behind_the_prefix_gives_nothing;
    a_cursor_of_refs_need_not_be_there;
    a_limit_of_0_refs_gives_nothing;
    a_limit_of_1_ref_gives_the_first;
    a_listing_of_refs_tells_tokens_that_swap;
    a_listing_among_changes_tells_every_lasting_ref_once;
}

async fn refs_are_listed_by_the_bytes_of_their_keys(store: Store) {
    for key in ["b", "a/b", "a_b", "a.b", "a0", "aa", "a-b", "a"] {
        store.create(key, key).await;
    }
    assert_eq!(store.keys("").await, ["a", "a-b", "a.b", "a/b", "a0", "a_b", "aa", "b"]);
}

async fn a_prefix_ends_where_it_ends(store: Store) {
    for key in ["s/a", "s/a-b/root", "s/a.b/root", "s/a/root", "s/a/snap/x", "s/a0/root", "t/a"] {
        store.create(key, "x").await;
    }
    assert_eq!(store.keys("s/a/").await, ["s/a/root", "s/a/snap/x"]);
    assert_eq!(store.keys("s/a-").await, ["s/a-b/root"]);
    assert_eq!(store.keys("s/a/s").await, ["s/a/snap/x"]);
    assert_eq!(store.keys("s/a").await.len(), 6);
    assert_eq!(store.keys("t").await, ["t/a"]);
}

async fn a_prefix_may_be_a_whole_key(store: Store) {
    for key in ["a", "a/b", "b"] {
        store.create(key, "x").await;
    }
    assert_eq!(store.keys("a/b").await, ["a/b"]);
    assert_eq!(store.keys("a").await, ["a", "a/b"]);
}

async fn a_prefix_that_nothing_has_gives_nothing(store: Store) {
    store.create("b/b", "x").await;
    for prefix in ["a", "b/a", "b/b/", "b/bb", "c", "/", "ÿ", &"b".repeat(600)] {
        assert!(store.keys(prefix).await.is_empty(), "{prefix:?}");
    }
}

async fn pages_of_refs_follow_each_other_without_gap_or_overlap(store: Store) {
    let expected = many(&store, 50).await;
    store.create("many.", "before").await;
    store.create("many0", "behind").await;
    let mut seen = Vec::new();
    loop {
        let after = seen.last().map(|key: &String| named(key));
        let page = store.list_refs("many/", after.as_ref(), 7).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 7);
        seen.extend(page.into_iter().map(|(key, _)| key.to_string()));
    }
    assert_eq!(seen, expected);
}

async fn a_cursor_before_the_prefix_begins_with_it(store: Store) {
    for key in ["a/x", "b/x", "b/y"] {
        store.create(key, "x").await;
    }
    for cursor in ["a/x", "a/z", "0", "b"] {
        let page = store.list_refs("b/", Some(&named(cursor)), 10).await.unwrap();
        assert_eq!(page.len(), 2, "behind {cursor}");
    }
}

async fn a_cursor_behind_the_prefix_gives_nothing(store: Store) {
    for key in ["b/x", "b/y", "c/x"] {
        store.create(key, "x").await;
    }
    for cursor in ["b/y", "b/z", "b0", "c", "z"] {
        let page = store.list_refs("b/", Some(&named(cursor)), 10).await.unwrap();
        assert_eq!(page, [], "behind {cursor}");
    }
}

async fn a_cursor_of_refs_need_not_be_there(store: Store) {
    for key in ["b/1", "b/3"] {
        store.create(key, "x").await;
    }
    let page = store.list_refs("b/", Some(&named("b/2")), 10).await.unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].0.as_str(), "b/3");
}

async fn a_limit_of_0_refs_gives_nothing(store: Store) {
    store.create("a", "x").await;
    assert_eq!(store.list_refs("", None, 0).await.unwrap(), []);
}

async fn a_limit_of_1_ref_gives_the_first(store: Store) {
    many(&store, 3).await;
    let page = store.list_refs("many/", None, 1).await.unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].0.as_str(), "many/000");
}

async fn a_listing_of_refs_tells_tokens_that_swap(store: Store) {
    many(&store, 3).await;
    for (key, current) in store.list_refs("many/", None, 10).await.unwrap() {
        assert_eq!(current.value, key.as_str());
        store.set(key.as_str(), &current.token, "swapped").await;
    }
}

async fn a_listing_among_changes_tells_every_lasting_ref_once(store: Store) {
    let lasting = many(&store, 60).await;
    let changing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0..60 {
                let key = format!("many/{number:03}.passing");
                let token = store.create(&key, "x").await;
                let lasting = format!("many/{number:03}");
                let current = store.load(&named(&lasting)).await.unwrap().unwrap();
                store.set(&lasting, &current.token, "changed").await;
                assert!(store.delete_ref(&named(&key), &token).await.unwrap());
            }
        }
    });
    while !changing.is_finished() {
        // What is answered at once never lets the other go on.
        tokio::task::yield_now().await;
        let mut seen = Vec::new();
        while let after = seen.last().map(|key: &String| named(key))
            && let page = store.list_refs("many/", after.as_ref(), 7).await.unwrap()
            && !page.is_empty()
        {
            seen.extend(page.into_iter().map(|(key, _)| key.to_string()));
        }
        assert!(seen.is_sorted(), "pages overlap");
        seen.retain(|key| !key.ends_with(".passing"));
        assert_eq!(seen, lasting);
    }
    changing.await.unwrap();
}

/// So many refs, each with its key as its value.
async fn many(store: &Store, count: usize) -> Vec<String> {
    let keys: Vec<_> = (0..count).map(|number| format!("many/{number:03}")).collect();
    for key in &keys {
        store.create(key, key.clone()).await;
    }
    keys
}
