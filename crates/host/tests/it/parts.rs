//! A view of a part: nothing leads out of it, not even to the rest of the directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use host::{Dir, Error, Existing, Links, Parents};

use crate::races::raced_between;
use crate::{Staged, World, put};

/// A directory with a part in it, and something beside it that only the whole may see.
fn world(staged: Staged) -> (World, Dir) {
    let world = World::new(staged);
    world.put("part/dir/file", "inside").unwrap();
    world.put("private/file", "secret").unwrap();
    world.put("private/canary", "").unwrap();
    let part = world.dir.within(Path::new("part")).unwrap();
    (world, part)
}

fn read(dir: &Dir, path: &str) -> host::Result<String> {
    let (file, stat) = dir.open_file(Path::new(path))?;
    let mut space = vec![0; usize::try_from(stat.size).unwrap()];
    let len = file.read_at(&mut space, 0)?;
    Ok(String::from_utf8(space[..len].to_vec()).unwrap())
}

fn assert_private_is_untouched(world: &World) {
    assert_eq!(world.names("private"), ["canary", "file"], "what is private changed");
    assert_eq!(world.read("private/file").unwrap(), "secret");
}

#[test]
fn a_part_is_reached_by_the_paths_of_the_whole() {
    let (world, part) = world(Staged::Outside);
    assert_eq!(read(&part, "part/dir/file").unwrap(), "inside");
    put(&part, Path::new("part/new/file"), b"new").unwrap();
    assert_eq!(world.read("part/new/file").unwrap(), "new");
}

#[test]
fn what_lies_beside_a_part_is_outside() {
    let (world, part) = world(Staged::Outside);
    symlink("part", world.root.join("party")).unwrap();
    for path in ["private/file", "", "par", "party", "part/../private/file", "part/.."] {
        assert_eq!(part.stat(Path::new(path)).unwrap_err(), Error::Outside, "{path}");
        assert_eq!(part.list(Path::new(path)).unwrap_err(), Error::Outside, "{path}");
    }
    for path in ["private/file", "private", "new", "part/../private/file"] {
        let spot = part.spot(Path::new(path), Links::Follow, Parents::Create);
        assert_eq!(spot.unwrap_err(), Error::Outside, "{path}");
    }
}

#[test]
fn links_that_lead_out_of_a_part_are_refused() {
    let (world, part) = world(Staged::Outside);
    let private = world.root.join("private").to_str().unwrap().to_owned();
    let links = [
        ("sibling", "../private"),
        ("up", ".."),
        ("absolute", &private),
        ("there-and-back", "../part/dir"),
        ("chain", "sibling"),
        ("dir/deep", "../../private"),
    ];
    for (name, target) in links {
        symlink(target, world.root.join("part").join(name)).unwrap();
        let within = |rest: &str| format!("part/{name}{rest}");
        assert_eq!(read(&part, &within("/file")).unwrap_err(), Error::Outside, "{name}");
        assert_eq!(put(&part, Path::new(&within("/file")), b"x"), Err(Error::Outside), "{name}");
        assert_eq!(part.list(Path::new(&within(""))).unwrap_err(), Error::Outside, "{name}");
        assert_eq!(part.begin_tree(Path::new(&within(""))).unwrap_err(), Error::Outside, "{name}");
    }
    assert_private_is_untouched(&world);
}

#[test]
fn links_that_stay_in_a_part_are_followed() {
    let (world, part) = world(Staged::Outside);
    symlink("../dir/file", world.root.join("part/dir/way")).unwrap();
    symlink("dir", world.root.join("part/to-dir")).unwrap();
    assert_eq!(read(&part, "part/dir/way").unwrap(), "inside");
    put(&part, Path::new("part/to-dir/way"), b"changed").unwrap();
    assert_eq!(world.read("part/dir/file").unwrap(), "changed");
}

#[test]
fn no_link_leads_to_a_part() {
    let (world, _) = world(Staged::Outside);
    symlink("private", world.root.join("link")).unwrap();
    fs::create_dir(world.root.join("private/sub")).unwrap();
    for floor in ["link", "link/sub"] {
        let part = world.dir.within(Path::new(floor)).unwrap();
        let file = format!("{floor}/file");
        assert_eq!(read(&part, &file).unwrap_err(), Error::Outside);
        assert_eq!(part.stat(Path::new(floor)).unwrap_err(), Error::Outside);
        assert_eq!(put(&part, Path::new(&file), b"x"), Err(Error::Outside));
        let spot = part.spot(Path::new(floor), Links::Keep, Parents::Create);
        assert_eq!(spot.unwrap_err(), Error::Outside);
    }
}

