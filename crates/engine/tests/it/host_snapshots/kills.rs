//! A process that restores is killed again and again. The next start leaves the tree as it was
//! before the restore or as it should be after it, and nothing else.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::children::{child, stored};
use super::picture::{Picture, picture};
use super::take;
use crate::fixture::noise;

/// Two states of a tree that differ in every way that a restore knows.
fn plant_one(root: &Path) {
    for number in 0..60 {
        let dir = root.join(format!("dir-{}", number % 6));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("changes-{number}")), format!("one {number}")).unwrap();
        fs::write(dir.join(format!("stays-{number}")), "the same").unwrap();
        fs::write(dir.join(format!("goes-{number}")), "one").unwrap();
    }
    fs::create_dir_all(root.join("becomes-a-file/full/of/directories")).unwrap();
    fs::write(root.join("becomes-a-directory"), "one").unwrap();
    symlink("one", root.join("link")).unwrap();
}

fn plant_two(root: &Path) {
    for number in 0..60 {
        let dir = root.join(format!("dir-{}", number % 6));
        fs::write(dir.join(format!("changes-{number}")), noise(5000 + number)).unwrap();
        fs::remove_file(dir.join(format!("goes-{number}"))).unwrap();
        fs::write(dir.join(format!("comes-{number}")), "two").unwrap();
    }
    fs::remove_dir_all(root.join("becomes-a-file")).unwrap();
    fs::write(root.join("becomes-a-file"), "two").unwrap();
    fs::remove_file(root.join("becomes-a-directory")).unwrap();
    fs::create_dir_all(root.join("becomes-a-directory/with/more")).unwrap();
    fs::remove_file(root.join("link")).unwrap();
    symlink("two", root.join("link")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_restore_is_finished_by_the_next_start_or_never_was() {
    let rounds = if std::env::var("SANDKEEP_LONG").is_ok() { 200 } else { 20 };
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir(&root).unwrap();
    let (one, two) = {
        let files = stored(place.path()).await;
        plant_one(&root);
        take(&files, "one").await.unwrap();
        let one = picture(&root);
        plant_two(&root);
        take(&files, "two").await.unwrap();
        (one, picture(&root))
    };
    let (mut ones, mut finished) = (0, 0);
    for round in 0..rounds {
        finished += u32::from(killed(place.path(), round));
        let files = stored(place.path()).await;
        let found = picture(&root);
        ones += u32::from(found == one);
        assert!(found == one || found == two, "round {round}: {}", told(&found, &one, &two));
        drop(files);
        let left: Vec<_> = fs::read_dir(place.path().join("staging")).unwrap().collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
    eprintln!("kills: {rounds} rounds, {finished} within an exchange, {ones} ended with the first");
}

/// Starts a process, lets it restore for a while and kills it; tells whether it was in the middle
/// of an exchange.
fn killed(place: &Path, round: u64) -> bool {
    let mut process = child("restore for ever", place).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let ready = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("ready")));
    assert!(ready.is_some());
    // Spread over some restores, and never in step with them; or right when one begins to change
    // the tree.
    let scattered = round.wrapping_mul(0x9E37_79B9) >> 3;
    if round.is_multiple_of(2) {
        std::thread::sleep(Duration::from_micros(20_000 + scattered % 180_000));
    } else {
        while !is_exchanging(place) {}
        std::thread::sleep(Duration::from_micros(scattered % 1_000));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    is_exchanging(place)
}

/// Whether a journal lies in the staging directory of any process.
fn is_exchanging(place: &Path) -> bool {
    let beneath = |dir: &Path| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let own = beneath(&place.join("staging"));
    own.iter().flat_map(|dir| beneath(dir)).any(|restore| restore.join("journal").exists())
}

/// What is wrong with a tree.
fn told(found: &Picture, one: &Picture, two: &Picture) -> String {
    let wrong = |wanted: &Picture| {
        let all = found.keys().chain(wanted.keys());
        let wrong: Vec<_> = all.filter(|path| found.get(*path) != wanted.get(*path)).collect();
        format!("{} wrong, such as {:?}", wrong.len(), wrong.first())
    };
    format!("as one: {}; as two: {}", wrong(one), wrong(two))
}
