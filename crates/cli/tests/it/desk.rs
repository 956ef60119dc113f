//! A server of many sandboxes, and the commands that speak to it.

use std::process::Output;

use serde_json::Value;

use crate::reach::errors;
use crate::site::{Server, Site, TOKEN};

/// A site with a server of a store.
pub(crate) struct Desk {
    pub(crate) site: Site,
    pub(crate) server: Server,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same, with flags for the server.
    pub(crate) fn with(flags: &[&str]) -> Self {
        let site = Site::new();
        let server = site.serve_store("memory:", flags);
        Self { site, server }
    }

    /// Runs a command as whoever has this token or key.
    pub(crate) fn run_as(&self, token: &str, words: &[&str]) -> Output {
        let mut command = self.site.sandkeep();
        command.args(words).args(["--endpoint", self.server.url(), "--token", token]);
        command.output().unwrap()
    }

    /// What a command that succeeds prints.
    pub(crate) fn said(&self, words: &[&str]) -> String {
        let output = self.run_as(TOKEN, words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let said = self.said(&[words, &["--json"]].concat());
        serde_json::from_str(&said).unwrap_or_else(|err| panic!("{err}: {said}"))
    }

    /// The exit code and the complaint of a command that fails.
    pub(crate) fn fails(&self, words: &[&str]) -> (i32, String) {
        self.fails_as(TOKEN, words)
    }

    /// The same for whoever has this token or key.
    pub(crate) fn fails_as(&self, token: &str, words: &[&str]) -> (i32, String) {
        let output = self.run_as(token, words);
        assert!(output.stdout.is_empty(), "{words:?} prints and fails");
        (output.status.code().unwrap(), errors(&output))
    }

    pub(crate) fn put(&self, sandbox: &str, path: &str, content: &str) {
        self.said(&["fs", "write", path, "--content", content, "--sandbox", sandbox]);
    }
}
