//! What a caller's work leaves in the audit.

use std::sync::Arc;

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use sandkeep_engine::{
    Actor, Audit, AuditEvent, AuditLog, Create, Depth, ErrorKind, If, KeyId, Limits, Links,
    NewSnapshot, OpenOptions, Outcome, Page, Parents, Recorder, Retention, Role, Sandbox,
    SandboxPath, SnapshotId, Span, Step, Store, Target, Workspace, WriteMode,
};
use storage::{MemoryStorage, Refs as _, Storage};

use super::{all, demo};
use crate::contents::{at, replacing, sandbox};
use crate::fixture::refusal;

struct Trial {
    storage: Arc<MemoryStorage>,
    audit: Audit,
    sandbox: Arc<Sandbox>,
}

impl Trial {
    async fn new() -> Self {
        let storage = Arc::new(MemoryStorage::default());
        let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
        let files = store.create(&sandbox("demo"), Limits::default()).await.unwrap();
        let root = SandboxPath::root();
        let sandbox = Sandbox {
            id: sandbox("demo"),
            files: Arc::new(files),
            prefix: root.clone(),
            home: root,
            is_system: false,
        };
        let audit = Audit::new(Some(&store), None, Retention::default());
        Self { storage, audit, sandbox: Arc::new(sandbox) }
    }

    fn workspace(&self, role: Role) -> Workspace {
        let by = Some(Actor::Key(KeyId::parse("abcdefghij01").unwrap()));
        let recorder = Recorder::new(self.audit.clone(), by, Some("r-1".into()));
        Workspace::new(Arc::clone(&self.sandbox), role, None).recorded(recorder)
    }

    async fn events(&self) -> Vec<AuditEvent> {
        let events = all(&self.audit, &demo()).await;
        for event in &events {
            assert_eq!(event.sandbox, Some(sandbox("demo")));
            assert_eq!(event.by.unwrap().as_str(), "abcdefghij01");
            assert_eq!(event.request.as_deref(), Some("r-1"));
        }
        events
    }

    /// Each event in one line.
    async fn lines(&self) -> Vec<String> {
        let line = |event: &AuditEvent| {
            let path = event.path.as_ref().unwrap();
            let from = event.from.as_ref().map(|from| format!(" from {from}"));
            let AuditEvent { operation, outcome, .. } = event;
            format!("{operation} {path}{} {}", from.unwrap_or_default(), outcome.word())
        };
        self.events().await.iter().map(line).collect()
    }
}

fn body(text: &'static str) -> sandkeep_engine::ByteStream {
    stream::iter([Ok(Bytes::from_static(text.as_bytes()))]).boxed()
}

#[tokio::test]
async fn every_change_is_written_down_with_how_it_ended() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let written = work.write(&at("/a"), body("1234"), replacing()).await.unwrap();
    work.create_dir(&at("/d"), Parents::Require).await.unwrap();
    assert_eq!(
        refusal(work.create_dir(&at("/d"), Parents::Require)).await,
        ErrorKind::AlreadyExists
    );
    work.symlink(&at("/l"), "a").await.unwrap();
    work.rename(&at("/a"), &at("/b"), Target::New).await.unwrap();
    work.copy(&at("/b"), &at("/c"), Target::New).await.unwrap();
    work.open(&at("/c"), OpenOptions::Write(Create::Never)).await.unwrap();
    work.truncate(&at("/c"), 2).await.unwrap();
    work.remove(&at("/d"), Depth::All, If::Always).await.unwrap();
    work.batch(vec![]).await.unwrap();
    let expected = [
        "write /a ok",
        "create_dir /d ok",
        "create_dir /d already_exists",
        "symlink /l ok",
        "rename /b from /a ok",
        "copy /c from /b ok",
        "open /c ok",
        "truncate /c ok",
        "remove /d ok",
        "batch / ok",
    ];
    assert_eq!(trial.lines().await, expected);
    let events = trial.events().await;
    assert_eq!((events[0].bytes, &events[0].version), (Some(4), &written.entry.version));
    assert!(events[0].version.is_some() && events[4].version.is_some());
}

#[tokio::test]
async fn who_only_looks_leaves_nothing_behind_unless_he_tried_what_he_may_not() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    trial.sandbox.files.symlink(&at("/out"), "../../etc/passwd").await.unwrap();
    work.stat(&SandboxPath::root(), Links::Follow).await.unwrap();
    drop(work.list(&SandboxPath::root(), Page::default()).await.unwrap());
    work.usage().await.unwrap();
    assert_eq!(refusal(work.stat(&at("/x"), Links::Follow)).await, ErrorKind::NotFound);
    assert_eq!(trial.lines().await, [""; 0]);
    let read = work.read(&at("/out"), Span::Whole).await.map(drop);
    assert_eq!(read.unwrap_err().kind(), ErrorKind::OutsideSandbox);
    assert_eq!(trial.lines().await, ["read /out refused"]);
}

