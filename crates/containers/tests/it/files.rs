//! Files in a container of podman, seen from both sides.

use std::sync::Arc;

use engine::{
    Depth, Edit, EditLimits, ErrorKind, ExpectedCount, FileSystem as _, Finding, If, Letters,
    Links, NewSnapshot, NoticeKind, Parents, Pattern, Replacement, SearchQuery, Store, Syntax,
    Target, Watch,
};
use futures::{StreamExt as _, TryStreamExt as _};
use servers::{Engine, containers_are_left_out};

use crate::fixture::{container, kind, names, path, read, soon, write};

#[tokio::test(flavor = "multi_thread")]
async fn what_either_side_writes_the_other_reads() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/workspace/from-outside", "hello").await.unwrap();
    assert_eq!(inside.exec("cat /workspace/from-outside"), "hello");
    inside.exec("printf back > /workspace/from-inside");
    assert_eq!(read(&files, "/workspace/from-inside").await.unwrap(), "back");
    write(&files, "/workspace/from-inside", "changed").await.unwrap();
    assert_eq!(inside.exec("cat /workspace/from-inside"), "changed");
    assert_eq!(names(&files, "/workspace").await.unwrap(), ["from-inside", "from-outside"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_files_can_be_done_with_is_done_inside() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    files.create_dir(&path("/workspace/a/b"), Parents::Create).await.unwrap();
    write(&files, "/workspace/a/b/one", "first line\nsecond line\n").await.unwrap();
    let (from, to) = (path("/workspace/a/b/one"), path("/workspace/two"));
    files.rename(&from, &to, Target::New).await.unwrap();
    assert_eq!(inside.exec("ls /workspace/a/b; cat /workspace/two"), "first line\nsecond line\n");
    files.copy(&path("/workspace/two"), &path("/workspace/three"), Target::New).await.unwrap();
    inside.exec("sed -i s/first/1st/ /workspace/three");
    assert!(read(&files, "/workspace/three").await.unwrap().starts_with("1st"));
    let found = search(&files, "second").await;
    assert_eq!(found, ["/workspace/three", "/workspace/two"]);
    files.remove(&path("/workspace/a"), Depth::All, If::Always).await.unwrap();
    assert_eq!(inside.exec("ls /workspace"), "three\ntwo\n");
    // What the image brought, and the container's own layer does not hold.
    files.remove(&path("/bin/awk"), Depth::One, If::Always).await.unwrap();
    assert_eq!(inside.exec("ls /bin/awk 2>&1 || echo gone").lines().last(), Some("gone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_edited_in_place() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files: Arc<dyn engine::FileSystem> =
        Arc::new(container(&engine.socket(), inside.name(), "/workspace"));
    inside.exec("printf 'one two three' > /workspace/text");
    let replacement =
        Replacement { old: "two".into(), new: "2".into(), count: ExpectedCount::Exactly(1) };
    let wish = Edit {
        replacements: vec![replacement],
        dry_run: false,
        expected: If::Always,
        encoding: None,
        limits: EditLimits::default(),
    };
    engine::edit(&*files, &path("/text"), wish).await.unwrap();
    assert_eq!(inside.exec("cat /workspace/text"), "one 2 three");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absolute_link_means_what_it_means_in_the_container() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.exec("echo ours > /etc/x; ln -s /etc/x /workspace/link; ln -s /workspace /tmp/dir");
    let files = container(&engine.socket(), inside.name(), "/");
    assert_eq!(read(&files, "/workspace/link").await.unwrap(), "ours\n");
    write(&files, "/workspace/link", "written\n").await.unwrap();
    assert_eq!(inside.exec("cat /etc/x"), "written\n");
    write(&files, "/tmp/dir/new", "new").await.unwrap();
    assert_eq!(inside.exec("cat /workspace/new"), "new");
    // Beneath a part of the container, what is absolute leads out, as everywhere.
    let part = container(&engine.socket(), inside.name(), "/workspace");
    assert_eq!(kind(read(&part, "/link").await), ErrorKind::OutsideSandbox);
    assert_eq!(read(&part, "/new").await.unwrap(), "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_inside_is_told_to_whoever_watches() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/workspace");
    let wish = Watch { recursive: true, after: None };
    let mut notices = files.watch(&path("/"), wish).await.unwrap();
    inside.exec("mkdir /workspace/dir; sleep 1; echo x > /workspace/dir/file");
    soon(async {
        loop {
            let notice = notices.next().await.unwrap().unwrap();
            if matches!(notice.kind, NoticeKind::Created { path: at, .. } if at == path("/dir/file")) {
                return;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_a_container_is_kept_and_compared_and_not_brought_back() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.exec("mkdir /workspace/d; echo one > /workspace/d/file");
    let files = with_snapshots(&engine, inside.name());
    let snapshots = files.snapshots().unwrap();
    let taken = snapshots.create(NewSnapshot::default()).await.unwrap();
    inside.exec("echo two > /workspace/d/file");
    let kept = snapshots.open(&taken.id).await.unwrap();
    assert_eq!(read(&*kept, "/d/file").await.unwrap(), "one\n");
    let (from, to) = (engine::Point::Snapshot(taken.id.clone()), engine::Point::Live);
    let different: Vec<_> = snapshots.diff(from, to).await.unwrap().try_collect().await.unwrap();
    assert_eq!(different.len(), 1);
    // Nothing of ours may lie where a container's file system could take it over at once.
    let back = snapshots.restore(&taken.id, &path("/")).await;
    assert_eq!(kind(back), ErrorKind::Unsupported);
    assert_eq!(inside.exec("cat /workspace/d/file"), "two\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_files_belong_to_whom_their_directory_belongs() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.exec("mkdir /workspace/of-7; chown 7:8 /workspace/of-7");
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/workspace/of-7/deep/file", "x").await.unwrap();
    let owners = inside.exec("stat -c %u:%g /workspace/of-7/deep /workspace/of-7/deep/file");
    assert_eq!(owners, "7:8\n7:8\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_unfinished_is_left_inside() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    for round in 0..20 {
        write(&files, "/workspace/file", &format!("{round}")).await.unwrap();
    }
    files.stat(&path("/workspace/file"), Links::Follow).await.unwrap();
    assert_eq!(inside.exec("find / -xdev -name '.sandkeep*'"), "");
}

fn with_snapshots(engine: &Engine, name: &str) -> engine::AttachedFs {
    let target = engine::AttachTarget::Container(engine::ContainerName::parse(name).unwrap());
    let sockets = Arc::new(sandkeep_containers::Sockets::at(&engine.socket()));
    let kept = (Store::in_memory(), engine::SandboxId::parse("kept").unwrap());
    let (at, options) = (path("/workspace"), crate::fixture::OPTIONS);
    engine::AttachedFs::new_with_snapshots(target, at, options, Some(sockets), kept).unwrap()
}

/// The files in which a word is found, beneath the root of the container.
async fn search(files: &engine::AttachedFs, word: &str) -> Vec<String> {
    let (syntax, letters) = (Syntax::Literal, Letters::Exact);
    let pattern = Pattern { text: word.into(), syntax, letters, words: false };
    let query = SearchQuery { content: Some(pattern), ..SearchQuery::default() };
    let findings = engine::search(Arc::new(files.clone()), &path("/"), &query).await.unwrap();
    let findings: Vec<_> = findings.try_collect().await.unwrap();
    let line = |finding: &Finding| match finding {
        Finding::Line(line) => Some(line.path.to_string()),
        Finding::Entry(_) | Finding::End(_) => None,
    };
    findings.iter().filter_map(line).collect()
}
