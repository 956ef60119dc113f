//! Names and lines that are looked for are found, on every kind of tree, and nothing else is.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use sandkeep_engine::{
    Durability, ErrorKind, FileSystem, Finding, FoundLine, HostFs, HostOptions, Letters, Limits,
    Mounts, Pattern, SearchBudget, SearchEnd, SearchQuery, SearchSummary, Syntax, search,
};

use crate::contents::{at, write};
use crate::fixture::{memory, noise, refusal, stored};

/// A tree in memory, one of objects, and a directory, which lasts as long as what comes with it.
async fn trees() -> (Vec<Arc<dyn FileSystem>>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: Vec::new(),
    };
    let host = HostFs::open(dir.path(), options).unwrap();
    (vec![Arc::new(memory().await), Arc::new(stored().await), Arc::new(host)], dir)
}

fn lines(text: &str) -> SearchQuery {
    let (syntax, letters) = (Syntax::Regex, Letters::Exact);
    let pattern = Pattern { text: text.into(), syntax, letters, words: false };
    SearchQuery { content: Some(pattern), ..SearchQuery::default() }
}

fn names(glob: &str) -> SearchQuery {
    SearchQuery { names: Some(glob.into()), ..SearchQuery::default() }
}

fn pattern(query: &mut SearchQuery) -> &mut Pattern {
    query.content.as_mut().unwrap()
}

/// What is found at a path and beneath, as `path` or `path:line:text`, and how it ended.
async fn found(
    files: &Arc<dyn FileSystem>,
    path: &str,
    query: &SearchQuery,
) -> (Vec<String>, SearchSummary) {
    let findings = search(Arc::clone(files), &at(path), query).await.unwrap();
    let mut findings: Vec<_> = findings.try_collect().await.unwrap();
    let Some(Finding::End(summary)) = findings.pop() else { panic!("it has no end") };
    let told = findings.into_iter().map(|finding| match finding {
        Finding::Entry(entry) => entry.path.to_string(),
        Finding::Line(FoundLine { path, number, text, .. }) => format!("{path}:{number}:{text}"),
        Finding::End(_) => panic!("it ends twice"),
    });
    let told: Vec<_> = told.collect();
    assert_eq!(summary.results, told.len() as u64);
    (told, summary)
}

#[tokio::test]
async fn lines_are_found_in_the_order_of_the_tree() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        write(&**files, "/src/b.rs", "one\nfn two() {}\r\nthree fn\n").await;
        write(&**files, "/src/a/x.rs", "fn").await;
        write(&**files, "/z.txt", "no\n").await;
        let (told, summary) = found(files, "/", &lines("fn")).await;
        assert_eq!(told, ["/src/a/x.rs:1:fn", "/src/b.rs:2:fn two() {}", "/src/b.rs:3:three fn"]);
        let SearchSummary { end, files: count, bytes, .. } = summary;
        assert_eq!((end, count, bytes), (SearchEnd::Complete, 3, 4 + 13 + 9 + 2 + 3));
        let (told, _) = found(files, "/src/b.rs", &lines("^one$")).await;
        assert_eq!(told, ["/src/b.rs:1:one"]);
    }
}

#[tokio::test]
async fn a_line_says_where_it_is_and_what_in_it_matches() {
    let files: Arc<dyn FileSystem> = Arc::new(memory().await);
    write(&*files, "/a", "first\nab é ab\n").await;
    let findings = search(Arc::clone(&files), &at("/"), &lines("ab")).await.unwrap();
    let findings: Vec<_> = findings.try_collect().await.unwrap();
    let Finding::Line(line) = &findings[0] else { panic!("{findings:?}") };
    assert_eq!((line.number, line.offset, line.is_cut), (2, 6, false));
    assert_eq!(line.matches, [0..2, 6..8]);
}