#[tokio::test]
async fn who_has_too_small_a_role_is_written_down_once() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Viewer);
    let (path, content) = (at("/a"), body("1"));
    let refused = work.write(&path, content, replacing());
    assert_eq!(refusal(refused).await, ErrorKind::Forbidden);
    let events = trial.events().await;
    assert_eq!(events.len(), 1);
    let reason = "the role viewer may not write";
    assert_eq!(events[0].outcome, Outcome::Refused(reason.into()));
    assert_eq!((&*events[0].operation, events[0].path.clone()), ("write", Some(at("/a"))));
}

#[tokio::test]
async fn who_goes_away_before_his_change_ends_is_written_down_too() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let endless = stream::iter([Ok(Bytes::from_static(b"1"))]).chain(stream::pending()).boxed();
    let path = at("/a");
    let mut writing = Box::pin(work.write(&path, endless, replacing()));
    assert!(writing.as_mut().now_or_never().is_none());
    drop(writing);
    assert_eq!(trial.lines().await, ["write /a abandoned"]);
}

#[tokio::test]
async fn nothing_that_files_hold_is_written_down() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Owner);
    work.write(&at("/a"), body("what nobody else may read"), replacing()).await.unwrap();
    work.symlink(&at("/l"), "where it leads").await.unwrap();
    trial.audit.flush().await.unwrap();
    let refs = trial.storage.list_refs("audit/", None, 100).await.unwrap();
    assert!(!refs.is_empty());
    for (_, stored) in refs {
        let text = String::from_utf8_lossy(&stored.value).into_owned();
        assert!(!text.contains("nobody") && !text.contains("leads"), "{text}");
    }
}

#[tokio::test]
async fn work_that_is_not_recorded_leaves_nothing_behind() {
    let trial = Trial::new().await;
    let work = Workspace::new(Arc::clone(&trial.sandbox), Role::Owner, None);
    work.write(&at("/a"), body("1"), replacing()).await.unwrap();
    assert_eq!(all(&trial.audit, &demo()).await, []);
    assert_eq!(all(&trial.audit, &AuditLog::Server).await, []);
}

fn written(path: &str, content: &'static str) -> Step {
    Step::Write {
        file: at(path),
        content: Bytes::from_static(content.as_bytes()),
        mode: WriteMode::Replace,
        parents: Parents::Create,
        expected: If::Always,
    }
}

#[tokio::test]
async fn a_batch_names_each_of_its_steps_and_how_many_there_were() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let check = Step::Check { path: at("/a"), expected: If::Exists };
    let moved = Step::Rename { from: at("/a"), to: at("/b"), target: Target::New };
    let left = work.batch(vec![written("/a", "123"), check, moved]).await.unwrap();
    assert_eq!(trial.lines().await, ["write /a ok", "rename /b from /a ok", "batch / ok"]);
    let events = trial.events().await;
    assert_eq!((events[0].bytes, events[2].bytes, events[2].count), (Some(3), Some(3), Some(3)));
    assert_eq!(events[1].version, left[2].as_ref().unwrap().version);
}

#[tokio::test]
async fn a_batch_that_failed_names_the_path_that_it_failed_at() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let gone = Step::Remove { path: at("/x"), depth: Depth::All, expected: If::Always };
    work.batch(vec![written("/a", "123"), gone]).await.unwrap_err();
    assert_eq!(trial.lines().await, ["batch /x not_found"]);
}

#[tokio::test]
async fn of_a_long_batch_the_first_steps_are_named_and_all_are_counted() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let steps = (0..1000).map(|number| written(&format!("/{number}"), "x")).collect();
    work.batch(steps).await.unwrap();
    let events = trial.events().await;
    assert_eq!((events.len(), events[256].count), (257, Some(1000)));
    assert_eq!((events[255].path.clone(), events[256].bytes), (Some(at("/255")), Some(1000)));
}

#[tokio::test]
async fn a_snapshot_is_named_whatever_is_done_with_it() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Developer);
    let made = work.snapshot(NewSnapshot::default()).await.unwrap().id;
    work.restore(&made, &SandboxPath::root()).await.unwrap();
    work.delete_snapshot(&made).await.unwrap();
    work.restore(&SnapshotId::parse("gone").unwrap(), &at("/a")).await.unwrap_err();
    let events = trial.events().await;
    let subjects: Vec<_> = events.iter().map(|event| event.subject.as_deref().unwrap()).collect();
    assert_eq!(subjects, [made.as_str(), made.as_str(), made.as_str(), "gone"]);
}

#[tokio::test(start_paused = true)]
async fn who_asks_in_vain_without_end_is_counted_and_fills_no_log() {
    let trial = Trial::new().await;
    let work = trial.workspace(Role::Viewer);
    for _ in 0..1000 {
        work.remove(&at("/a"), Depth::All, If::Always).await.unwrap_err();
    }
    assert_eq!(trial.events().await.len(), 256);
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    let events = all(&trial.audit, &demo()).await;
    let last = events.last().unwrap();
    assert_eq!((events.len(), &*last.operation, last.count), (257, "refusals", Some(744)));
    assert_eq!((last.outcome.word(), last.by.unwrap().as_str()), ("refused", "abcdefghij01"));
    // Then he is named again.
    work.remove(&at("/a"), Depth::All, If::Always).await.unwrap_err();
    assert_eq!(all(&trial.audit, &demo()).await.len(), 258);
}
