//! Every file command, on a server, in a directory and in a store.

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use serde_json::Value;

use crate::reach::{Reach, errors, every_way};

every_way! {
    list_shows_sizes_times_and_names_sorted
    list_long_shows_exact_sizes
    list_pages_with_limit_and_after
    list_as_json_is_an_array_of_entries
    an_empty_directory_lists_as_nothing
    ls_is_list_and_the_other_aliases_hold
    read_gives_the_bytes_as_they_are
    read_takes_ranges
    read_as_json_carries_base64
    write_takes_stdin_a_local_file_or_a_text
    write_makes_missing_directories
    write_appends_on_demand
    write_create_new_refuses_an_existing_file
    write_if_match_refuses_another_version
    delete_takes_files_and_with_r_whole_directories
    mkdir_makes_parents_and_accepts_what_is_there
    move_refuses_an_existing_target_unless_told_to_overwrite
    copy_copies_trees
    stat_shows_what_is_known
    relative_paths_and_dots_stay_inside
    tree_draws_what_is_beneath
    tree_stops_at_a_depth
    tree_as_json_carries_depths
    a_missing_path_ends_with_3_and_says_where_to_look
    a_range_behind_the_end_fails
    failures_are_json_on_demand
    a_reader_that_goes_away_ends_it_quietly
    output_on_a_pipe_has_no_colours
    a_hint_quotes_a_path_so_that_a_shell_reads_it_back
    ; with_host_files:
    a_link_out_of_the_sandbox_ends_with_4
    hostile_names_never_reach_the_terminal_raw
}

fn list_shows_sizes_times_and_names_sorted(reach: &Reach) {
    reach.put("b.txt", "x".repeat(1536));
    reach.put("a.txt", "12");
    reach.put("dir/inner", "");
    let said = reach.said(&["list"]);
    let rows: Vec<Vec<&str>> = said.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["SIZE", "MODIFIED", "NAME"]);
    assert_eq!((rows[1][..2].to_vec(), rows[1][3]), (vec!["2", "B"], "a.txt"), "{said}");
    assert_eq!((rows[2][..2].to_vec(), rows[2][3]), (vec!["1.5", "KiB"], "b.txt"));
    assert_eq!((rows[3][0], rows[3][2]), ("-", "dir/"));
    assert!(rows[1][2].ends_with('Z'), "{said}");
    assert_eq!(rows.len(), 4);
}

fn list_long_shows_exact_sizes(reach: &Reach) {
    reach.put("b.txt", "x".repeat(1536));
    let said = reach.said(&["list", "-l"]);
    assert!(said.starts_with("KIND"), "{said}");
    assert!(said.lines().nth(1).unwrap().contains(" 1536 "), "{said}");
}

fn list_pages_with_limit_and_after(reach: &Reach) {
    for name in ["a", "b", "c", "d"] {
        reach.put(name, "");
    }
    let page = reach.json(&["list", "--limit", "2", "--after", "a"]);
    let names: Vec<&str> =
        page.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "c"]);
}

fn list_as_json_is_an_array_of_entries(reach: &Reach) {
    reach.put("a.txt", "12");
    reach.put("dir/inner", "");
    let entries = reach.json(&["list", "/"]);
    assert_eq!(entries[0]["name"], "a.txt");
    assert_eq!(entries[0]["path"], "/a.txt");
    assert_eq!(entries[0]["kind"], "file");
    assert_eq!(entries[0]["size"], 2);
    assert!(entries[0]["modified"].as_str().unwrap().ends_with('Z'));
    assert_eq!(entries[1]["kind"], "directory");
    assert_eq!(entries.as_array().unwrap().len(), 2);
}

fn an_empty_directory_lists_as_nothing(reach: &Reach) {
    assert_eq!(reach.said(&["list"]), "");
    assert_eq!(reach.json(&["list"]), serde_json::json!([]));
    assert_eq!(reach.json(&["tree"]), serde_json::json!([]));
}

fn ls_is_list_and_the_other_aliases_hold(reach: &Reach) {
    assert!(reach.fed(&["put", "a"], b"alias").status.success());
    assert_eq!(reach.said(&["ls"]), reach.said(&["list"]));
    assert_eq!(reach.said(&["cat", "a"]), "alias");
    reach.said(&["cp", "a", "b"]);
    reach.said(&["mv", "b", "c"]);
    reach.said(&["rm", "a"]);
    assert_eq!(reach.json(&["ls"]).as_array().unwrap().len(), 1);
}

fn read_gives_the_bytes_as_they_are(reach: &Reach) {
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    reach.put("bin", &bytes);
    assert!(reach.fs(&["read", "bin"]).stdout == bytes);
}

fn read_takes_ranges(reach: &Reach) {
    reach.put("f", "0123456789");
    assert_eq!(reach.said(&["read", "--range", "2-4", "f"]), "234");
    assert_eq!(reach.said(&["read", "--range", "7-", "f"]), "789");
    assert_eq!(reach.said(&["read", "--range", "-2", "f"]), "89");
}