#[tokio::test]
async fn a_pattern_means_what_it_is_said_to_mean() {
    let files: Arc<dyn FileSystem> = Arc::new(memory().await);
    write(&*files, "/a", "a.b\naXb\nA.B\na.bc\n").await;
    let told = async |change: fn(&mut Pattern)| {
        let mut query = lines("a.b");
        change(pattern(&mut query));
        let (told, _) = found(&files, "/", &query).await;
        told.iter().map(|line| line.rsplit(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(|_| ()).await, ["a.b", "aXb", "a.bc"]);
    assert_eq!(told(|it| it.syntax = Syntax::Literal).await, ["a.b", "a.bc"]);
    assert_eq!(told(|it| it.letters = Letters::Alike).await, ["a.b", "aXb", "A.B", "a.bc"]);
    assert_eq!(told(|it| it.letters = Letters::Smart).await, ["a.b", "aXb", "A.B", "a.bc"]);
    assert_eq!(told(|it| it.words = true).await, ["a.b", "aXb"]);
    let capital = told(|it| (it.letters, it.text) = (Letters::Smart, "A.b".into())).await;
    assert_eq!(capital, [""; 0]);
}

#[tokio::test]
async fn names_are_found_by_globs() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        for path in ["/src/main.rs", "/src/deep/er/mod.rs", "/readme.md", "/src/.hidden.rs"] {
            write(&**files, path, "x").await;
        }
        let told = async |path, glob| found(files, path, &names(glob)).await.0;
        assert_eq!(told("/", "*.rs").await, ["/src/deep/er/mod.rs", "/src/main.rs"]);
        assert_eq!(told("/", "src/*.rs").await, ["/src/main.rs"]);
        assert_eq!(told("/src", "**/*.rs").await, ["/src/deep/er/mod.rs", "/src/main.rs"]);
        assert_eq!(told("/", "{readme,main}.*").await, ["/readme.md", "/src/main.rs"]);
        assert_eq!(told("/", "deep").await, ["/src/deep"]);
        let hidden = SearchQuery { hidden: true, ..names("*.rs") };
        let (told, _) = found(files, "/", &hidden).await;
        assert_eq!(told, ["/src/.hidden.rs", "/src/deep/er/mod.rs", "/src/main.rs"]);
        let both = SearchQuery { names: Some("m*.rs".into()), ..lines("x") };
        let (told, summary) = found(files, "/", &both).await;
        assert_eq!(told, ["/src/deep/er/mod.rs:1:x", "/src/main.rs:1:x"]);
        assert_eq!(summary.files, 2, "other files are not read");
    }
}

#[tokio::test]
async fn ignore_files_are_heeded_when_that_is_wanted() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        let texts = [
            ("/.gitignore", "target/\n*.log\n# a comment\n!kept.log\n"),
            ("/.git/config", "x"),
            ("/target/out", "x"),
            ("/a.log", "x"),
            ("/kept.log", "x"),
            ("/src/.ignore", "*.tmp\n!/a.log\n"),
            ("/src/a.log", "x"),
            ("/src/b.tmp", "x"),
            ("/src/deep/a.log", "x"),
            ("/src/c.rs", "x"),
        ];
        for (path, text) in texts {
            write(&**files, path, text).await;
        }
        let heeding = SearchQuery { heed_ignore_files: true, hidden: true, ..lines("^x$") };
        let (told, _) = found(files, "/", &heeding).await;
        assert_eq!(told, ["/kept.log:1:x", "/src/a.log:1:x", "/src/c.rs:1:x"]);
        let (told, _) = found(files, "/src/deep", &heeding).await;
        assert_eq!(told, [""; 0], "what is said above counts beneath");
        let (told, _) = found(files, "/src/deep/a.log", &heeding).await;
        assert_eq!(told, ["/src/deep/a.log:1:x"], "whoever names a file means it");
        let (told, _) = found(files, "/", &SearchQuery { hidden: true, ..lines("^x$") }).await;
        assert_eq!(told.len(), 8);
    }
}

#[tokio::test]
async fn what_is_no_text_is_left_out_and_links_are_not_followed() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        write(&**files, "/binary", &b"needle\n\0"[..]).await;
        write(&**files, "/long", [b"needle".repeat(1 << 20), noise(1 << 20)].concat()).await;
        write(&**files, "/utf16", &b"\xff\xfen\0e\0e\0d\0l\0e\0"[..]).await;
        write(&**files, "/latin", &b"needle \xe9\n"[..]).await;
        files.symlink(&at("/link"), "latin").await.unwrap();
        files.symlink(&at("/loop"), ".").await.unwrap();
        let (told, summary) = found(files, "/", &lines("needle")).await;
        assert_eq!(told, ["/latin:1:needle \u{fffd}", "/utf16:1:needle"]);
        assert_eq!((summary.binary, summary.files), (2, 2));
    }
}

