//! `serve --store`: virtual sandboxes over HTTP, as their clients and their operator meet them.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::archive::archive;
use crate::attack_form::{machine_has, program};
use crate::raw_http::{Answer, TAR};
use crate::reach::errors;
use crate::server_process::{ServerProcess, binary};
use crate::site::{Server, Site};

const LAST_WORDS: &str = "The interface is described";

/// Each promise as two tests: in memory, and in the embedded store.
macro_rules! in_either_store {
    ($($promise:ident)*) => {
        mod in_memory {
            $(#[test] fn $promise() {
                super::$promise(&super::ServerProcess::of_store("memory:", &[]));
            })*
        }
        mod in_files {
            $(#[test] fn $promise() {
                let site = super::Site::new();
                super::$promise(&super::ServerProcess::of_store(&site.store(), &[]));
            })*
        }
    };
}

in_either_store! {
    files_are_written_read_and_listed
    a_range_of_a_large_file_is_read
    an_archive_goes_up_and_comes_down
    trees_are_moved_copied_and_removed
    it_is_ready
}

fn put(server: &ServerProcess, path: &str, body: &[u8]) -> Answer {
    server.ask("PUT", &format!("/v1/fs/file?path={path}"), body)
}

fn get(server: &ServerProcess, path: &str) -> Answer {
    server.ask("GET", &format!("/v1/fs/file?path={path}"), b"")
}

fn names(server: &ServerProcess, path: &str) -> Vec<String> {
    let entries = server.ask("GET", &format!("/v1/fs/entries?path={path}"), b"").succeeds().json();
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    entries.as_array().unwrap().iter().map(name).collect()
}

fn files_are_written_read_and_listed(server: &ServerProcess) {
    put(server, "a/b/c.txt", b"hello").succeeds();
    put(server, "a/d.txt", b"").succeeds();
    assert_eq!(get(server, "/a/b/c.txt").succeeds().body, b"hello");
    assert_eq!(names(server, "a"), ["b", "d.txt"]);
    let stat = server.ask("GET", "/v1/fs/stat?path=a/b/c.txt", b"").succeeds().json();
    assert_eq!((&stat["path"], &stat["size"]), (&"/a/b/c.txt".into(), &5.into()));
    assert_eq!(get(server, "/gone").status, 400);
}

fn a_range_of_a_large_file_is_read(server: &ServerProcess) {
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    put(server, "large", &content).succeeds();
    let range = [("Range", "bytes=5000000-5999999")];
    let answer = server.connect().ask("GET", "/v1/fs/file?path=large", &range, b"");
    assert_eq!(answer.status, 206);
    assert!(answer.body == content[5_000_000..6_000_000]);
    let last = [("Range", "bytes=-4")];
    let answer = server.connect().ask("GET", "/v1/fs/file?path=large", &last, b"");
    assert_eq!(answer.body, 2_999_999_u32.to_le_bytes());
}

fn an_archive_goes_up_and_comes_down(server: &ServerProcess) {
    let sent = archive(&[("x/one", b"1"), ("x/y/two", b"22")]);
    let target = "/v1/fs/upload-batch?path=there";
    server.connect().ask("POST", target, &TAR, &sent).succeeds();
    assert_eq!(get(server, "there/x/y/two").succeeds().body, b"22");
    let got = server.ask("GET", "/v1/fs/download-batch?path=there", b"").succeeds().body;
    let mut got = tar::Archive::new(got.as_slice());
    let paths = got.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let path = entry.path().unwrap();
        path.to_str().unwrap().trim_matches(['.', '/']).to_owned()
    });
    let mut paths: Vec<_> = paths.filter(|path| !path.is_empty()).collect();
    paths.sort();
    assert_eq!(paths, ["x", "x/one", "x/y", "x/y/two"]);
}

