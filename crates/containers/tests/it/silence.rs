//! A container whose file system never answers holds up whoever asks for it, and nobody else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use engine::{FileSystem as _, Links};
use servers::containers_are_left_out;

use crate::fixture::{path, process, read};

const PROGRAM: &str = include_str!("silent_fuse.py");
/// After so long the file system goes away, so that a test that hangs fails.
const MOST: Duration = Duration::from_secs(10);

/// A process with a file system of its own.
struct Silent {
    child: Child,
    said: BufReader<ChildStdout>,
    _base: tempfile::TempDir,
}

impl Silent {
    fn start() -> Self {
        let base = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).arg(base.path());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut started = Self { child, said, _base: base };
        started.hear("ready\n");
        started
    }

    fn fall_silent(&mut self, how: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{how}").unwrap();
        self.hear("silent\n");
    }

    fn hear(&mut self, word: &str) {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert_eq!(line, word);
    }

    /// How often it was asked for something since it fell silent. It ends.
    fn times_asked(mut self) -> usize {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        rest.lines().filter(|line| *line == "asked").count()
    }

    /// Does something that never comes to its end, and tells how long this thread was held up.
    async fn holds_up(mut self, work: impl Future) -> Duration {
        let pid = self.child.id().to_string();
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_done.recv_timeout(MOST).is_err() {
                Command::new("kill").args(["-9", &pid]).status().unwrap();
            }
        });
        let begun = Instant::now();
        let outcome = tokio::time::timeout(Duration::from_millis(200), work).await;
        let took = begun.elapsed();
        assert!(outcome.is_err() || took > MOST, "it was answered");
        done.send(()).ok();
        watchdog.join().unwrap();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        took
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[tokio::test]
async fn a_root_that_never_answers_holds_up_nobody_else() {
    if containers_are_left_out() {
        return;
    }
    let mut silent = Silent::start();
    let files = process(silent.child.id(), "/");
    assert_eq!(read(&files, "/file").await.unwrap(), "x");
    silent.fall_silent("move");
    let took = silent.holds_up(read(&files, "/file")).await;
    assert!(took < MOST / 2, "everybody waited for {took:?}");
}

#[tokio::test]
async fn a_mount_that_never_answers_holds_up_nobody_else() {
    if containers_are_left_out() {
        return;
    }
    let mut silent = Silent::start();
    let files = process(silent.child.id(), "/");
    assert_eq!(read(&files, "/file").await.unwrap(), "x");
    silent.fall_silent("stay");
    let at = path("/mnt");
    let took = silent.holds_up(files.stat(&at, Links::Follow)).await;
    assert!(took < MOST / 2, "everybody waited for {took:?}");
}

#[tokio::test]
async fn a_root_that_never_answers_holds_one_thread_however_often_it_is_asked_for() {
    if containers_are_left_out() {
        return;
    }
    let mut silent = Silent::start();
    let files = process(silent.child.id(), "/");
    assert_eq!(read(&files, "/file").await.unwrap(), "x");
    silent.fall_silent("move");
    for _ in 0..10 {
        let look = tokio::time::timeout(Duration::from_millis(50), read(&files, "/file"));
        assert!(look.await.is_err(), "it was answered");
    }
    let asked = silent.times_asked();
    assert!(asked <= 2, "it was asked {asked} times, and each holds a thread");
}
