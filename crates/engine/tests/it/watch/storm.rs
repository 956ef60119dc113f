//! Many changes by several writers, and one who watches and is cut off again and again.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use sandkeep_engine::{
    Depth, DotDot, FileSystem, If, Parents, SandboxPath, Target, WriteMode, WriteOptions,
};

use tokio::sync::Semaphore;

use super::client::{Client, picture};

const WRITERS: u64 = 4;
const CHANGES: usize = 10_000;
const CUTS: usize = 100;

/// Changes a tree 10,000 times while a client is cut off 100 times, and holds that the client then
/// knows exactly what is there. Gives how often it had to list everything anew.
pub(crate) async fn hold_through(files: Arc<dyn FileSystem>, seed: u64) -> usize {
    for dir in 0..6 {
        files.create_dir(&at(&format!("/d{dir}")), Parents::Create).await.unwrap();
    }
    let mut client = Client::new(Arc::clone(&files)).await;
    // So many changes may be made: they are spread over all the times that the client is cut off.
    let leave = Arc::new(Semaphore::new(0));
    let writer = |number| write(Arc::clone(&files), Arc::clone(&leave), seed * 100 + number);
    let writers: Vec<_> = (0..WRITERS).map(|number| tokio::spawn(writer(number))).collect();
    let mut dice = SmallRng::seed_from_u64(seed);
    for _ in 0..CUTS {
        leave.add_permits(CHANGES / CUTS);
        for _ in 0..dice.random_range(0..150) {
            if !client.hear(Duration::from_millis(30)).await {
                break;
            }
        }
        client.cut_off();
        tokio::time::sleep(Duration::from_millis(dice.random_range(0..20))).await;
        client.connect().await;
    }
    let mut done = 0;
    for writer in writers {
        done += writer.await.unwrap();
    }
    assert_eq!(done, CHANGES);
    // What was done before this file was made is told before it, but for what is still moving.
    let last = at("/last");
    put(&*files, &last, "1".to_owned()).await;
    while !client.known.contains_key(&last) {
        assert!(client.hear(Duration::from_secs(30)).await, "nothing is told any more");
    }
    while client.hear(Duration::from_secs(2)).await {}
    let there = picture(&*files).await;
    let wrong: Vec<_> =
        there.iter().filter(|(path, known)| client.known.get(path) != Some(known)).collect();
    let ghosts: Vec<_> = client.known.keys().filter(|path| !there.contains_key(path)).collect();
    assert!(
        wrong.is_empty() && ghosts.is_empty(),
        "missed {wrong:?}, not there {ghosts:?}, of {:?}",
        client.known.keys()
    );
    client.resyncs
}

async fn write(files: Arc<dyn FileSystem>, leave: Arc<Semaphore>, seed: u64) -> usize {
    let mut dice = SmallRng::seed_from_u64(seed);
    let mut done = 0;
    while done < CHANGES / WRITERS as usize {
        leave.acquire().await.unwrap().forget();
        match done % 4 {
            0 => step(&*files, seed, done / 4).await,
            _ => while !change(&*files, &mut dice, done).await {},
        }
        done += 1;
    }
    done
}

/// One step in the life of a file that nobody else touches. Most of what is missed elsewhere is told
/// again when the same few names change once more; who misses the last step of one of these files
/// never learns better.
async fn step(files: &dyn FileSystem, writer: u64, number: usize) {
    let file = number / 4;
    let (place, moved) =
        (at(&format!("/kept/{writer}-{file}")), at(&format!("/kept/{writer}-{file}-moved")));
    let is_done = match number % 4 {
        0 => put(files, &place, "first".to_owned()).await,
        1 => put(files, &place, "second".to_owned()).await,
        2 => files.rename(&place, &moved, Target::New).await.is_ok(),
        _ if file.is_multiple_of(2) => files.remove(&moved, Depth::All, If::Always).await.is_ok(),
        _ => put(files, &moved, "third".to_owned()).await,
    };
    assert!(is_done, "step {number} of {place}");
}

/// One change at random; whether it was possible.
async fn change(files: &dyn FileSystem, dice: &mut SmallRng, number: usize) -> bool {
    let (one, other) = (some_path(dice), some_path(dice));
    match dice.random_range(0..100) {
        0..50 => put(files, &one, format!("{number} {}", dice.random::<u64>())).await,
        50..65 => files.remove(&one, Depth::All, If::Always).await.is_ok(),
        65..75 => files.create_dir(&one, Parents::Create).await.is_ok(),
        75..95 => files.rename(&one, &other, Target::Replace).await.is_ok(),
        _ => files.copy(&one, &other, Target::New).await.is_ok(),
    }
}

async fn put(files: &dyn FileSystem, file: &SandboxPath, content: String) -> bool {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    let options = WriteOptions { mode, parents, expected, length: None };
    let body = Box::pin(futures::stream::iter([Ok(content.into())]));
    files.write(file, body, options).await.is_ok()
}

fn some_path(dice: &mut SmallRng) -> SandboxPath {
    let mut path = format!("/d{}", dice.random_range(0..6));
    for _ in 0..dice.random_range(1..4) {
        path.push_str(&format!("/n{}", dice.random_range(0..5)));
    }
    at(&path)
}

pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}