fn trees_are_moved_copied_and_removed(server: &ServerProcess) {
    put(server, "from/deep/f", b"x").succeeds();
    let json = [("Content-Type", "application/json")];
    let copy = br#"{"from":"from","to":"copy"}"#;
    server.connect().ask("POST", "/v1/fs/copy", &json, copy).succeeds();
    let rename = br#"{"from":"from","to":"to"}"#;
    server.connect().ask("POST", "/v1/fs/move", &json, rename).succeeds();
    server.ask("DELETE", "/v1/fs/entry?path=copy/deep&recursive=true", b"").succeeds();
    assert_eq!(
        (names(server, "/"), names(server, "copy")),
        (vec!["copy".into(), "to".into()], vec![])
    );
    assert_eq!(get(server, "to/deep/f").succeeds().body, b"x");
}

fn it_is_ready(server: &ServerProcess) {
    assert_eq!(server.ask("GET", "/readyz", b"").status, 200);
}

#[test]
fn a_store_in_files_keeps_everything_across_restarts() {
    let site = Site::new();
    let large = vec![7; 3 << 20];
    let server = site.serve_store(&site.store(), &[]);
    on(&site, &server, &["write", "notes/hello.txt", "--content", "hello"]);
    fs::write(site.path("work/large"), &large).unwrap();
    on(&site, &server, &["write", "large", "large"]);
    let before = on(&site, &server, &["tree", "--json"]);
    server.stop();
    let server = site.serve_store(&site.store(), &[]);
    assert_eq!(on(&site, &server, &["tree", "--json"]), before);
    assert!(on(&site, &server, &["read", "large"]).as_bytes() == large);
}

#[test]
fn a_store_in_memory_forgets_everything_with_its_process() {
    let site = Site::new();
    let server = site.serve_store("memory:", &[]);
    on(&site, &server, &["write", "f", "--content", "x"]);
    server.stop();
    let server = site.serve_store("memory:", &[]);
    assert_eq!(on(&site, &server, &["list"]), "");
}

#[test]
fn sandboxes_of_one_store_know_nothing_of_each_other() {
    let site = Site::new();
    for name in ["alice", "bob"] {
        let server = site.serve_store(&site.store(), &["--sandbox", name]);
        assert_eq!(on(&site, &server, &["list"]), "");
        on(&site, &server, &["write", name, "--content", "x"]);
        server.stop();
    }
    let server = site.serve_store(&site.store(), &["--sandbox", "alice"]);
    assert!(on(&site, &server, &["list"]).ends_with("alice\n"));
}

