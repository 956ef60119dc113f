//! Nothing leads out.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use host::{Error, Links, Parents};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::{Staged, World};

#[test]
fn a_link_to_an_absolute_path_outside_is_refused() {
    let world = World::new(Staged::Outside);
    symlink(world.outside.join("secret"), world.root.join("link")).unwrap();
    assert_eq!(world.read("link"), Err(Error::Outside));
    assert_eq!(world.put("link", "x"), Err(Error::Outside));
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
}

#[test]
fn a_relative_link_that_climbs_out_is_refused() {
    let world = World::new(Staged::Outside);
    symlink("../outside/secret", world.root.join("link")).unwrap();
    assert_eq!(world.read("link"), Err(Error::Outside));
    assert_eq!(world.put("link", "x"), Err(Error::Outside));
}

#[test]
fn a_directory_link_that_leads_out_is_refused_on_the_way() {
    let world = World::new(Staged::Outside);
    symlink("../outside", world.root.join("dir")).unwrap();
    assert_eq!(world.read("dir/secret"), Err(Error::Outside));
    assert_eq!(world.put("dir/new", "x"), Err(Error::Outside));
    assert_eq!(world.dir.list(Path::new("dir")).unwrap_err(), Error::Outside);
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
}

#[test]
fn a_chain_of_links_is_followed_while_it_stays_inside() {
    let world = World::new(Staged::Outside);
    world.put("deep/target", "old").unwrap();
    symlink("deep/../deep/target", world.root.join("one")).unwrap();
    symlink("one", world.root.join("two")).unwrap();
    world.put("two", "new").unwrap();
    assert_eq!(world.read("deep/target").unwrap(), "new");
    assert!(fs::symlink_metadata(world.root.join("two")).unwrap().is_symlink());
}

#[test]
fn writing_to_a_dangling_link_makes_its_target() {
    let world = World::new(Staged::Outside);
    symlink("missing/file", world.root.join("link")).unwrap();
    world.put("link", "x").unwrap();
    assert_eq!(world.read("missing/file").unwrap(), "x");
}

#[test]
fn links_that_lead_to_each_other_end() {
    let world = World::new(Staged::Outside);
    symlink("b", world.root.join("a")).unwrap();
    symlink("a", world.root.join("b")).unwrap();
    assert_eq!(world.put("a", "x"), Err(Error::Os(host::Errno::LOOP)));
}

#[test]
fn a_climbing_path_is_refused_even_if_a_face_let_it_through() {
    let world = World::new(Staged::Outside);
    assert_eq!(world.read("../outside/secret"), Err(Error::Outside));
    assert_eq!(world.read("/etc/hostname"), Err(Error::Outside));
}

#[test]
fn removing_a_link_removes_the_link() {
    let world = World::new(Staged::Outside);
    symlink("../outside", world.root.join("dir")).unwrap();
    world.dir.remove_all(&world.spot("dir")).unwrap();
    assert!(world.outside.join("secret").exists());
    assert!(world.names("").is_empty());
}

#[test]
fn magic_links_of_the_process_are_refused() {
    let world = World::new(Staged::Outside);
    symlink("/proc/self/root/etc/hostname", world.root.join("link")).unwrap();
    assert!(world.read("link").is_err());
}

#[test]
fn a_hard_link_to_the_outside_is_never_written_through() {
    let world = World::new(Staged::Outside);
    fs::hard_link(world.outside.join("secret"), world.root.join("shared")).unwrap();
    world.put("shared", "mine").unwrap();
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
}

#[test]
fn a_removed_root_that_is_made_anew_is_found_again() {
    let world = World::new(Staged::Outside);
    fs::remove_dir(&world.root).unwrap();
    assert_eq!(world.dir.stat(Path::new("x")), Err(Error::Unavailable));
    fs::create_dir(&world.root).unwrap();
    world.put("x", "back").unwrap();
    assert_eq!(world.read("x").unwrap(), "back");
}

#[test]
fn reserved_names_cannot_be_reached() {
    let world = World::new(Staged::Outside);
    let reserved = ".sandkeep-tmp-0123456789abcdef";
    fs::write(world.root.join(reserved), "x").unwrap();
    assert_eq!(world.read(reserved), Err(Error::Reserved));
    assert_eq!(world.put(reserved, "y"), Err(Error::Reserved));
    let spot = world.dir.spot(Path::new(reserved), Links::Keep, Parents::Require);
    assert_eq!(spot.unwrap_err(), Error::Reserved);
    assert!(world.names("").is_empty());
}

#[test]
fn a_link_in_the_place_of_a_removed_root_is_not_followed() {
    let world = World::new(Staged::Outside);
    fs::remove_dir(&world.root).unwrap();
    symlink(&world.outside, &world.root).unwrap();
    assert_eq!(world.read("secret"), Err(Error::Unavailable));
}

#[test]
fn a_link_that_took_the_place_of_a_file_is_not_followed() {
    let world = World::new(Staged::Outside);
    world.put("f", "x").unwrap();
    let spot = world.spot("f");
    fs::remove_file(world.root.join("f")).unwrap();
    symlink("../outside/secret", world.root.join("f")).unwrap();
    assert_eq!(world.dir.open_spot(&spot).unwrap_err(), Error::Special);
    assert_eq!(world.dir.open_spot_to_read(&spot).unwrap_err(), Error::Special);
    assert_eq!(world.dir.set_metadata(&spot, Some(0o777), None), Err(Error::Special));
}

#[test]
fn a_mount_beneath_the_root_is_not_entered() {
    let world = World::new(Staged::Outside);
    let point = world.root.join("mount");
    fs::create_dir(&point).unwrap();
    if mount("tmpfs", &point, "tmpfs", MountFlags::empty(), None).is_err() {
        println!("SKIPPED: this test must be allowed to mount");
        return;
    }
    let written = fs::write(point.join("file"), "x");
    let refused = [world.read("mount/file").map(drop), world.put("mount/new", "x")];
    let listed = world.dir.list(Path::new("mount")).map(drop);
    unmount(&point, UnmountFlags::DETACH).unwrap();
    written.unwrap();
    assert_eq!(refused, [Err(Error::Outside), Err(Error::Outside)]);
    assert_eq!(listed, Err(Error::Outside));
}
