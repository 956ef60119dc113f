//! The file commands, run on a server or in a directory.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::site::{Server, Site, TOKEN};

/// A site and the flags that reach its sandbox, one way or the other.
pub(crate) struct Reach {
    pub(crate) site: Site,
    pub(crate) flags: Vec<String>,
    _server: Option<Server>,
}

impl Reach {
    pub(crate) fn on_a_server() -> Self {
        let site = Site::new();
        let server = site.serve(&[]);
        let flags = ["--endpoint", server.url(), "--token", TOKEN].map(str::to_owned).into();
        Self { site, flags, _server: Some(server) }
    }

    pub(crate) fn in_a_directory() -> Self {
        let site = Site::new();
        let flags = vec!["--dir".into(), site.path("sandbox").to_str().unwrap().into()];
        Self { site, flags, _server: None }
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

    pub(crate) fn put(&self, name: &str, content: &str) {
        let path = self.site.inner(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.site.inner(name)).unwrap()
    }
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Each promise as two tests: on a server, and in a directory.
macro_rules! both_ways {
    ($($promise:ident)*) => {
        mod on_a_server {
            $(#[test] fn $promise() { super::$promise(&crate::reach::Reach::on_a_server()); })*
        }
        mod in_a_directory {
            $(#[test] fn $promise() { super::$promise(&crate::reach::Reach::in_a_directory()); })*
        }
    };
}
pub(crate) use both_ways;
