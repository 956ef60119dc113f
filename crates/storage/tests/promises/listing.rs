//! Listing objects.

use std::time::{Duration, SystemTime};

use sandkeep_storage::{Domain, Listed, ObjectKey, frame};

use super::promises;
use super::store::{Store, fresh, numbered};

promises! {
    a_new_store_holds_nothing;
    a_listing_is_sorted_by_key;
    a_listing_without_a_domain_holds_all;
    a_listing_of_an_unknown_domain_is_empty;
    pages_follow_each_other_without_gap_or_overlap;
    a_cursor_need_not_be_there;
    a_cursor_at_the_end_gives_nothing;
    a_cursor_before_the_domain_begins_with_it;
    a_cursor_behind_the_domain_gives_nothing;
    a_limit_of_0_gives_nothing;
    a_limit_of_1_gives_the_first;
    a_listing_tells_when_and_how_large;
    a_listing_tells_tokens_that_delete;
    a_listing_among_changes_tells_every_lasting_object_once;
}

async fn a_new_store_holds_nothing(store: Store) {
    assert_eq!(store.list(None, None, 10).await.unwrap(), []);
    assert_eq!(store.list_refs("", None, 10).await.unwrap(), []);
}

async fn a_listing_is_sorted_by_key(store: Store) {
    let domain = Domain::random();
    for number in [5, 1, 0xff00_0000, 3, 256] {
        store.put(numbered(domain, number), b"x").await;
    }
    let expected = [1, 3, 5, 256, 0xff00_0000].map(|number| numbered(domain, number));
    assert_eq!(keys(&store.listed(domain).await), expected);
}

async fn a_listing_without_a_domain_holds_all(store: Store) {
    let mut expected = vec![fresh(), fresh(), fresh()];
    for &key in &expected {
        store.put(key, b"x").await;
    }
    expected.sort();
    assert_eq!(keys(&store.list(None, None, 10).await.unwrap()), expected);
}

async fn a_listing_of_an_unknown_domain_is_empty(store: Store) {
    store.put(fresh(), b"x").await;
    assert_eq!(store.listed(Domain::random()).await, []);
}

async fn pages_follow_each_other_without_gap_or_overlap(store: Store) {
    let domain = filled(&store, 100).await;
    store.put(fresh(), b"of another").await;
    let mut seen = Vec::new();
    loop {
        let page = store.list(Some(domain), seen.last().copied(), 7).await.unwrap();
        assert!(page.len() == 7 || page.len() == 100 % 7, "a page of {}", page.len());
        seen.extend(keys(&page));
        if page.len() < 7 {
            break;
        }
    }
    let expected: Vec<_> = (0..100).map(|number| numbered(domain, number)).collect();
    assert_eq!(seen, expected);
}

async fn a_cursor_need_not_be_there(store: Store) {
    let domain = filled(&store, 5).await;
    let [before, cursor] = [numbered(domain, 1), numbered(domain, 2)];
    let token = store.token(cursor).await;
    store.delete_exact(&[(cursor, token)]).await.unwrap();
    let page = store.list(Some(domain), Some(cursor), 10).await.unwrap();
    assert_eq!(keys(&page), [3, 4].map(|number| numbered(domain, number)));
    let page = store.list(Some(domain), Some(before), 1).await.unwrap();
    assert_eq!(keys(&page), [numbered(domain, 3)]);
}

async fn a_cursor_at_the_end_gives_nothing(store: Store) {
    let domain = filled(&store, 3).await;
    for cursor in [numbered(domain, 2), numbered(domain, u32::MAX)] {
        assert_eq!(store.list(Some(domain), Some(cursor), 10).await.unwrap(), []);
    }
}

async fn a_cursor_before_the_domain_begins_with_it(store: Store) {
    let domain = Domain([5; 16]);
    store.put(numbered(domain, 0), b"x").await;
    store.put(numbered(Domain([3; 16]), 0), b"x").await;
    let cursor = numbered(Domain([2; 16]), 9);
    let page = store.list(Some(domain), Some(cursor), 10).await.unwrap();
    assert_eq!(keys(&page), [numbered(domain, 0)]);
}

async fn a_cursor_behind_the_domain_gives_nothing(store: Store) {
    let domain = Domain([5; 16]);
    store.put(numbered(domain, 0), b"x").await;
    store.put(numbered(Domain([7; 16]), 0), b"x").await;
    let cursor = numbered(Domain([6; 16]), 0);
    assert_eq!(store.list(Some(domain), Some(cursor), 10).await.unwrap(), []);
}

async fn a_limit_of_0_gives_nothing(store: Store) {
    let domain = filled(&store, 3).await;
    assert_eq!(store.list(Some(domain), None, 0).await.unwrap(), []);
    assert_eq!(store.list(None, None, 0).await.unwrap(), []);
}

async fn a_limit_of_1_gives_the_first(store: Store) {
    let domain = filled(&store, 3).await;
    let page = store.list(Some(domain), None, 1).await.unwrap();
    assert_eq!(keys(&page), [numbered(domain, 0)]);
}

async fn a_listing_tells_when_and_how_large(store: Store) {
    let (key, stored) = (fresh(), frame::seal(b"hello"));
    let size = stored.len() as u64;
    store.put_many(vec![(key, stored)]).await.unwrap();
    let listed = store.listed(key.domain).await;
    assert_eq!(listed[0].size, size);
    let age = SystemTime::now().duration_since(listed[0].written).unwrap();
    assert!(age < Duration::from_secs(60), "written {age:?} ago");
}

async fn a_listing_tells_tokens_that_delete(store: Store) {
    let domain = filled(&store, 10).await;
    let all: Vec<_> =
        store.listed(domain).await.into_iter().map(|listed| (listed.key, listed.token)).collect();
    assert_eq!(store.delete_exact(&all).await.unwrap(), 10);
    assert_eq!(store.listed(domain).await, []);
}

async fn a_listing_among_changes_tells_every_lasting_object_once(store: Store) {
    let domain = filled(&store, 200).await;
    let changing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0..store.times(200) {
                // Odd numbers come and go, even ones last.
                let key = numbered(domain, number * 2 + 1_000_001);
                store.put(key, b"passing").await;
                let token = store.token(key).await;
                store.delete_exact(&[(key, token)]).await.unwrap();
                store.put(numbered(domain, number), b"again").await;
            }
        }
    });
    while !changing.is_finished() {
        // What is answered at once never lets the other go on.
        tokio::task::yield_now().await;
        let mut seen = Vec::new();
        while let page = store.list(Some(domain), seen.last().copied(), 13).await.unwrap()
            && !page.is_empty()
        {
            seen.extend(keys(&page));
        }
        assert!(seen.is_sorted(), "pages overlap");
        seen.retain(|key| *key < numbered(domain, 1000));
        assert_eq!(seen.len(), 200, "every lasting object is told once");
    }
    changing.await.unwrap();
}

/// A domain with so many objects.
async fn filled(store: &Store, count: u32) -> Domain {
    let domain = Domain::random();
    let objects = (0..count).map(|number| (numbered(domain, number), frame::seal(b"x")));
    store.put_many(objects.collect()).await.unwrap();
    domain
}

fn keys(listed: &[Listed]) -> Vec<ObjectKey> {
    listed.iter().map(|listed| listed.key).collect()
}