fn read_as_json_carries_base64(reach: &Reach) {
    reach.put("f", "hello");
    let read = reach.json(&["read", "--range", "0-3", "f"]);
    assert_eq!(read["contentBase64"], "aGVsbA==");
    assert_eq!((&read["start"], &read["end"], &read["size"]), (&0.into(), &4.into(), &5.into()));
    assert_eq!(read["path"], "/f");
}

fn write_takes_stdin_a_local_file_or_a_text(reach: &Reach) {
    assert!(reach.fed(&["write", "stdin"], b"from stdin").status.success());
    assert!(reach.fed(&["write", "dash", "-"], b"from dash").status.success());
    fs::write(reach.site.path("work/local.txt"), "from a file").unwrap();
    reach.said(&["write", "file", "local.txt"]);
    let written = reach.json(&["write", "text", "--content", "from a text"]);
    assert_eq!(reach.content("stdin"), "from stdin");
    assert_eq!(reach.content("dash"), "from dash");
    assert_eq!(reach.content("file"), "from a file");
    assert_eq!(reach.content("text"), "from a text");
    assert_eq!((&written["path"], &written["bytesWritten"]), (&"/text".into(), &11.into()));
}

fn write_makes_missing_directories(reach: &Reach) {
    reach.said(&["write", "x/y/z", "--content", "deep"]);
    assert_eq!(reach.content("x/y/z"), "deep");
}

fn write_appends_on_demand(reach: &Reach) {
    reach.put("log", "one\n");
    reach.said(&["write", "log", "--append", "--content", "two\n"]);
    assert_eq!(reach.content("log"), "one\ntwo\n");
}

fn write_create_new_refuses_an_existing_file(reach: &Reach) {
    reach.said(&["write", "new", "--create-new", "--content", "1"]);
    let (code, said) = reach.fails(&["write", "new", "--create-new", "--content", "2"]);
    assert_eq!(code, 5, "{said}");
    assert_eq!(reach.content("new"), "1");
}