#[tokio::test]
async fn a_large_file_is_searched_to_its_end() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        let mut text = "hay\n".repeat(500_000);
        text.push_str("needle\n");
        write(&**files, "/large", text.clone()).await;
        let (told, summary) = found(files, "/", &lines("needle")).await;
        assert_eq!(told, ["/large:500001:needle"]);
        assert_eq!(summary.bytes, text.len() as u64);
    }
}

#[tokio::test]
async fn a_search_says_why_it_ended() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        for number in 0..10 {
            write(&**files, &format!("/{number}"), "x\n".repeat(10)).await;
        }
        let ended = async |budget| {
            let query = SearchQuery { budget, ..lines("x") };
            let (told, summary) = found(files, "/", &query).await;
            (told.len(), summary.end)
        };
        let usual = SearchBudget::default();
        assert_eq!(ended(usual).await, (100, SearchEnd::Complete));
        assert_eq!(ended(SearchBudget { results: 100, ..usual }).await, (100, SearchEnd::Complete));
        assert_eq!(ended(SearchBudget { results: 99, ..usual }).await, (99, SearchEnd::Results));
        assert_eq!(ended(SearchBudget { results: 5, ..usual }).await, (5, SearchEnd::Results));
        assert_eq!(ended(SearchBudget { bytes: 60, ..usual }).await, (30, SearchEnd::Bytes));
        assert_eq!(ended(SearchBudget { bytes: 5, ..usual }).await, (3, SearchEnd::Bytes));
        let late = SearchBudget { time: Duration::ZERO, ..usual };
        assert_eq!(ended(late).await.1, SearchEnd::Time);
        let few = SearchQuery { budget: SearchBudget { results: 3, ..usual }, ..names("*") };
        let (told, summary) = found(files, "/", &few).await;
        assert_eq!((told.len(), summary.end), (3, SearchEnd::Results));
    }
}

#[tokio::test]
async fn what_lies_too_deep_is_not_searched_and_that_is_told() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        for file in ["/a.txt", "/d/b.txt", "/d/e/c.txt", "/.hidden/x/c.txt"] {
            write(&**files, file, "x\n").await;
        }
        let looked = async |path: &str, depth, query: SearchQuery| {
            let (told, summary) =
                found(files, path, &SearchQuery { depth: Some(depth), ..query }).await;
            (told, summary.end)
        };
        let (told, end) = looked("/", 1, lines("x")).await;
        assert_eq!((told.as_slice(), end), (&["/a.txt:1:x".to_owned()][..], SearchEnd::Depth));
        let (told, end) = looked("/", 2, names("*.txt")).await;
        assert_eq!((told.len(), end), (2, SearchEnd::Depth));
        // From where it begins on; and where nothing lies deeper it is complete.
        let (told, end) = looked("/d", 2, lines("x")).await;
        assert_eq!((told.len(), end), (2, SearchEnd::Complete));
        let (told, end) = looked("/", 3, names("*.txt")).await;
        assert_eq!((told.len(), end), (3, SearchEnd::Complete));
        let (told, end) = looked("/a.txt", 1, lines("x")).await;
        assert_eq!((told.len(), end), (1, SearchEnd::Complete));
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let files: Arc<dyn FileSystem> = Arc::new(memory().await);
    let refused = async |path, query| {
        refusal(async { search(Arc::clone(&files), &at(path), &query).await.map(drop) }).await
    };
    assert_eq!(refused("/", lines("(")).await, ErrorKind::InvalidArgument);
    assert_eq!(refused("/", lines("a{1000}{1000}{1000}")).await, ErrorKind::InvalidArgument);
    assert_eq!(refused("/", lines("a\nb")).await, ErrorKind::InvalidArgument);
    assert_eq!(refused("/", names("[")).await, ErrorKind::InvalidArgument);
    assert_eq!(refused("/none", lines("x")).await, ErrorKind::NotFound);
}
