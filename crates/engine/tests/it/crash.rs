//! A process that is killed while it commits: what it acknowledged is there, and nothing is there
//! by halves.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandkeep_engine::{FileSystem, Limits, Links, Step, Store, VirtualFs};

use crate::contents::{at, contents, put, read, sandbox};
use crate::long;

/// Where the process that will be killed keeps its store.
const URL: &str = "SANDKEEP_KILLED_STORE";
const SANDBOXES: u64 = 2;
const WRITERS: u64 = 3;

/// What the batch of this number of a writer puts where: parts that only fit each other.
fn parts(writer: u64, number: u64) -> Vec<(String, Vec<u8>)> {
    let len = [10, 600, 3000, 90_000][number as usize % 4];
    let fill = |seed: u64| -> Vec<u8> {
        let word = |n: u64| (n ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
        (0..len / 8 + 1).flat_map(word).collect()
    };
    let (one, other) = (fill(number), fill(number.rotate_left(32) ^ writer));
    let check = blake3::hash(&[&one[..], &other].concat()).to_string();
    vec![
        (format!("/{writer}/one"), one),
        (format!("/{writer}/deep/er/other"), other),
        (format!("/{writer}/check"), check.into_bytes()),
        (format!("/{writer}/number"), number.to_string().into_bytes()),
        (format!("/{writer}/all/{number}"), Vec::new()),
    ]
}

fn batch(writer: u64, number: u64) -> Vec<Step> {
    parts(writer, number).into_iter().map(|(path, content)| put(&path, content)).collect()
}

/// The number of a writer's last batch; none if it has made none.
async fn last(files: &VirtualFs, writer: u64) -> Option<u64> {
    let path = at(&format!("/{writer}/number"));
    files.stat(&path, Links::Keep).await.ok()?;
    Some(String::from_utf8(read(files, &path).await.to_vec()).unwrap().parse().unwrap())
}

/// Not a test: the process that is killed. It commits for ever and says what was acknowledged.
#[test]
#[ignore = "it runs until it is killed"]
#[expect(clippy::disallowed_methods, reason = "whoever starts it says where in the environment")]
fn commits_until_it_is_killed() {
    let url = std::env::var(URL).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&url).await.unwrap();
        let mut writers = Vec::new();
        for number in 0..SANDBOXES {
            let id = sandbox(&format!("s{number}"));
            let files = store.sandbox_or_new(&id, Limits::default()).await.unwrap();
            for writer in 0..WRITERS {
                writers.push(tokio::spawn(commit_for_ever(files.clone(), number, writer)));
            }
        }
        say("open\n");
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn commit_for_ever(files: VirtualFs, sandbox: u64, writer: u64) {
    let mut number = last(&files, writer).await.map_or(0, |last| last + 1);
    loop {
        files.batch(batch(writer, number)).await.unwrap();
        say(&format!("{sandbox} {writer} {number}\n"));
        number += 1;
    }
}

/// One line in one write, so that what is read of it is whole.
fn say(line: &str) {
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

/// Lets a process commit for a while and kills it; gives the last batches that it acknowledged.
fn killed_after(url: &str, time: Duration) -> BTreeMap<(u64, u64), u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::commits_until_it_is_killed", "--ignored", "--nocapture"])
        .env(URL, url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line == "open"), "the process did not open the store");
    let reader = std::thread::spawn(move || lines.collect::<Vec<String>>());
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut acknowledged = BTreeMap::new();
    for line in reader.join().unwrap() {
        let words: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        if let [sandbox, writer, number] = words[..] {
            acknowledged.insert((sandbox, writer), number);
        }
    }
    acknowledged
}

/// Holds that everything acknowledged is there, and that every batch that is there is whole.
async fn check(store: &Store, acknowledged: &BTreeMap<(u64, u64), u64>) {
    for number in 0..SANDBOXES {
        let files = store.sandbox(&sandbox(&format!("s{number}"))).await.unwrap();
        let held = contents(&files).await;
        let bytes: usize = held.values().map(|node| node.content.len()).sum();
        assert_eq!(files.usage().await.unwrap().bytes, bytes as u64);
        for writer in 0..WRITERS {
            let last = last(&files, writer).await;
            let least = acknowledged.get(&(number, writer)).copied();
            assert!(last >= least, "batch {least:?} is gone, the last is {last:?}");
            let Some(last) = last else { continue };
            for (path, content) in parts(writer, last) {
                assert!(held[&at(&path)].content == content, "{path} is not of batch {last}");
            }
            let all = format!("/{writer}/all/");
            let count = held.keys().filter(|path| path.as_str().starts_with(&all)).count();
            assert_eq!(count as u64, last + 1, "batches are missing before {last}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_outlives_the_process_that_is_killed_while_it_commits() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().join("store").display());
    let (cycles, mut committed) = (if long::factor() > 1 { 200 } else { 12 }, 0);
    for cycle in 0..cycles {
        let time = Duration::from_millis(rand::random_range(1..150));
        let acknowledged = tokio::task::block_in_place(|| killed_after(&url, time));
        committed += acknowledged.len();
        let began = Instant::now();
        let store = Store::open(&url).await.unwrap();
        let opening = began.elapsed();
        assert!(opening < Duration::from_secs(1), "opened in {opening:?} after cycle {cycle}");
        check(&store, &acknowledged).await;
    }
    assert!(committed > 0, "nothing was ever acknowledged");
}
