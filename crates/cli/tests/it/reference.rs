//! What the program says of itself.

use std::fs;
use std::path::Path;

use crate::site::Site;

fn said(words: &[&str]) -> String {
    let output = Site::new().sandkeep().args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_manual_of_the_command_line_is_current() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let manual = fs::read_to_string(manual).unwrap();
    assert!(manual == said(&["reference"]), "run: cargo run -- reference > docs/cli.md");
}

#[test]
fn completions_are_there_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(&["completions", shell]);
        for word in ["sandkeep", "upload", "snapshot", "restore", "max-total-size", "grace"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn the_manual_page_is_printed() {
    assert!(said(&["man"]).contains(".TH sandkeep 1"));
}

#[test]
fn the_manual_pages_of_all_commands_are_written_into_a_directory() {
    let site = Site::new();
    site.run(&["man", "pages"]).success();
    let pages = site.path("work/pages");
    for page in [
        "sandkeep.1",
        "sandkeep-serve.1",
        "sandkeep-fs.1",
        "sandkeep-fs-upload.1",
        "sandkeep-snapshot-restore.1",
        "sandkeep-stats.1",
        "sandkeep-sandbox-list.1",
        "sandkeep-gc.1",
    ] {
        assert!(fs::read_to_string(pages.join(page)).unwrap().contains(".SH"), "{page}");
    }
    assert!(!pages.join("sandkeep-reference.1").exists());
}

#[test]
fn the_description_of_the_interface_is_json() {
    let described: serde_json::Value = serde_json::from_str(&said(&["openapi"])).unwrap();
    assert!(described["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(described["paths"]["/v1/fs/file"]["put"].is_object());
}

#[test]
fn help_shows_no_values_of_the_environment() {
    let site = Site::new();
    let output = site.sandkeep().args(["serve", "--help"]).env("SANDKEEP_TOKEN", "hush").output();
    assert!(!String::from_utf8(output.unwrap().stdout).unwrap().contains("hush"));
}

#[test]
fn wrong_usage_ends_with_2() {
    let site = Site::new();
    site.run(&["fs", "move", "only-one"]).code(2);
    site.run(&["fs", "--dir", ".", "--endpoint", "http://x", "list"]).code(2);
    site.run(&["nonsense"]).code(2);
    site.run(&["--token", "t", "openapi"]).code(2);
}
