//! Many callers at once: nobody loses, and only one wins what only one can have.

use std::collections::BTreeSet;

use engine::{Depth, ErrorKind, If, Parents, Result, Target};
use futures::future::{join_all, try_join_all};
use tokio::task::JoinSet;

use crate::promise::promises;
use crate::tree::{Tree, append, at, create_new, replace, replace_if};

promises! {
    of_many_creators_one_wins;
    of_many_movers_to_one_name_one_wins;
    of_many_movers_of_one_file_one_wins;
    of_many_removers_one_wins;
    of_many_conditional_writers_one_wins;
    conditional_writers_lose_no_update;
    of_many_conditional_removers_one_wins;
    appends_at_once_lose_nothing;
    writes_to_different_files_all_arrive;
    writes_that_need_the_same_parents_all_arrive;
    a_directory_made_by_many_is_there_for_all_and_new_for_one;
    writers_to_one_file_leave_one_of_them_whole;
    two_directories_moved_into_each_other_lose_nothing;
    a_copy_of_a_file_that_is_written_is_whole;
}

/// Runs the same attempt many times at once, each on a task of its own, and tells how it went.
async fn at_once<F, T>(count: usize, attempt: impl Fn(usize) -> F) -> Vec<Result<T>>
where
    F: Future<Output = Result<T>> + Send + 'static,
    T: Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|n| tokio::spawn(attempt(n))).collect();
    join_all(tasks).await.into_iter().map(|task| task.unwrap()).collect()
}

/// Holds that exactly one attempt succeeded and the others failed with this kind.
fn one_won<T>(outcomes: &[Result<T>], otherwise: ErrorKind) {
    let lost = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    let kinds: Vec<_> = lost.map(engine::Error::kind).collect();
    assert_eq!(kinds, vec![otherwise; outcomes.len() - 1]);
}

async fn of_many_creators_one_wins(tree: Tree) {
    let files = tree.clone();
    let outcomes = at_once(16, |n| {
        let tree = files.clone();
        async move { tree.try_put("/dir/file", n.to_string(), create_new()).await.map(|_| n) }
    })
    .await;
    one_won(&outcomes, ErrorKind::AlreadyExists);
    let winner = outcomes.into_iter().find_map(Result::ok).unwrap();
    assert_eq!(tree.text("/dir/file").await, winner.to_string());
}

async fn of_many_movers_to_one_name_one_wins(tree: Tree) {
    for n in 0..8 {
        tree.put(&format!("/{n}"), n.to_string()).await;
    }
    let files = tree.clone();
    let outcomes = at_once(8, |n| {
        let tree = files.clone();
        async move { tree.rename(&at(&format!("/{n}")), &at("/to/it"), Target::New).await }
    })
    .await;
    one_won(&outcomes, ErrorKind::AlreadyExists);
    assert_eq!(tree.names("/").await.len(), 8);
}

async fn of_many_movers_of_one_file_one_wins(tree: Tree) {
    tree.put("/file", "content").await;
    let files = tree.clone();
    let outcomes = at_once(8, |n| {
        let tree = files.clone();
        async move { tree.rename(&at("/file"), &at(&format!("/to-{n}")), Target::New).await }
    })
    .await;
    one_won(&outcomes, ErrorKind::NotFound);
    assert_eq!(tree.names("/").await.len(), 1);
}

async fn of_many_removers_one_wins(tree: Tree) {
    tree.put("/file", "content").await;
    let files = tree.clone();
    let outcomes = at_once(8, |_| {
        let tree = files.clone();
        async move { tree.remove(&at("/file"), Depth::One, If::Always).await }
    })
    .await;
    one_won(&outcomes, ErrorKind::NotFound);
}

async fn of_many_conditional_writers_one_wins(tree: Tree) {
    tree.put("/file", "old").await;
    let expected = If::Matches(vec![tree.version("/file").await]);
    let files = tree.clone();
    let outcomes = at_once(16, |n| {
        let (tree, options) = (files.clone(), replace_if(expected.clone()));
        async move { tree.try_put("/file", n.to_string(), options).await.map(|_| n) }
    })
    .await;
    one_won(&outcomes, ErrorKind::PreconditionFailed);
    let winner = outcomes.into_iter().find_map(Result::ok).unwrap();
    assert_eq!(tree.text("/file").await, winner.to_string());
}

/// Adds one to the number in a file, again and again until nobody came in between.
async fn increment(tree: &Tree) -> Result<()> {
    loop {
        let content = tree.read(&at("/count"), engine::Span::Whole).await?;
        let expected = If::Matches(content.entry.version.into_iter().collect());
        let text = String::from_utf8(crate::tree::gather(content.body).await?).unwrap();
        let next = (text.parse::<u32>().unwrap() + 1).to_string();
        match tree.try_put("/count", next, replace_if(expected)).await {
            Err(err) if err.kind() == ErrorKind::PreconditionFailed => {}
            outcome => return outcome.map(drop),
        }
    }
}

