//! The beginning and the end of a server, seen from outside.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use sandkeep_servers::Server;

/// What the credentials file of a server's URL says.
pub(crate) fn credentials(server: &Server) -> HashMap<String, String> {
    let text = fs::read_to_string(credentials_file(server)).unwrap();
    let pairs = text.lines().map(|line| line.split_once('=').unwrap());
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Drops a server, and then finds neither its process nor its directory.
pub(crate) fn assert_leaves_nothing(server: Server) {
    let pid = server.pid();
    let file = credentials_file(&server);
    let directory = file.parent().unwrap();
    assert!(directory.is_dir());
    drop(server);
    assert_gone(pid);
    assert!(!directory.exists());
}

pub(crate) fn assert_gone(pid: u32) {
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is still there");
}

fn credentials_file(server: &Server) -> PathBuf {
    let url = server.url("some-store");
    let (_, rest) = url.split_once("credentials-file=").unwrap();
    PathBuf::from(rest.split('&').next().unwrap())
}
