//! Whoever is root in a container tries to lead us out of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::{Depth, FileSystem as _, If, Parents, Target};
use servers::{Engine, containers_are_left_out};

use crate::fixture::{container, names, path, read, write};

const SECRET: &str = "of this machine";

/// How long the racers race.
const RACE: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread")]
async fn no_link_leads_out_of_the_container() {
    if containers_are_left_out() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let canary = outside.path().join("canary");
    std::fs::write(&canary, SECRET).unwrap();
    let at = canary.display();
    let up = "../".repeat(40);
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let targets = [
        format!("{at}"),
        format!("{up}{}", at.to_string().trim_start_matches('/')),
        format!("/proc/1/root{at}"),
        format!("/proc/self/root{at}"),
        format!("/proc/self/cwd/{up}{at}"),
        format!("/proc/1/cwd{at}"),
        format!("/proc/self/fd/0/{up}{at}"),
        "/proc/self/exe".to_owned(),
        format!("/dev/fd/3/..{at}"),
    ];
    let files = container(&engine.socket(), inside.name(), "/");
    for (number, target) in targets.iter().enumerate() {
        inside.exec(&format!("ln -s '{target}' /workspace/link{number}"));
        let link = format!("/workspace/link{number}");
        match read(&files, &link).await {
            Ok(text) => assert_ne!(text, SECRET, "{target}"),
            Err(_refused) => {}
        }
        write(&files, &link, "changed").await.ok();
        files.copy(&path(&link), &path(&format!("/tmp/copy{number}")), Target::New).await.ok();
        files.remove(&path(&format!("{link}/canary")), Depth::All, If::Always).await.ok();
        let parent = target.trim_end_matches("/canary");
        inside.exec(&format!("ln -s '{parent}' /workspace/dir{number}"));
        let dir = format!("/workspace/dir{number}");
        assert_ne!(read(&files, &format!("{dir}/canary")).await.ok().as_deref(), Some(SECRET));
        write(&files, &format!("{dir}/planted"), "x").await.ok();
        files.remove(&path(&dir), Depth::All, If::Always).await.ok();
    }
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), SECRET);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// A racer exchanges a directory for links to everywhere while we read, write, list and remove
/// through it. The canary lies at the same path in the machine and in no container.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_race_leads_out_of_the_container() {
    if containers_are_left_out() {
        return;
    }
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let canary = outside.path().join("canary");
    std::fs::write(&canary, SECRET).unwrap();
    let place = outside.path().to_str().unwrap().to_owned();
    let up = "../".repeat(30);
    let engine = Engine::start();
    let script = format!(
        "cd /workspace; mkdir real; echo mine > real/canary; ln -s {place} absolute; \
         ln -s {up}{rest} upward; ln -s /proc/1/root{place} magic; ln -s / root; \
         while :; do \
           mv -T real spare 2>/dev/null; mv -T absolute real; mv -T real absolute; \
           mv -T upward real; mv -T real upward; mv -T magic real; mv -T real magic; \
           mv -T root real; mv -T real root; mv -T spare real; \
         done",
        rest = place.trim_start_matches('/'),
    );
    let inside = engine.run_script(&[], &script);
    let files = Arc::new(container(&engine.socket(), inside.name(), "/"));
    let (tries, through) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let end = Instant::now() + RACE;
    let racers = (0..4).map(|number| {
        let (files, tries, through) =
            (Arc::clone(&files), Arc::clone(&tries), Arc::clone(&through));
        tokio::spawn(async move {
            while Instant::now() < end {
                tries.fetch_add(1, Ordering::Relaxed);
                if let Ok(text) = read(&*files, "/workspace/real/canary").await {
                    assert_ne!(text, SECRET);
                    through.fetch_add(1, Ordering::Relaxed);
                }
                let planted = format!("/workspace/real/planted{number}");
                write(&*files, &planted, "x").await.ok();
                write(&*files, "/workspace/real/canary", "mine").await.ok();
                let dir = path(&format!("/workspace/real/dir{number}"));
                files.create_dir(&dir, Parents::Require).await.ok();
                names(&*files, "/workspace/real").await.ok();
                let to = path(&format!("/workspace/moved{number}"));
                files.rename(&path(&planted), &to, Target::Replace).await.ok();
                files.remove(&dir, Depth::All, If::Always).await.ok();
            }
        })
    });
    for racer in racers.collect::<Vec<_>>() {
        racer.await.unwrap();
    }
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), SECRET);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "something was planted");
    let (tries, through) = (tries.load(Ordering::Relaxed), through.load(Ordering::Relaxed));
    assert!(tries > 50 && through > 0, "nothing was tried: {tries}, {through}");
    eprintln_figures(tries, through);
}

#[expect(clippy::print_stderr, reason = "figures of an attack are told")]
fn eprintln_figures(tries: u64, through: u64) {
    eprintln!("{tries} rounds, {through} of them read the container's own file, 0 escapes");
}