async fn conditional_writers_lose_no_update(tree: Tree) {
    tree.put("/count", "0").await;
    let files = tree.clone();
    let outcomes = at_once(8, |_| {
        let tree = files.clone();
        async move {
            for _ in 0..10 {
                increment(&tree).await?;
            }
            Ok(())
        }
    })
    .await;
    outcomes.into_iter().collect::<Result<()>>().unwrap();
    assert_eq!(tree.text("/count").await, "80");
}

async fn of_many_conditional_removers_one_wins(tree: Tree) {
    tree.put("/file", "content").await;
    let expected = If::Matches(vec![tree.version("/file").await]);
    let files = tree.clone();
    let outcomes = at_once(8, |_| {
        let (tree, expected) = (files.clone(), expected.clone());
        async move { tree.remove(&at("/file"), Depth::One, expected).await }
    })
    .await;
    one_won(&outcomes, ErrorKind::PreconditionFailed);
}

async fn appends_at_once_lose_nothing(tree: Tree) {
    let files = tree.clone();
    let outcomes = at_once(8, |writer| {
        let tree = files.clone();
        async move {
            for line in 0..25 {
                tree.try_put("/log", format!("{writer} {line}\n"), append()).await?;
            }
            Ok(())
        }
    })
    .await;
    outcomes.into_iter().collect::<Result<()>>().unwrap();
    let text = tree.text("/log").await;
    let lines: BTreeSet<&str> = text.lines().collect();
    let expected: BTreeSet<String> =
        (0..8).flat_map(|writer| (0..25).map(move |line| format!("{writer} {line}"))).collect();
    assert_eq!(text.lines().count(), 200);
    assert_eq!(lines, expected.iter().map(String::as_str).collect());
}

async fn writes_to_different_files_all_arrive(tree: Tree) {
    let writes = (0..100).map(|n| {
        let tree = tree.clone();
        async move { tree.try_put(&format!("/dir/{n}"), n.to_string(), replace()).await }
    });
    try_join_all(writes).await.unwrap();
    for n in 0..100 {
        assert_eq!(tree.text(&format!("/dir/{n}")).await, n.to_string());
    }
}

async fn writes_that_need_the_same_parents_all_arrive(tree: Tree) {
    let files = tree.clone();
    let outcomes = at_once(16, |n| {
        let tree = files.clone();
        async move { tree.try_put(&format!("/a/b/c/{n}"), "x", create_new()).await }
    })
    .await;
    outcomes.into_iter().collect::<Result<Vec<_>>>().unwrap();
    assert_eq!(tree.names("/a/b/c").await.len(), 16);
}

async fn a_directory_made_by_many_is_there_for_all_and_new_for_one(tree: Tree) {
    let outcomes = at_once(16, |_| {
        let tree = tree.clone();
        async move { tree.create_dir(&at("/a/b/c/d"), Parents::Create).await }
    })
    .await;
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>>>().unwrap();
    assert_eq!(outcomes.iter().filter(|made| made.created).count(), 1);
}

async fn writers_to_one_file_leave_one_of_them_whole(tree: Tree) {
    let files = tree.clone();
    let outcomes = at_once(8, |n| {
        let tree = files.clone();
        let content = vec![n as u8; 300_000 + n];
        async move { tree.try_put("/file", content, replace()).await }
    })
    .await;
    outcomes.into_iter().collect::<Result<Vec<_>>>().unwrap();
    let content = tree.content("/file").await;
    let winner = content[0];
    assert_eq!(content.len(), 300_000 + usize::from(winner));
    assert!(content.iter().all(|byte| *byte == winner));
}

async fn two_directories_moved_into_each_other_lose_nothing(tree: Tree) {
    for round in 0..20 {
        let (a, b) = (format!("/{round}/a"), format!("/{round}/b"));
        tree.put(&format!("{a}/file"), "a").await;
        tree.put(&format!("{b}/file"), "b").await;
        let mut moves = JoinSet::new();
        for (from, to) in [(a.clone(), format!("{b}/a")), (b, format!("{a}/b"))] {
            let tree = tree.clone();
            moves
                .spawn(async move { tree.rename(&at(&from), &at(&to), Target::New).await.is_ok() });
        }
        // One after the other both succeed, for the second makes the missing parent anew.
        moves.join_all().await;
        let files = tree.picture().await.into_keys().filter(|path| path.ends_with("/file"));
        assert_eq!(files.count(), 2 * (round + 1), "round {round}");
    }
}

async fn a_copy_of_a_file_that_is_written_is_whole(tree: Tree) {
    tree.put("/file", vec![0; 200_000]).await;
    let writer = tree.clone();
    let writes = tokio::spawn(async move {
        for round in 1..30_u8 {
            writer.put("/file", vec![round; 200_000]).await;
        }
    });
    for _ in 0..30 {
        tree.copy(&at("/file"), &at("/copied"), Target::Replace).await.unwrap();
        let copied = tree.content("/copied").await;
        assert_eq!(copied.len(), 200_000);
        assert!(copied.iter().all(|byte| *byte == copied[0]));
    }
    writes.await.unwrap();
}