fn write_if_match_refuses_another_version(reach: &Reach) {
    reach.put("f", "1");
    let version = reach.settled_version("f");
    reach.said(&["write", "f", "--if-match", &version, "--content", "second"]);
    let (code, said) = reach.fails(&["write", "f", "--if-match", &version, "--content", "third"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("hint: see its version now: sandkeep fs --"), "{said}");
    assert_eq!(reach.content("f"), "second");
}

fn delete_takes_files_and_with_r_whole_directories(reach: &Reach) {
    reach.put("f", "");
    reach.put("dir/inner", "");
    reach.said(&["delete", "f"]);
    let (code, said) = reach.fails(&["delete", "dir"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("hint: delete all of it: sandkeep fs --"), "{said}");
    assert!(said.contains("delete -r /dir"), "{said}");
    assert_eq!(reach.json(&["delete", "-r", "dir"])["path"], "/dir");
    assert_eq!(reach.said(&["list", "/"]), "");
}

fn mkdir_makes_parents_and_accepts_what_is_there(reach: &Reach) {
    assert_eq!(reach.json(&["mkdir", "a/b/c"])["path"], "/a/b/c");
    reach.said(&["mkdir", "a/b/c"]);
    assert_eq!(reach.json(&["stat", "a/b/c"])["kind"], "directory");
}

fn move_refuses_an_existing_target_unless_told_to_overwrite(reach: &Reach) {
    reach.put("a", "new");
    reach.put("b", "old");
    let (code, said) = reach.fails(&["move", "a", "b"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("hint: replace it with --overwrite"), "{said}");
    let moved = reach.json(&["move", "--overwrite", "a", "b"]);
    assert_eq!((&moved["from"], &moved["to"]), (&"/a".into(), &"/b".into()));
    assert_eq!(reach.content("b"), "new");
    assert!(!reach.holds("a"));
}

fn copy_copies_trees(reach: &Reach) {
    reach.put("src/deep/f", "x");
    reach.said(&["copy", "src", "dst"]);
    assert_eq!(reach.content("dst/deep/f"), "x");
    assert_eq!(reach.fails(&["copy", "src", "dst"]).0, 5);
    reach.put("src/deep/g", "y");
    reach.said(&["copy", "--overwrite", "src", "dst"]);
    assert_eq!(reach.content("dst/deep/g"), "y");
    assert_eq!(reach.content("src/deep/f"), "x");
}

fn stat_shows_what_is_known(reach: &Reach) {
    reach.put("dir/f", "12345");
    let said = reach.said(&["stat", "dir/f"]);
    assert!(said.contains("path      /dir/f\n"), "{said}");
    assert!(said.contains("kind      file\n"), "{said}");
    assert!(said.contains("size      5 B (5 bytes)\n"), "{said}");
    assert!(said.contains("version   "), "{said}");
    assert_eq!(reach.json(&["stat", "dir"])["kind"], "directory");
}

fn relative_paths_and_dots_stay_inside(reach: &Reach) {
    reach.put("f", "inside");
    fs::write(reach.site.path("f"), "outside").unwrap();
    assert_eq!(reach.said(&["read", "../../f"]), "inside");
    assert_eq!(reach.said(&["read", "/x/../f"]), "inside");
}

fn tree_draws_what_is_beneath(reach: &Reach) {
    reach.put("a/b/c", "");
    reach.put("a/d", "");
    reach.put("e", "");
    let drawn =
        "/\n├── a/\n│   ├── b/\n│   │   └── c\n│   └── d\n└── e\n\n2 directories, 3 files\n";
    assert_eq!(reach.said(&["tree"]), drawn);
}

fn tree_stops_at_a_depth(reach: &Reach) {
    reach.put("a/b/c", "");
    let said = reach.said(&["tree", "--depth", "1"]);
    assert!(said.starts_with("/\n└── a/\n\n1 directory, 0 files\n"), "{said}");
    assert!(said.contains("not entered: 1 directory at level 1"), "{said}");
}

fn tree_as_json_carries_depths(reach: &Reach) {
    reach.put("a/b", "");
    let entries = reach.json(&["tree"]);
    assert_eq!((&entries[0]["path"], &entries[0]["depth"]), (&"/a".into(), &1.into()));
    assert_eq!((&entries[1]["path"], &entries[1]["depth"]), (&"/a/b".into(), &2.into()));
}

fn a_missing_path_ends_with_3_and_says_where_to_look(reach: &Reach) {
    let (code, said) = reach.fails(&["read", "no/such file"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("hint: see what is there: sandkeep fs --"), "{said}");
    assert!(said.trim_end().ends_with("list /no"), "{said}");
    for words in [
        ["stat", "gone"].as_slice(),
        &["list", "gone"],
        &["delete", "gone"],
        &["move", "gone", "x"],
    ] {
        assert_eq!(reach.fails(words).0, 3, "{words:?}");
    }
}

fn a_link_out_of_the_sandbox_ends_with_4(reach: &Reach) {
    fs::write(reach.site.path("secret"), "outside").unwrap();
    std::os::unix::fs::symlink("../secret", reach.site.inner("out")).unwrap();
    let (code, said) = reach.fails(&["read", "out"]);
    assert_eq!(code, 4, "{said}");
}

fn a_range_behind_the_end_fails(reach: &Reach) {
    reach.put("f", "123");
    let (code, said) = reach.fails(&["read", "--range", "9-", "f"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("hint: see how long it is"), "{said}");
}

fn failures_are_json_on_demand(reach: &Reach) {
    let (code, said) = reach.fails(&["--json", "stat", "gone"]);
    let failure: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &failure["exitCode"]), (3, &3.into()));
    assert_eq!((&failure["kind"], &failure["path"]), (&"not_found".into(), &"/gone".into()));
    assert!(failure["hint"].as_str().unwrap().contains("list /"));
}

fn hostile_names_never_reach_the_terminal_raw(reach: &Reach) {
    let names: [&[u8]; 4] = [b"\x1b[31mred", b"new\nline", "rtl\u{202e}txt".as_bytes(), b"bad\xff"];
    for name in names {
        fs::write(reach.site.path("sandbox").join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    for words in [["list"].as_slice(), &["list", "-l"], &["tree"]] {
        let said = reach.said(words);
        for shown in ["\\u{1b}[31mred", "new\\nline", "rtl\\u{202e}txt", "bad\\xff"] {
            assert!(said.contains(shown), "{words:?}: {said}");
        }
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{words:?}");
    }
    let (_, said) = reach.fails(&["read", "\u{1b}[2J/gone"]);
    assert!(!said.contains('\u{1b}'), "{said}");
    // What JSON shows can be given back.
    for entry in reach.json(&["list"]).as_array().unwrap() {
        assert_eq!(reach.said(&["read", entry["path"].as_str().unwrap()]), "x");
    }
}

fn a_reader_that_goes_away_ends_it_quietly(reach: &Reach) {
    reach.put("big", "x".repeat(8 << 20));
    let mut command = reach.site.sandkeep();
    command.arg("fs").args(&reach.flags).args(["read", "big"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), errors(&output).as_str()), (Some(0), ""));
}

fn output_on_a_pipe_has_no_colours(reach: &Reach) {
    reach.put("dir/f", "");
    assert!(!reach.said(&["list"]).contains('\u{1b}'));
    assert!(!reach.fails(&["read", "gone"]).1.contains('\u{1b}'));
}

fn a_hint_quotes_a_path_so_that_a_shell_reads_it_back(reach: &Reach) {
    let (_, said) = reach.fails(&["read", "it's/x"]);
    assert!(said.trim_end().ends_with(r"list '/it'\''s'"), "{said}");
}

#[test]
fn colours_can_be_forced_and_no_color_wins() {
    let reach = Reach::in_a_directory();
    reach.put("dir/f", "");
    let listed = |variables: &[(&str, &str)]| {
        let mut command = reach.site.sandkeep();
        command.arg("fs").args(&reach.flags).arg("list").envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(listed(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!listed(&[("NO_COLOR", "1"), ("CLICOLOR", "1")]).contains('\u{1b}'));
}
