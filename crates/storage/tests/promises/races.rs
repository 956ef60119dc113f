//! Many at once: exactly one wins, and nothing is lost.

use futures::future::join_all;
use sandkeep_storage::{Domain, Expected, Swap, frame};

use super::promises;
use super::store::{Store, fresh, named, numbered, won};

promises! {
    of_many_creates_one_wins;
    of_many_swaps_with_one_token_one_wins;
    of_a_swap_and_a_delete_with_one_token_one_wins;
    of_many_deletes_of_a_ref_one_wins;
    of_many_deletes_of_an_object_one_counts;
    no_increment_is_lost;
    commits_to_different_refs_do_not_disturb_each_other;
    racing_puts_of_one_object_leave_a_whole_one;
    an_object_stored_again_survives_a_racing_delete;
    created_and_deleted_in_a_race_a_ref_has_one_owner_at_a_time;
}

async fn of_many_creates_one_wins(store: Store) {
    for round in 0..store.times(10) {
        let key = format!("round/{round}");
        let swaps = at_once(64, |racer| {
            let (store, key) = (store.clone(), named(&key));
            async move { store.swap(&key, &Expected::Absent, racer.to_string().into()).await.unwrap() }
        });
        let swaps = swaps.await;
        let winners: Vec<_> = winners(&swaps).collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(store.value(&key).await.unwrap(), winners[0].to_string());
    }
}

async fn of_many_swaps_with_one_token_one_wins(store: Store) {
    let mut token = store.create("a", "start").await;
    for round in 0..store.times(10) {
        let swaps = at_once(32, |racer| {
            let (store, expected) = (store.clone(), Expected::Token(token.clone()));
            async move { store.swap(&named("a"), &expected, racer.to_string().into()).await.unwrap() }
        });
        let swaps = swaps.await;
        let winners: Vec<_> = winners(&swaps).collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(store.value("a").await.unwrap(), winners[0].to_string());
        token = store.load(&named("a")).await.unwrap().unwrap().token;
    }
}

async fn of_a_swap_and_a_delete_with_one_token_one_wins(store: Store) {
    for round in 0..store.times(20) {
        let key = format!("round/{round}");
        let token = store.create(&key, "start").await;
        let won = at_once(8, |racer| {
            let (store, key, token) = (store.clone(), named(&key), token.clone());
            async move {
                if racer % 2 == 0 {
                    return store.delete_ref(&key, &token).await.unwrap();
                }
                let expected = Expected::Token(token);
                let swap = store.swap(&key, &expected, "swapped".into()).await.unwrap();
                matches!(swap, Swap::Won(_))
            }
        });
        let won = won.await;
        assert_eq!(won.iter().filter(|&&won| won).count(), 1, "round {round}");
        let was_swapped = won.iter().position(|&won| won).unwrap() % 2 == 1;
        assert_eq!(store.value(&key).await.is_some(), was_swapped);
    }
}

async fn of_many_deletes_of_a_ref_one_wins(store: Store) {
    let token = store.create("a", "value").await;
    let gone = at_once(32, |_| {
        let (store, token) = (store.clone(), token.clone());
        async move { store.delete_ref(&named("a"), &token).await.unwrap() }
    });
    assert_eq!(gone.await.into_iter().filter(|&gone| gone).count(), 1);
}

async fn of_many_deletes_of_an_object_one_counts(store: Store) {
    let key = fresh();
    store.put(key, b"x").await;
    let token = store.token(key).await;
    let gone = at_once(32, |_| {
        let (store, token) = (store.clone(), token.clone());
        async move { store.delete_exact(&[(key, token)]).await.unwrap() }
    });
    assert_eq!(gone.await.into_iter().sum::<u64>(), 1);
}

async fn no_increment_is_lost(store: Store) {
    let each = store.times(25);
    store.create("counter", "0").await;
    at_once(16, |_| {
        let store = store.clone();
        async move {
            for _ in 0..each {
                increment(&store).await;
            }
        }
    })
    .await;
    assert_eq!(store.value("counter").await.unwrap(), (16 * each).to_string());
}

