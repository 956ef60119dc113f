//! The file commands, run on a server, in a directory or in a store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::site::{Server, Site, TOKEN};

/// A site and the flags that reach its sandbox, one way or another.
pub(crate) struct Reach {
    pub(crate) site: Site,
    pub(crate) flags: Vec<String>,
    kept: Kept,
    _server: Option<Server>,
}

/// How the files of the sandbox are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// As files of this machine, which a test may touch.
    OnHost,
    /// In a store, which only the commands reach.
    InStore,
}

impl Reach {
    pub(crate) fn on_a_server() -> Self {
        let site = Site::new();
        let server = site.serve(&[]);
        let flags = ["--endpoint", server.url(), "--token", TOKEN].map(str::to_owned).into();
        Self { site, flags, kept: Kept::OnHost, _server: Some(server) }
    }

    pub(crate) fn in_a_directory() -> Self {
        let site = Site::new();
        let flags = vec!["--dir".into(), site.path("sandbox").to_str().unwrap().into()];
        Self { site, flags, kept: Kept::OnHost, _server: None }
    }

    pub(crate) fn in_a_store() -> Self {
        let site = Site::new();
        let url = site.store();
        site.run(&["sandbox", "create", "--store", &url]).success();
        Self { site, flags: vec!["--store".into(), url], kept: Kept::InStore, _server: None }
    }

    /// In a sandbox of a server that is not the one it was started with.
    pub(crate) fn in_a_sandbox_of_a_server() -> Self {
        let site = Site::new();
        let server = site.serve_store("memory:", &[]);
        let flags = ["--endpoint", server.url(), "--token", TOKEN].map(str::to_owned);
        let [endpoint, url, flag, token] = &flags;
        site.run(&["sandbox", "create", "alice", endpoint, url, flag, token]).success();
        let flags = [&flags[..], &["--sandbox".into(), "alice".into()]].concat();
        Self { site, flags, kept: Kept::InStore, _server: Some(server) }
    }

    /// Runs a file command with something on stdin.
    pub(crate) fn fed(&self, words: &[&str], stdin: &[u8]) -> Output {
        let mut command = self.site.sandkeep();
        command.arg("fs").args(&self.flags).args(words);
        let mut command = assert_cmd::Command::from_std(command);
        command.write_stdin(stdin).output().unwrap()
    }

    /// Runs a file command.
    pub(crate) fn fs(&self, words: &[&str]) -> Output {
        self.fed(words, b"")
    }

    /// What a file command that succeeds prints.
    pub(crate) fn said(&self, words: &[&str]) -> String {
        let output = self.fs(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The JSON that a file command prints.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let said = self.said(&[&["--json"], words].concat());
        serde_json::from_str(&said).unwrap_or_else(|err| panic!("{err}: {said}"))
    }

    /// The exit code and the complaint of a command that fails.
    pub(crate) fn fails(&self, words: &[&str]) -> (i32, String) {
        let output = self.fs(words);
        assert!(output.stdout.is_empty(), "{words:?} prints and fails");
        (output.status.code().unwrap(), errors(&output))
    }

    /// Puts a file into the sandbox.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        if self.kept == Kept::InStore {
            let output = self.fed(&["write", name], content.as_ref());
            assert!(output.status.success(), "{}", errors(&output));
            return;
        }
        let path = self.site.inner(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a file of the sandbox holds.
    pub(crate) fn content(&self, name: &str) -> String {
        match self.kept {
            Kept::OnHost => fs::read_to_string(self.site.inner(name)).unwrap(),
            Kept::InStore => self.said(&["read", name]),
        }
    }

    /// Whether the sandbox holds something of this name.
    pub(crate) fn holds(&self, name: &str) -> bool {
        match self.kept {
            Kept::OnHost => self.site.inner(name).exists(),
            Kept::InStore => self.fs(&["stat", name]).status.success(),
        }
    }

    /// The permissions of a file of the sandbox.
    pub(crate) fn mode(&self, name: &str) -> u32 {
        match self.kept {
            Kept::OnHost => {
                fs::metadata(self.site.inner(name)).unwrap().permissions().mode() & 0o777
            }
            Kept::InStore => {
                let mode = self.json(&["stat", name])["mode"].as_str().unwrap().to_owned();
                u32::from_str_radix(&mode, 8).unwrap()
            }
        }
    }

    /// The version of a file that has aged: one of the host's that changed within the clock's last
    /// tick has none to trust.
    pub(crate) fn settled_version(&self, name: &str) -> String {
        if self.kept == Kept::OnHost {
            let modified = fs::metadata(self.site.inner(name)).unwrap().modified().unwrap();
            while modified.elapsed().unwrap_or_default() < Duration::from_millis(100) {
                thread::yield_now();
            }
        }
        self.json(&["stat", name])["version"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Each promise as four tests: on a server, in one of its sandboxes, in a directory and in a store.
/// Those that need files of the host are left out where a store keeps them.
macro_rules! every_way {
    ($($promise:ident)* ; with_host_files: $($host:ident)*) => {
        mod on_a_server {
            $(#[test] fn $promise() { super::$promise(&crate::reach::Reach::on_a_server()); })*
            $(#[test] fn $host() { super::$host(&crate::reach::Reach::on_a_server()); })*
        }
        mod in_a_sandbox_of_a_server {
            $(#[test] fn $promise() {
                super::$promise(&crate::reach::Reach::in_a_sandbox_of_a_server());
            })*
        }
        mod in_a_directory {
            $(#[test] fn $promise() { super::$promise(&crate::reach::Reach::in_a_directory()); })*
            $(#[test] fn $host() { super::$host(&crate::reach::Reach::in_a_directory()); })*
        }
        mod in_a_store {
            $(#[test] fn $promise() { super::$promise(&crate::reach::Reach::in_a_store()); })*
        }
    };
}
pub(crate) use every_way;
