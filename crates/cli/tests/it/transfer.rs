//! `upload` and `download`, on a server, in a directory and in a store.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::thread;

use crate::attack_form::program;
use crate::reach::{Reach, errors, every_way};
use crate::site::Site;

every_way! {
    a_single_file_arrives_under_its_own_name
    directories_arrive_whole_with_modes_and_links
    several_arrive_side_by_side
    two_of_one_name_are_refused
    a_fifo_is_refused_before_anything_is_sent
    a_missing_local_file_ends_with_3
    a_file_comes_down_under_its_own_name_or_another
    a_file_comes_down_into_a_directory
    a_file_comes_down_to_stdout
    a_directory_comes_down_whole
    a_directory_comes_down_into_an_existing_one_under_its_own_name
    a_directory_does_not_fit_through_stdout
    a_large_tree_survives_the_round_trip
    a_link_is_sent_under_its_own_name
    a_single_file_keeps_its_executable_bit
    a_file_does_not_replace_a_directory_of_its_name
    ; with_host_files:
    a_planted_link_does_not_keep_the_rest_of_a_directory_from_its_owner
    links_with_long_names_are_left_out_too
    a_strict_download_refuses_a_link_that_leads_out
}

fn local(reach: &Reach, name: &str, content: &str) {
    let path = reach.site.path("work").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn fetched(reach: &Reach, name: &str) -> String {
    fs::read_to_string(reach.site.path("work").join(name)).unwrap()
}

fn a_single_file_arrives_under_its_own_name(reach: &Reach) {
    local(reach, "deep/report.txt", "figures");
    let sent = reach.json(&["upload", "deep/report.txt", "/inbox/today"]);
    assert_eq!(reach.content("inbox/today/report.txt"), "figures");
    assert_eq!(sent["paths"], serde_json::json!(["/inbox/today/report.txt"]));
    assert_eq!((&sent["entries"], &sent["bytes"]), (&1.into(), &7.into()));
}

fn directories_arrive_whole_with_modes_and_links(reach: &Reach) {
    local(reach, "src/run.sh", "#!/bin/sh\n");
    local(reach, "src/inner/empty", "");
    let script = reach.site.path("work/src/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", reach.site.path("work/src/link")).unwrap();
    let sent = reach.json(&["upload", "src", "."]);
    assert_eq!(sent["entries"], 5);
    assert_eq!(reach.content("src/run.sh"), "#!/bin/sh\n");
    assert_eq!(reach.content("src/inner/empty"), "");
    assert_eq!(reach.mode("src/run.sh"), 0o755);
    reach.said(&["download", "src", "back"]);
    assert_eq!(fs::read_link(reach.site.path("work/back/link")).unwrap(), Path::new("run.sh"));
}

fn several_arrive_side_by_side(reach: &Reach) {
    local(reach, "a.txt", "a");
    local(reach, "dir/b.txt", "b");
    reach.said(&["upload", "a.txt", "dir", "/new"]);
    assert_eq!(
        (reach.content("new/a.txt"), reach.content("new/dir/b.txt")),
        ("a".into(), "b".into())
    );
}

fn two_of_one_name_are_refused(reach: &Reach) {
    local(reach, "one/f", "1");
    local(reach, "two/f", "2");
    let (code, said) = reach.fails(&["upload", "one/f", "two/f", "."]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("two of these are called f"), "{said}");
}

fn a_fifo_is_refused_before_anything_is_sent(reach: &Reach) {
    local(reach, "dir/a", "a");
    let fifo = reach.site.path("work/dir/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let (code, said) = reach.fails(&["upload", "dir", "."]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("pipe is no file, directory or link"), "{said}");
    assert!(!reach.holds("dir"));
}

fn a_missing_local_file_ends_with_3(reach: &Reach) {
    assert_eq!(reach.fails(&["upload", "nowhere", "."]).0, 3);
    assert_eq!(reach.fails(&["write", "f", "nowhere"]).0, 3);
}

fn a_file_comes_down_under_its_own_name_or_another(reach: &Reach) {
    reach.put("dir/f", "content");
    reach.said(&["download", "dir/f"]);
    assert_eq!(fetched(reach, "f"), "content");
    local(reach, "other", "longer than the content");
    let down = reach.json(&["download", "dir/f", "other"]);
    assert_eq!(fetched(reach, "other"), "content");
    assert_eq!((&down["path"], &down["bytes"]), (&"/dir/f".into(), &7.into()));
}

fn a_file_comes_down_into_a_directory(reach: &Reach) {
    reach.put("f", "content");
    fs::create_dir(reach.site.path("work/into")).unwrap();
    reach.said(&["download", "f", "into"]);
    assert_eq!(fetched(reach, "into/f"), "content");
    assert_eq!(reach.fails(&["download", "f", "missing/f"]).0, 3);
}

fn a_file_comes_down_to_stdout(reach: &Reach) {
    reach.put("f", "content");
    assert_eq!(reach.said(&["download", "f", "-"]), "content");
}

fn a_directory_comes_down_whole(reach: &Reach) {
    reach.put("dir/a", "a");
    reach.put("dir/inner/b", "b");
    reach.said(&["mkdir", "dir/empty"]);
    let down = reach.json(&["download", "dir"]);
    assert_eq!((fetched(reach, "dir/a"), fetched(reach, "dir/inner/b")), ("a".into(), "b".into()));
    assert!(reach.site.path("work/dir/empty").is_dir());
    assert_eq!(down["entries"], 4);
    reach.said(&["download", "dir", "renamed"]);
    assert_eq!(fetched(reach, "renamed/a"), "a");
}

fn a_directory_comes_down_into_an_existing_one_under_its_own_name(reach: &Reach) {
    reach.put("dir/a", "new");
    local(reach, "into/dir/a", "old");
    local(reach, "into/dir/kept", "kept");
    reach.said(&["download", "dir", "into"]);
    assert_eq!(fetched(reach, "into/dir/a"), "new");
    assert_eq!(fetched(reach, "into/dir/kept"), "kept");
    fs::create_dir(reach.site.path("work/all")).unwrap();
    reach.said(&["download", "/", "all"]);
    assert_eq!(fetched(reach, "all/dir/a"), "new");
}

fn a_directory_does_not_fit_through_stdout(reach: &Reach) {
    reach.put("dir/a", "a");
    let (code, said) = reach.fails(&["download", "dir", "-"]);
    assert_eq!(code, 1);
    assert!(said.contains("is a directory, which stdout cannot hold"), "{said}");
}

fn a_large_tree_survives_the_round_trip(reach: &Reach) {
    let block: String = ('a'..='z').cycle().take(1 << 20).collect();
    for number in 0..40 {
        local(reach, &format!("tree/{}/{number}", number % 7), &block[number..]);
    }
    reach.said(&["upload", "tree", "."]);
    reach.said(&["download", "tree", "back"]);
    for number in 0..40 {
        let name = format!("{}/{number}", number % 7);
        assert!(fetched(reach, &format!("back/{name}")) == block[number..], "{name}");
    }
}

/// What a download of `dir` says on stdout and stderr.
fn downloaded(reach: &Reach, words: &[&str]) -> (serde_json::Value, String) {
    let output = reach.fs(&[&["--json", "download"], words].concat());
    assert!(output.status.success(), "{}", errors(&output));
    (serde_json::from_slice(&output.stdout).unwrap(), errors(&output))
}

fn a_planted_link_does_not_keep_the_rest_of_a_directory_from_its_owner(reach: &Reach) {
    reach.put("dir/a", "a");
    reach.put("dir/inner/z", "z".repeat(3 << 20));
    for (target, link) in
        [("/etc/passwd", "absolute"), ("../../up", "inner/out"), ("../a", "inner/in")]
    {
        symlink(target, reach.site.inner("dir").join(link)).unwrap();
    }
    let (down, said) = downloaded(reach, &["dir"]);
    assert_eq!((&down["entries"], &down["skippedLinks"]), (&4.into(), &2.into()));
    for link in ["/dir/absolute", "/dir/inner/out"] {
        let warning = format!("warning: left out a symbolic link that leads out: {link}\n");
        assert!(said.contains(&warning), "{said}");
    }
    assert_eq!(fetched(reach, "dir/inner/in"), "a");
    assert_eq!(fetched(reach, "dir/inner/z"), "z".repeat(3 << 20));
    for link in ["dir/absolute", "dir/inner/out"] {
        assert!(fs::symlink_metadata(reach.site.path("work").join(link)).is_err(), "{link}");
    }
}

fn links_with_long_names_are_left_out_too(reach: &Reach) {
    let deep = format!("dir/{}", "d".repeat(180));
    let (name, climb) = ("n".repeat(200), "../".repeat(60));
    reach.put(&format!("{deep}/after"), "after");
    symlink(format!("{climb}x"), reach.site.inner(&deep).join(&name)).unwrap();
    symlink(format!("{}after", "./".repeat(90)), reach.site.inner(&deep).join("in")).unwrap();
    let (down, said) = downloaded(reach, &["dir"]);
    assert_eq!((&down["entries"], &down["skippedLinks"]), (&3.into(), &1.into()));
    assert!(said.contains(&format!("/{deep}/{name}\n")), "{said}");
    assert_eq!(fetched(reach, &format!("{deep}/in")), "after");
}

fn a_strict_download_refuses_a_link_that_leads_out(reach: &Reach) {
    reach.put("dir/a", "a");
    symlink("/etc/passwd", reach.site.inner("dir/link")).unwrap();
    let (code, said) = reach.fails(&["download", "--strict", "dir"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("the symbolic link link leads out"), "{said}");
    assert!(said.contains("hint: leave out --strict to fetch everything else"), "{said}");
    assert!(!reach.site.path("work/dir").exists());
}

fn a_link_is_sent_under_its_own_name(reach: &Reach) {
    local(reach, "up/release-1.2/f", "content");
    symlink("release-1.2", reach.site.path("work/up/current")).unwrap();
    symlink("release-1.2/f", reach.site.path("work/up/latest")).unwrap();
    reach.said(&["upload", "up/current", "up/latest", "."]);
    assert_eq!(reach.content("current/f"), "content");
    assert_eq!(reach.content("latest"), "content");
    assert!(!reach.holds("release-1.2"));
}

fn a_single_file_keeps_its_executable_bit(reach: &Reach) {
    local(reach, "run.sh", "#!/bin/sh\n");
    let script = reach.site.path("work/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    reach.said(&["upload", "run.sh", "."]);
    assert_eq!(reach.mode("run.sh"), 0o755);
}

fn a_file_does_not_replace_a_directory_of_its_name(reach: &Reach) {
    local(reach, "name", "file");
    reach.put("name/kept", "kept");
    let (_, said) = reach.fails(&["upload", "name", "."]);
    assert!(said.contains("a file cannot replace a directory"), "{said}");
    assert_eq!(reach.content("name/kept"), "kept");
}

/// What a user sees who types this line at a terminal.
fn typed(reach: &Reach, line: &str, variables: &[(&str, &str)]) -> String {
    let mut script = reach.site.program(Path::new("/usr/bin/script"));
    script.args(["-qec", line, "/dev/null"]).env("TERM", "xterm").envs(variables.iter().copied());
    let output = script.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_shows_progress_when_a_transfer_takes_longer_than_a_second() {
    if !program("script") {
        return;
    }
    let reach = Reach::in_a_directory();
    let (sandkeep, dir) = (env!("CARGO_BIN_EXE_sandkeep"), reach.site.path("sandbox"));
    let write = format!("{sandkeep} fs --dir {} write f", dir.display());
    let slow = format!("{{ printf a; sleep 1.2; printf bc; }} | {write}");
    let seen = typed(&reach, &slow, &[]);
    assert!(seen.contains("3 B"), "{seen:?}");
    assert!(seen.contains("B/s"), "{seen:?}");
    let quick = typed(&reach, &format!("printf abc | {write}"), &[]);
    assert!(!quick.contains("B/s"), "{quick:?}");
    let piped = typed(&reach, &format!("{slow} 2>&1 | cat"), &[]);
    assert!(!piped.contains("B/s"), "{piped:?}");
}

#[test]
fn a_terminal_shows_colours_unless_no_color_is_set() {
    if !program("script") {
        return;
    }
    let reach = Reach::in_a_directory();
    reach.put("dir/f", "");
    let (sandkeep, dir) = (env!("CARGO_BIN_EXE_sandkeep"), reach.site.path("sandbox"));
    let list = format!("{sandkeep} fs --dir {} list", dir.display());
    assert!(typed(&reach, &list, &[]).contains("\u{1b}["));
    assert!(!typed(&reach, &list, &[("NO_COLOR", "1")]).contains("\u{1b}["));
}

#[test]
fn a_hostile_server_cannot_write_outside_the_local_directory() {
    let site = Site::new();
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(4);
    header.set_mode(0o644);
    // The crate refuses to write such a name, so it is put there by hand.
    header.as_old_mut().name[..12].copy_from_slice(b"../../escape");
    header.set_cksum();
    archive.append(&header, b"evil".as_slice()).unwrap();
    let url = impostor(archive.into_inner().unwrap());
    let mut command = site.sandkeep();
    let output = command.args(["fs", "-e", &url, "download", "/dir", "into"]).output().unwrap();
    assert!(!output.status.success(), "{}", errors(&output));
    assert!(!site.path("escape").exists() && !site.path("work/escape").exists());
    assert!(!site.path("work/into").exists(), "a bad archive leaves nothing behind");
}

/// A server that says yes to everything and sends this archive for every directory.
fn impostor(archive: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = [0; 4096];
            let len = std::io::Read::read(&mut client, &mut head).unwrap();
            let (kind, body) = match String::from_utf8_lossy(&head[..len]) {
                request if request.contains("download-batch") => {
                    ("application/x-tar", archive.clone())
                }
                request if request.contains("path=%2Fdir") || request.contains("path=/dir") => {
                    let stat = br#"{"path":"/dir","entryType":"directory","size":0}"#;
                    ("application/json", stat.to_vec())
                }
                _ => {
                    let stat = br#"{"path":"/","entryType":"directory","size":0}"#;
                    ("application/json", stat.to_vec())
                }
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            client.write_all(head.as_bytes()).unwrap();
            client.write_all(&body).unwrap();
        }
    });
    url
}
