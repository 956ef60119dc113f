//! Random trees: what is packed and unpacked is the same tree, whatever the format.

use proptest::prelude::*;
use sandkeep_engine::{ArchiveFormat, FileSystem, MetadataChange, UnixTime};
use tokio::runtime::Runtime;

use super::{host, pack, unpack};
use crate::contents::{Contents, at, contents, write};
use crate::fixture::{memory, noise, stored};

/// Something that is put into a tree.
#[derive(Clone, Debug)]
enum Thing {
    /// So many bytes that repeat, and so many that do not.
    File {
        text: usize,
        noise: usize,
        mode: u32,
        seconds: i64,
    },
    Directory {
        mode: u32,
    },
    Link(String),
}

fn thing() -> impl Strategy<Value = Thing> {
    let len = || prop_oneof![4 => 0..200_usize, 1 => 65_000..66_000_usize, 1 => 0..300_000_usize];
    // The times that every format can tell: until 2038, whole seconds.
    let file = (len(), len(), 0..0o1000_u32, 0..i64::from(i32::MAX));
    prop_oneof![
        6 => file.prop_map(|(text, noise, mode, seconds)| {
            Thing::File { text, noise, mode: mode | 0o600, seconds }
        }),
        2 => (0..0o1000_u32).prop_map(|mode| Thing::Directory { mode: mode | 0o700 }),
        1 => "[a-c]{1,3}(/[a-c]{1,2}){0,2}".prop_map(Thing::Link),
    ]
}

/// Names with everything that a name may hold but a backslash, which zip does not take; one letter
/// stands for a byte that is not UTF-8.
fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]|[a-zß :'\"\n😀\u{10fe80}]{1,12}|[x]{200}", 1..4)
        .prop_map(|names| format!("/{}", names.join("/")))
}

async fn put(files: &dyn FileSystem, path: &str, thing: &Thing) {
    // What is in the way stays.
    if files.stat(&at(path), sandkeep_engine::Links::Keep).await.is_ok() {
        return;
    }
    let parent = at(path).parent().unwrap();
    if files.create_dir(&parent, sandkeep_engine::Parents::Create).await.is_err() {
        return;
    }
    let change = match thing {
        Thing::File { text, noise: rest, mode, seconds } => {
            let bytes = [vec![b'x'; *text], noise(*rest)].concat();
            write(files, path, bytes).await;
            let modified = UnixTime { seconds: *seconds, nanoseconds: 0 };
            MetadataChange { mode: Some(*mode), modified: Some(modified) }
        }
        Thing::Directory { mode } => {
            files.create_dir(&at(path), sandkeep_engine::Parents::Create).await.unwrap();
            MetadataChange { mode: Some(*mode), modified: None }
        }
        Thing::Link(target) => {
            files.symlink(&at(path), target).await.unwrap();
            return;
        }
    };
    files.set_metadata(&at(path), change).await.unwrap();
}

/// What a tree holds, as far as archives tell it: links have no time of their own everywhere.
async fn told(files: &dyn FileSystem) -> Contents {
    let mut contents = contents(files).await;
    for node in contents.values_mut() {
        if node.kind == sandkeep_engine::EntryKind::Symlink {
            node.modified = None;
        }
    }
    contents
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_tree_comes_back(things in prop::collection::vec((path(), thing()), 0..24)) {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let dirs: Vec<_> = (0..5).map(|_| tempfile::tempdir().unwrap()).collect();
            let from_host = host(dirs[4].path());
            let from_memory = memory().await;
            for (path, thing) in &things {
                put(&from_host, path, thing).await;
                put(&from_memory, path, thing).await;
            }
            for (format, dir) in ArchiveFormat::ALL.iter().zip(&dirs) {
                let to_host = host(dir.path());
                unpack(&to_host, *format, pack(&from_memory, *format).await).await.unwrap();
                assert_eq!(told(&to_host).await, told(&from_memory).await, "{format:?} to host");
                let to_store = stored().await;
                unpack(&to_store, *format, pack(&from_host, *format).await).await.unwrap();
                assert_eq!(told(&to_store).await, told(&from_host).await, "{format:?} to store");
            }
        });
    }
}
