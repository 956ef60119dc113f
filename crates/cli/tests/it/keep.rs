//! A store with a sandbox, and the commands that work on it without a server.

use std::process::Output;

use serde_json::Value;

use crate::reach::errors;
use crate::site::Site;

/// A site with a sandbox in a store, and the commands that work on it.
pub(crate) struct Keep {
    pub(crate) site: Site,
    pub(crate) url: String,
}

impl Keep {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same, with flags for the sandbox.
    pub(crate) fn with(flags: &[&str]) -> Self {
        let site = Site::new();
        let url = site.store();
        site.run(&[&["sandbox", "create", "--store", &url], flags].concat()).success();
        Self { site, url }
    }

    pub(crate) fn run(&self, words: &[&str], stdin: &[u8]) -> Output {
        let mut command = self.site.sandkeep();
        command.args(words).args(["--store", &self.url]);
        assert_cmd::Command::from_std(command).write_stdin(stdin).output().unwrap()
    }

    /// What a command that succeeds prints.
    pub(crate) fn said(&self, words: &[&str]) -> String {
        let output = self.run(words, b"");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let said = self.said(&[words, &["--json"]].concat());
        serde_json::from_str(&said).unwrap_or_else(|err| panic!("{err}: {said}"))
    }

    /// The exit code and the complaint of a command that fails.
    pub(crate) fn fails(&self, words: &[&str]) -> (i32, String) {
        let output = self.run(words, b"");
        assert!(output.stdout.is_empty(), "{words:?} prints and fails");
        (output.status.code().unwrap(), errors(&output))
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        self.said(&["fs", "write", path, "--content", content]);
    }

    pub(crate) fn content(&self, path: &str) -> String {
        self.said(&["fs", "read", path])
    }

    pub(crate) fn names(&self, words: &[&str]) -> Vec<String> {
        let list = self.json(&[&["snapshot", "list"], words].concat());
        list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().into()).collect()
    }
}