/// What a file command that succeeds prints, on a server.
fn on(site: &Site, server: &Server, words: &[&str]) -> String {
    let mut command = site.sandkeep();
    command.args(["fs", "--endpoint", server.url(), "--token", crate::site::TOKEN]).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_limit_is_refused_with_which_it_is_what_it_allows_what_is_used_and_what_was_asked_for() {
    let flags = ["--max-total-size", "10", "--max-file-size", "8", "--max-nodes", "3"];
    let server = ServerProcess::of_store("memory:", &flags);
    put(&server, "a", b"12345678").succeeds();
    let refused = |answer: Answer, status: u16| {
        assert_eq!(answer.status, status, "{}", answer.text());
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    assert!(refused(put(&server, "b", b"123"), 507).contains(
        "the total size limit of 10 bytes would be exceeded: 8 bytes are used, and 3 more were asked for"
    ));
    put(&server, "b", b"12").succeeds();
    assert!(refused(put(&server, "c", b""), 507).contains(
        "the node count limit of 3 nodes would be exceeded: 3 nodes are used, and 1 more were asked for"
    ));
    let large = refused(put(&server, "a", b"123456789"), 413);
    assert!(large.contains("the file size limit of 8 bytes would be exceeded"), "{large}");
    assert_eq!(get(&server, "a").body, b"12345678");
}

#[test]
fn limits_stay_with_the_sandbox_until_somebody_speaks_of_them() {
    let site = Site::new();
    let limits = |flags: &[&str]| {
        site.serve_store(&site.store(), flags).stop();
        let stats = site.run(&["stats", "--json", "--store", &site.store()]).success();
        let stats: Value = serde_json::from_slice(&stats.get_output().stdout).unwrap();
        stats["limits"].clone()
    };
    let first = limits(&["--max-total-size", "1G", "--max-nodes", "7"]);
    let expected = serde_json::json!({"fileSize": null, "totalSize": 1 << 30, "nodes": 7});
    assert_eq!(first, expected);
    assert_eq!(limits(&[]), expected);
    let lifted = limits(&["--max-total-size", "none", "--max-file-size", "1k"]);
    assert_eq!(lifted, serde_json::json!({"fileSize": 1024, "totalSize": null, "nodes": 7}));
}

#[test]
fn the_start_says_what_is_served_and_what_ends_with_the_process() {
    let site = Site::new();
    let said = |words: &[&str]| {
        let mut command = site.sandkeep();
        command.args(["serve", "--port", "0"]).args(words);
        let mut server = Server::start_in_words(command);
        let said = server.words_until(LAST_WORDS);
        server.stop();
        said
    };
    let memory = said(&["--store", "memory:"]);
    assert!(memory.contains("Sandkeep serves the sandbox main, in memory, at http://"), "{memory}");
    assert!(memory.contains("Everything in it ends with this process"), "{memory}");
    let store = site.path("work/store");
    let place = format!("of file:{} at http://", store.display());
    let made = said(&["--store", "file:store", "--sandbox", "alice"]);
    assert!(made.contains(&format!("the sandbox alice (made just now) {place}")), "{made}");
    let again = said(&["--store", "file:store", "--sandbox", "alice"]);
    assert!(again.contains(&format!("the sandbox alice {place}")), "{again}");
}

#[test]
fn the_start_line_for_scripts_names_the_store_and_the_sandbox() {
    let site = Site::new();
    let server = site.serve_store(&site.store(), &["--sandbox", "alice"]);
    assert_eq!(server.started["store"], site.store().as_str());
    assert_eq!(server.started["sandbox"], "alice");
    assert!(server.started["root"].is_null());
}

#[test]
fn a_store_that_another_process_has_is_refused_with_what_to_do() {
    let site = Site::new();
    let _server = site.serve_store(&site.store(), &[]);
    for words in [
        ["serve", "--port", "0"].as_slice(),
        &["fs", "list"],
        &["snapshot", "list"],
        &["stats"],
        &["sandbox", "create", "other"],
    ] {
        let assert = site.run(&[words, &["--store", &site.store()]].concat()).code(5);
        let said = errors(assert.get_output());
        assert!(said.contains("is open already"), "{words:?}: {said}");
        assert!(said.contains("hint: stop the process that has it first"), "{words:?}: {said}");
        assert!(said.contains("sandkeep fs --endpoint URL"), "{words:?}: {said}");
    }
}

#[test]
fn a_mistyped_store_or_sandbox_is_not_made() {
    let site = Site::new();
    for words in [["fs", "list"], ["snapshot", "list"], ["snapshot", "create"]] {
        let assert = site.run(&[&words[..], &["--store", "file:nowhere"]].concat()).code(3);
        let said = errors(assert.get_output());
        assert!(said.contains("there is no store at file:nowhere"), "{said}");
        assert!(
            said.contains("hint: make one: sandkeep sandbox create --store file:nowhere"),
            "{said}"
        );
    }
    assert!(!site.path("work/nowhere").exists());
    site.run(&["sandbox", "create", "--store", &site.store()]).success();
    let words = ["fs", "list", "--store", &site.store(), "--sandbox", "mian"];
    let said = errors(site.run(&words).code(3).get_output());
    assert!(said.contains("there is no sandbox `mian`"), "{said}");
    assert!(said.contains("hint: see which there are: sandkeep sandbox list --store"), "{said}");
}

#[test]
fn a_mistyped_file_of_a_store_is_not_made() {
    let site = Site::new();
    fs::write(site.path("work/empty"), "").unwrap();
    for url in ["sqlite:nowhere", "sqlite:empty", "split:refs=sqlite:/nowhere,chunks=file:/no"] {
        for words in [
            ["store", "check", url].as_slice(),
            &["store", "copy", url, "sqlite:other"],
            &["gc", "--store", url],
            &["stats", "--store", url],
            &["sandbox", "list", "--store", url],
        ] {
            let said = errors(site.run(words).code(3).get_output());
            assert!(said.contains("there is no store at sqlite:"), "{words:?}: {said}");
            assert!(said.contains("hint: make one: sandkeep sandbox create"), "{words:?}: {said}");
        }
    }
    assert!(!site.path("work/nowhere").exists() && !site.path("work/other").exists());
    assert_eq!(fs::metadata(site.path("work/empty")).unwrap().len(), 0);
}

#[test]
fn a_store_in_memory_is_nothing_that_a_command_could_find() {
    let assert = Site::new().run(&["fs", "list", "--store", "memory:"]).code(2);
    let said = errors(assert.get_output());
    assert!(said.contains("ends with its process") && said.contains("file:DIR"), "{said}");
}

#[test]
fn what_is_no_store_is_refused() {
    let site = Site::new();
    fs::write(site.path("work/plain"), "").unwrap();
    for (url, words) in [
        ("store", "a storage URL has a scheme"),
        ("floppy://x", "the scheme is not known"),
        ("file:~/store", "`~` is not expanded behind file:"),
    ] {
        let assert = site.run(&["serve", "--port", "0", "--store", url]).code(2);
        let said = errors(assert.get_output());
        assert!(said.contains(words), "{said}");
    }
    let assert = site.run(&["serve", "--port", "0", "--store", "file:plain"]).code(1);
    assert!(errors(assert.get_output()).contains("work/plain is not a directory"));
    let home = format!("file:{}", site.path("").display());
    let assert = site.run(&["serve", "--port", "0", "--store", &home]).code(2);
    let said = errors(assert.get_output());
    assert!(said.contains("the directory of file: holds something else"), "{said}");
}

#[test]
fn flags_of_a_directory_are_refused_with_a_store() {
    let site = Site::new();
    for (words, complaint) in [
        (["./dir"].as_slice(), "DIR and --store contradict each other"),
        (&["--durability", "relaxed"], "--durability relaxed does nothing with --store"),
        (&["--staging", "s"], "--staging is about a directory"),
        (&["--cross-mounts"], "--cross-mounts is about a directory"),
        (&["--snapshots", "file:s"], "--snapshots is about a directory"),
    ] {
        let words = [["serve", "--store", "memory:", "--port", "0"].as_slice(), words].concat();
        let said = errors(site.run(&words).code(2).get_output());
        assert!(said.contains(complaint), "{said}");
    }
}

#[test]
fn a_store_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::new();
    site.serve_store(&site.store(), &[]).stop();
    let mode = fs::metadata(site.path("store")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn the_second_wall_leaves_a_server_its_store_and_nothing_else() {
    if !program("strace") {
        return;
    }
    let site = Site::new();
    let Some(places) = let_through(&site, &site.store()) else { return };
    assert_eq!(places, [site.path("store").to_str().unwrap()]);
    assert_eq!(let_through(&site, "memory:"), Some(Vec::new()));
}

/// The directories that the wall of a server lets through, as the kernel was told; none without a
/// wall.
fn let_through(site: &Site, url: &str) -> Option<Vec<String>> {
    let trace = site.path("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=/^landlock", "-o"]).arg(&trace);
    command.arg(binary()).args(["serve", "--store", url]);
    let server = ServerProcess::spawn(command);
    // Large enough that the store makes new files behind the wall.
    let large = vec![1; 20 << 20];
    put(&server, "f", &large).succeeds();
    assert!(get(&server, "f").succeeds().body == large);
    drop(server);
    let trace = fs::read_to_string(trace).unwrap();
    let walled = trace.lines().any(|line| line.contains("landlock_restrict_self("));
    let place = |line: &str| {
        let (_, rest) = line.split_once("parent_fd=")?;
        Some(rest.split_once('<')?.1.split_once('>')?.0.to_owned())
    };
    machine_has("a kernel with Landlock", walled).then(|| trace.lines().filter_map(place).collect())
}