async fn increment(store: &Store) {
    let key = named("counter");
    loop {
        let current = store.load(&key).await.unwrap().unwrap();
        let count: u32 = str::from_utf8(&current.value).unwrap().parse().unwrap();
        let objects = vec![(fresh(), frame::seal(b"x"))];
        let (expected, next) = (Expected::Token(current.token), (count + 1).to_string());
        let swap = store.commit(objects, &key, &expected, next.into()).await.unwrap();
        if matches!(swap, Swap::Won(_)) {
            return;
        }
    }
}

async fn commits_to_different_refs_do_not_disturb_each_other(store: Store) {
    let domain = Domain::random();
    at_once(64, |racer| {
        let store = store.clone();
        async move {
            let (key, mut expected) = (named(&format!("lane/{racer:02}")), Expected::Absent);
            for number in 0..5 {
                let object = numbered(domain, racer * 10 + number);
                let objects = vec![(object, frame::seal(&object.id.0))];
                let value = number.to_string().into();
                let swap = store.commit(objects, &key, &expected, value).await.unwrap();
                expected = Expected::Token(won(swap));
            }
        }
    })
    .await;
    assert_eq!(store.listed(domain).await.len(), 64 * 5);
    let lanes = store.list_refs("lane/", None, 100).await.unwrap();
    assert_eq!(lanes.len(), 64);
    assert!(lanes.iter().all(|(_, current)| current.value == "4"));
}

async fn racing_puts_of_one_object_leave_a_whole_one(store: Store) {
    let key = fresh();
    let contents: Vec<_> = (0..16_u8).map(|racer| vec![racer; 100_000]).collect();
    at_once(16, |racer| {
        let (store, content) = (store.clone(), contents[racer as usize].clone());
        async move { store.put(key, &content).await }
    })
    .await;
    let content = store.content(key).await;
    assert!(contents.iter().any(|written| *written == content), "torn");
    assert_eq!(store.listed(key.domain).await.len(), 1);
}

async fn an_object_stored_again_survives_a_racing_delete(store: Store) {
    for round in 0..store.times(30) {
        let key = fresh();
        store.put(key, b"equal").await;
        let stale = store.token(key).await;
        at_once(2, |racer| {
            let (store, stale) = (store.clone(), stale.clone());
            async move {
                if racer == 0 {
                    store.put(key, b"equal").await;
                } else {
                    store.delete_exact(&[(key, stale)]).await.unwrap();
                }
            }
        })
        .await;
        assert!(store.has(key).await, "round {round}");
        assert_eq!(store.listed(key.domain).await.len(), 1, "round {round}");
    }
}

async fn created_and_deleted_in_a_race_a_ref_has_one_owner_at_a_time(store: Store) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let (owners, turns) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    at_once(8, |_| {
        let (store, owners, turns) = (store.clone(), Arc::clone(&owners), Arc::clone(&turns));
        async move {
            while turns.load(Ordering::Relaxed) < store.times(100) {
                let key = named("lock");
                let swap = store.swap(&key, &Expected::Absent, "mine".into()).await.unwrap();
                if let Swap::Won(token) = swap {
                    assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0, "two own it");
                    turns.fetch_add(1, Ordering::Relaxed);
                    owners.fetch_sub(1, Ordering::SeqCst);
                    assert!(store.delete_ref(&key, &token).await.unwrap());
                }
            }
        }
    })
    .await;
    assert_eq!(store.value("lock").await, None);
}

/// What so many get who run on threads of their own.
async fn at_once<T, F>(racers: u32, run: impl Fn(u32) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let racing = (0..racers).map(|racer| tokio::spawn(run(racer)));
    // All are spawned before any is waited for.
    let racing: Vec<_> = racing.collect();
    join_all(racing).await.into_iter().map(Result::unwrap).collect()
}

fn winners(swaps: &[Swap]) -> impl Iterator<Item = usize> {
    swaps.iter().enumerate().filter(|(_, swap)| matches!(swap, Swap::Won(_))).map(|(at, _)| at)
}
