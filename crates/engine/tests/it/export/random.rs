//! Random trees travel as well as chosen ones.

use proptest::prelude::*;
use sandkeep_engine::{
    Depth, FileSystem as _, If, MetadataChange, Parents, Point, Target, UnixTime, VirtualFs,
};
use tokio::runtime::Runtime;

use super::travel::{at, exported, import, opened, point, seen, snapshot, write, write_at};
use crate::fixture::{memory, noise, stored};

/// Something that is done to a tree; what fails does nothing.
#[derive(Clone, Debug)]
enum Deed {
    Write(String, usize),
    WriteAt(String, u64, usize),
    Resize(String, u64),
    Directory(String),
    Link(String, String),
    Copy(String, String),
    Move(String, String),
    Remove(String),
    Touch(String, u32, i64),
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-d]|x\u{10FE80}", 1..4)
        .prop_map(|names| format!("/{}", names.join("/")))
}

fn len() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), 1_usize..600, Just(512), Just(513), 600_usize..9000, 60_000_usize..400_000]
}

fn deed() -> impl Strategy<Value = Deed> {
    let offset = || prop_oneof![0_u64..2000, 0_u64..500_000];
    prop_oneof![
        4 => (path(), len()).prop_map(|(path, len)| Deed::Write(path, len)),
        3 => (path(), offset(), 1_usize..9000)
            .prop_map(|(path, offset, len)| Deed::WriteAt(path, offset, len)),
        1 => (path(), offset()).prop_map(|(path, len)| Deed::Resize(path, len)),
        2 => path().prop_map(Deed::Directory),
        1 => (path(), "[a-d/.]{1,9}").prop_map(|(path, target)| Deed::Link(path, target)),
        3 => (path(), path()).prop_map(|(from, to)| Deed::Copy(from, to)),
        3 => (path(), path()).prop_map(|(from, to)| Deed::Move(from, to)),
        1 => path().prop_map(Deed::Remove),
        1 => (path(), 0_u32..0o1000, any::<i32>())
            .prop_map(|(path, mode, seconds)| Deed::Touch(path, mode, i64::from(seconds))),
    ]
}

async fn done(files: &VirtualFs, deeds: &[Deed]) {
    for deed in deeds {
        // What fails does nothing, and that is as good a tree as any.
        let outcome = match deed {
            Deed::Write(path, len) => try_write(files, path, *len).await,
            Deed::WriteAt(path, offset, len) => {
                if files
                    .stat(&at(path), sandkeep_engine::Links::Follow)
                    .await
                    .is_ok_and(|entry| is_file(&entry))
                {
                    write_at(files, path, *offset, &noise(*len)).await;
                }
                Ok(())
            }
            Deed::Resize(path, len) => resize(files, path, *len).await,
            Deed::Directory(path) => files.create_dir(&at(path), Parents::Create).await.map(drop),
            Deed::Link(path, target) => files.symlink(&at(path), target).await.map(drop),
            Deed::Copy(from, to) => files.copy(&at(from), &at(to), Target::Replace).await.map(drop),
            Deed::Move(from, to) => {
                files.rename(&at(from), &at(to), Target::Replace).await.map(drop)
            }
            Deed::Remove(path) => files.remove(&at(path), Depth::All, If::Always).await,
            Deed::Touch(path, mode, seconds) => {
                let modified = Some(UnixTime { seconds: *seconds, nanoseconds: 7 });
                let change = MetadataChange { mode: Some(*mode), modified };
                files.set_metadata(&at(path), change).await.map(drop)
            }
        };
        drop(outcome);
    }
}

fn is_file(entry: &sandkeep_engine::Entry) -> bool {
    entry.kind == sandkeep_engine::EntryKind::File
}

async fn try_write(files: &VirtualFs, path: &str, len: usize) -> sandkeep_engine::Result<()> {
    let there = files.stat(&at(path), sandkeep_engine::Links::Follow).await;
    let parent = files.create_dir(&at(path).parent().unwrap(), Parents::Create).await;
    if parent.is_ok()
        && there.map_or_else(
            |err| err.kind() == sandkeep_engine::ErrorKind::NotFound,
            |entry| is_file(&entry),
        )
    {
        let link = files.stat(&at(path), sandkeep_engine::Links::Keep).await;
        if link.map_or(true, |entry| is_file(&entry)) {
            write(files, path, noise(len)).await;
        }
    }
    Ok(())
}

async fn resize(files: &VirtualFs, path: &str, len: u64) -> sandkeep_engine::Result<()> {
    let options = sandkeep_engine::OpenOptions::Write(sandkeep_engine::Create::Never);
    files.open(&at(path), options).await?.set_len(len).await
}

/// From one tree to the other: whole, then what changed.
async fn travels(from: VirtualFs, to: VirtualFs, before: &[Deed], after: &[Deed]) {
    done(&from, before).await;
    snapshot(&from, "base").await;
    import(&to, "base", &exported(&from, point("base"), None).await).await.unwrap();
    assert_eq!(seen(&*opened(&to, "base").await).await, seen(&from).await);
    done(&from, after).await;
    let since = exported(&from, Point::Live, Some("base")).await;
    import(&to, "next", &since).await.unwrap();
    let whole = exported(&from, Point::Live, None).await;
    import(&to, "whole", &whole).await.unwrap();
    assert_eq!(seen(&*opened(&to, "next").await).await, seen(&from).await);
    assert_eq!(seen(&*opened(&to, "whole").await).await, seen(&from).await);
    // What the two ways made is known to be the same state.
    let same = exported(&to, point("next"), Some("whole")).await;
    import(&to, "same", &same).await.unwrap();
    assert_eq!(seen(&*opened(&to, "same").await).await, seen(&from).await);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_tree_travels_from_memory_to_objects(
        before in prop::collection::vec(deed(), 0..25),
        after in prop::collection::vec(deed(), 0..15),
    ) {
        Runtime::new().unwrap().block_on(async {
            travels(memory().await, stored().await, &before, &after).await;
        });
    }

    #[test]
    fn any_tree_travels_from_objects_to_memory(
        before in prop::collection::vec(deed(), 0..25),
        after in prop::collection::vec(deed(), 0..15),
    ) {
        Runtime::new().unwrap().block_on(async {
            travels(stored().await, memory().await, &before, &after).await;
        });
    }
}
