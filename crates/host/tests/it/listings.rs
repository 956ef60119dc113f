//! The names of a directory in order, however many there are.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use host::{InOrder, Listing};

use crate::{Staged, World};

/// Names so long that so many do not fit into memory at once.
const MANY: usize = 30_000;

fn long_name(nth: usize) -> OsString {
    // In no order.
    format!("{:0>200}", nth * 7919 % MANY).into()
}

fn fill(world: &World) -> BTreeSet<OsString> {
    let dir = world.root.join("dir");
    fs::create_dir(&dir).unwrap();
    let names: BTreeSet<_> = (0..MANY).map(long_name).collect();
    assert_eq!(names.len(), MANY);
    names.iter().for_each(|name| drop(fs::File::create(dir.join(name)).unwrap()));
    names
}

fn open(world: &World, after: Option<&OsStr>, most: usize) -> (Listing, InOrder) {
    let listing = world.dir.list(Path::new("dir")).unwrap();
    let names = world.dir.in_order(&listing, after, most).unwrap();
    (listing, names)
}

fn rest((listing, mut names): (Listing, InOrder)) -> Vec<OsString> {
    let mut all = Vec::new();
    while let Some(name) = names.next(&listing).unwrap() {
        all.push(name.to_owned());
    }
    assert_eq!(names.next(&listing).unwrap(), None, "went on behind its end");
    all
}

fn all_that_is_written_aside() -> u64 {
    let open = fs::read_dir("/proc/self/fd").unwrap().map(|fd| fd.unwrap().path());
    let aside = open.filter(|fd| {
        fs::read_link(fd)
            .is_ok_and(|file| file.to_string_lossy().contains("staging/.sandkeep-tmp-"))
    });
    aside
        .filter_map(|fd| fs::metadata(fd).ok())
        .filter(fs::Metadata::is_file)
        .map(|it| it.len())
        .sum()
}

#[test]
fn all_names_come_in_order_after_one_look() {
    let world = World::new(Staged::Outside);
    let names = fill(&world);
    let (listing, mut before) = open(&world, None, usize::MAX);
    assert!(all_that_is_written_aside() > 200 * MANY as u64, "nothing was written aside");
    let first = before.next(&listing).unwrap().unwrap().to_owned();
    // Known since the look, so that nothing of it is read again.
    fs::remove_dir_all(world.root.join("dir")).unwrap();
    let mut all = vec![first];
    all.extend(rest((listing, before)));
    assert!(all.iter().eq(&names));
    assert_eq!(all_that_is_written_aside(), 0);
    assert_eq!(fs::read_dir(&world.staging).unwrap().count(), 1);
}

#[test]
fn names_begin_where_the_caller_was() {
    let world = World::new(Staged::Outside);
    let names = fill(&world);
    for nth in [0, 1, MANY / 2, MANY - 1] {
        let after = names.iter().nth(nth).unwrap();
        let behind = rest(open(&world, Some(after), usize::MAX));
        assert!(behind.iter().eq(names.iter().skip(nth + 1)), "after {nth}");
    }
}

#[test]
fn without_a_place_for_a_file_the_directory_is_read_again() {
    let world = World::new(Staged::Beside);
    let names = fill(&world);
    assert!(rest(open(&world, None, usize::MAX)).iter().eq(&names));

    let world = World::new(Staged::Outside);
    let names = fill(&world);
    fs::remove_dir_all(&world.staging).unwrap();
    assert!(rest(open(&world, None, usize::MAX)).iter().eq(&names));
    assert_eq!(all_that_is_written_aside(), 0);
}

#[test]
fn whoever_wants_few_names_may_still_have_all() {
    let world = World::new(Staged::Outside);
    let names = fill(&world);
    let few = open(&world, None, 100);
    assert_eq!(all_that_is_written_aside(), 0);
    let (listing, mut few) = few;
    for name in names.iter().take(1000) {
        assert_eq!(few.next(&listing).unwrap(), Some(name.as_os_str()));
    }
}

#[test]
fn no_room_for_a_file_is_no_reason_to_fail() {
    let world = World::new(Staged::Outside);
    let names = fill(&world);
    // So many that not all of them have room for a file.
    let all: Vec<_> = (0..60).map(|_| open(&world, None, usize::MAX)).collect();
    let aside = all_that_is_written_aside();
    assert!((200 << 20..=256 << 20).contains(&aside), "{aside} bytes are aside");
    for one in all {
        assert!(rest(one).iter().eq(&names));
    }
    assert_eq!(all_that_is_written_aside(), 0);
}