#[test]
fn a_part_that_is_missing_is_made_by_a_write() {
    let (world, _) = world(Staged::Beside);
    let part = world.dir.within(Path::new("new/part")).unwrap();
    assert!(matches!(read(&part, "new/part/file"), Err(Error::Os(_))));
    put(&part, Path::new("new/part/file"), b"x").unwrap();
    assert_eq!(world.read("new/part/file").unwrap(), "x");
    fs::rename(world.root.join("new"), world.root.join("old")).unwrap();
    assert!(read(&part, "new/part/file").is_err(), "a part is what is at its path");
    put(&part, Path::new("new/part/file"), b"y").unwrap();
    assert_eq!(world.read("old/part/file").unwrap(), "x");
}

#[test]
fn a_part_of_a_part_is_smaller() {
    let (_world, part) = world(Staged::Outside);
    let dir = part.within(Path::new("part/dir")).unwrap();
    assert_eq!(read(&dir, "part/dir/file").unwrap(), "inside");
    assert_eq!(dir.stat(Path::new("part")).unwrap_err(), Error::Outside);
    assert_eq!(dir.within(Path::new("part")).unwrap_err(), Error::Outside);
}

#[test]
fn reads_writes_and_listings_never_leave_a_part() {
    for staged in [Staged::Outside, Staged::Beside] {
        let (world, part) = world(staged);
        symlink("../private", world.root.join("part/other")).unwrap();
        let (dir, other) = (world.root.join("part/dir"), world.root.join("part/other"));
        let (served, tried) = raced_between(&dir, &other, |number| match number % 4 {
            0 => match read(&part, "part/dir/file") {
                Ok(content) => content == "inside" || panic!("{content}"),
                Err(_) => false,
            },
            1 => put(&part, Path::new(&format!("part/dir/{}", number % 8)), b"x").is_ok(),
            2 => put(&part, Path::new(&format!("part/dir/new-{number}/x")), b"x").is_ok(),
            _ => match part.list(Path::new("part/dir")) {
                Ok(listing) => {
                    let names = listing.names(None, usize::MAX).unwrap();
                    assert!(names.iter().all(|name| name != "canary"));
                    true
                }
                Err(_) => false,
            },
        });
        assert!(served >= 10, "only {served} of {tried} attempts were served");
        assert_private_is_untouched(&world);
    }
}

#[test]
fn removals_and_moves_never_leave_a_part() {
    let (world, part) = world(Staged::Outside);
    symlink("../private", world.root.join("part/other")).unwrap();
    let (dir, other) = (world.root.join("part/dir"), world.root.join("part/other"));
    let (served, _) = raced_between(&dir, &other, |number| {
        let spot = |path: &str| part.spot(Path::new(path), Links::Keep, Parents::Require);
        let Ok(from) = spot("part/dir/file") else { return false };
        let kept = format!("part/kept-{number}");
        let to = spot(&kept).unwrap();
        let moved = part.rename(&from, &to, Existing::Replace).is_ok();
        if moved {
            assert_eq!(read(&part, &kept).unwrap(), "inside");
            part.remove_all(&to).unwrap();
        }
        put(&part, Path::new("part/dir/file"), b"inside").is_ok() && moved
    });
    assert!(served > 0);
    assert_private_is_untouched(&world);
}

#[test]
fn a_part_that_is_swapped_for_a_link_leads_nowhere() {
    let (world, part) = world(Staged::Beside);
    fs::create_dir(world.root.join("private/dir")).unwrap();
    fs::write(world.root.join("private/dir/file"), "secret").unwrap();
    symlink("private", world.root.join("swap")).unwrap();
    let (floor, swap) = (world.root.join("part"), world.root.join("swap"));
    let (served, tried) = raced_between(&floor, &swap, |number| match number % 2 {
        0 => match read(&part, "part/dir/file") {
            Ok(content) => content == "inside" || panic!("{content}"),
            Err(_) => false,
        },
        _ => put(&part, Path::new(&format!("part/dir/{}", number % 8)), b"x").is_ok(),
    });
    assert!(served >= 10, "only {served} of {tried} attempts were served");
    assert_eq!(world.names("private/dir"), ["file"]);
}

/// The attacks above are worth something: who is not confined is led out by them.
#[test]
fn the_same_race_leads_those_out_who_see_the_whole() {
    let (world, _) = world(Staged::Outside);
    symlink("../private", world.root.join("part/other")).unwrap();
    let (dir, other) = (world.root.join("part/dir"), world.root.join("part/other"));
    let escapes = AtomicU64::new(0);
    raced_between(&dir, &other, |_| {
        let is_out = world.read("part/dir/file").is_ok_and(|content| content == "secret");
        escapes.fetch_add(u64::from(is_out), Ordering::Relaxed);
        is_out
    });
    assert!(escapes.into_inner() > 0);
}
