//! `sandkeep search`: on a server, in a directory and in a store.

use serde_json::Value;

use crate::keep::Keep;
use crate::reach::errors;
use crate::site::TOKEN;

/// A keep with some files.
fn filled() -> Keep {
    let keep = Keep::new();
    keep.put("src/main.rs", "fn main() {}\n// todo: more\n");
    keep.put("notes.md", "# Todo\nmain things\n");
    keep.put(".gitignore", "build\n");
    keep.put("build/out.rs", "fn main() {}");
    keep
}

#[test]
fn lines_are_shown_with_their_places() {
    let keep = filled();
    assert_eq!(
        keep.said(&["search", "main"]),
        "/notes.md:2: main things\n/src/main.rs:1: fn main() {}\n"
    );
    assert_eq!(
        keep.said(&["fs", "search", "-i", "todo", "src"]),
        "/src/main.rs:2: // todo: more\n"
    );
    assert_eq!(keep.said(&["search", "-F", "main()"]), "/src/main.rs:1: fn main() {}\n");
    let all = keep.said(&["search", "fn main", "--no-ignore", "--glob", "*.rs"]);
    assert_eq!(all, "/build/out.rs:1: fn main() {}\n/src/main.rs:1: fn main() {}\n");
}

#[test]
fn names_are_shown_alone() {
    let keep = filled();
    assert_eq!(keep.said(&["search", "--names", "*.md"]), "/notes.md\n");
    assert_eq!(keep.said(&["search", "--names", "main.*", "/src"]), "/src/main.rs\n");
}

#[test]
fn a_program_reads_line_by_line_and_learns_why_it_ended() {
    let keep = filled();
    let said = keep.said(&["search", "main", "--max-results", "1", "--json"]);
    let told: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [line, end] = &told[..] else { panic!("{said}") };
    assert_eq!((&line["type"], &line["path"]), (&"line".into(), &"/notes.md".into()));
    assert_eq!((&line["number"], &line["offset"]), (&2.into(), &7.into()));
    assert_eq!(line["matches"], serde_json::json!([[0, 4]]));
    assert_eq!((&end["type"], &end["reason"]), (&"end".into(), &"results".into()));
    let said = keep.said(&["search", "--names", "notes*", "--json"]);
    let entry: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!((&entry["type"], &entry["size"]), (&"entry".into(), &19.into()));
}

#[test]
fn a_search_goes_no_deeper_than_it_is_told() {
    let keep = filled();
    let flat = ["search", "main", "--max-depth", "1"];
    let output = keep.run(&flat, b"");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "/notes.md:2: main things\n");
    assert!(errors(&output).contains("raise --max-depth"), "{}", errors(&output));
    let server = keep.site.serve_store(&keep.url, &[]);
    let mut command = keep.site.sandkeep();
    command.args(flat).args(["--json", "--endpoint", server.url(), "--token", TOKEN]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let end: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&end["reason"], &end["results"]), (&"depth".into(), &1.into()), "{said}");
}

#[test]
fn people_are_told_what_they_did_not_see() {
    let keep = filled();
    let output = keep.run(&["search", "main", "--max-results", "1"], b"");
    assert!(errors(&output).contains("there is more"), "{}", errors(&output));
    let output = keep.run(&["search", "nowhere"], b"");
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(errors(&output).contains("nothing found (2 files searched"), "{}", errors(&output));
    let (code, said) = keep.fails(&["search", "("]);
    assert_eq!(code, 2);
    assert!(said.contains("the pattern cannot be used"), "{said}");
    let (code, said) = keep.fails(&["search", "x", "/none"]);
    assert_eq!(code, 3);
    assert!(said.contains("sandkeep fs"), "{said}");
}

#[test]
fn a_server_and_a_directory_are_searched_alike() {
    let keep = filled();
    let server = keep.site.serve_store(&keep.url, &[]);
    let mut command = keep.site.sandkeep();
    command.args(["search", "fn", "--endpoint", server.url(), "--token", TOKEN]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "/src/main.rs:1: fn main() {}\n", "{}", errors(&output));
    server.stop();
    let dir = keep.site.path("work/here");
    let dir = dir.to_str().unwrap();
    keep.said(&["fs", "download", "/", dir]);
    let output = keep.site.sandkeep().args(["search", "fn", "--dir", dir]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "/src/main.rs:1: fn main() {}\n", "{}", errors(&output));
}
