//! What a view refuses, whichever way one asks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, ErrorKind, FileSystem, Finding, If, Letters,
    Links, MetadataChange, NoticeKind, OpenOptions, Page, Parents, Pattern, Result, SandboxPath,
    SearchQuery, Span, Syntax, Target, Watch, WriteMode, WriteOptions, edit, search,
};

use super::{part, private, trees};
use crate::contents::{at, put, replacing};
use crate::edit::instead;

fn body() -> sandkeep_engine::ByteStream {
    stream::iter([Ok(Bytes::from_static(b"secret"))]).boxed()
}

fn archive() -> sandkeep_engine::ByteStream {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    header.set_mode(0o644);
    builder.append_data(&mut header, "file", &b"x"[..]).unwrap();
    stream::iter([Ok(Bytes::from(builder.into_inner().unwrap()))]).boxed()
}

fn appending() -> WriteOptions {
    WriteOptions { mode: WriteMode::Append, ..replacing() }
}

fn watching() -> Watch {
    Watch { recursive: true, after: None }
}

/// Everything that one can ask at a file, and what came of it. `own` is a file of the part.
async fn at_file(
    part: &dyn FileSystem,
    file: &SandboxPath,
    own: &SandboxPath,
) -> Vec<(&'static str, Result<()>)> {
    let metadata = MetadataChange { mode: Some(0o600), modified: None };
    let limits = ArchiveLimits::default();
    let (target, depth) = (Target::Replace, Depth::All);
    let write = OpenOptions::Write(Create::IfMissing);
    vec![
        ("stat", part.stat(file, Links::Follow).await.map(drop)),
        ("read", part.read(file, Span::Whole).await.map(drop)),
        ("write", part.write(file, body(), replacing()).await.map(drop)),
        ("append", part.write(file, body(), appending()).await.map(drop)),
        ("open", part.open(file, OpenOptions::Read).await.map(drop)),
        ("open to write", part.open(file, write).await.map(drop)),
        ("metadata", part.set_metadata(file, metadata).await.map(drop)),
        ("pack", part.pack(file, ArchiveFormat::Tar, limits).await.map(drop)),
        ("edit", edit(part, file, instead("secret", "x")).await.map(drop)),
        ("unpack", part.unpack(file, archive(), ArchiveFormat::Tar, limits).await.map(drop)),
        ("list", part.list(file, Page::default()).await.map(drop)),
        ("watch", part.watch(file, watching()).await.map(drop)),
        // These act on the last name itself.
        ("read link", part.read_link(&file.join("x").unwrap()).await.map(drop)),
        ("symlink", part.symlink(&file.join("x").unwrap(), "y").await.map(drop)),
        ("mkdir", part.create_dir(&file.join("x").unwrap(), Parents::Create).await.map(drop)),
        ("remove", part.remove(&file.join("canary").unwrap(), depth, If::Always).await),
        ("move", part.rename(&file.join("canary").unwrap(), own, target).await.map(drop)),
        ("move in", part.rename(own, &file.join("x").unwrap(), target).await.map(drop)),
        ("copy", part.copy(&file.join("canary").unwrap(), own, target).await.map(drop)),
        ("copy in", part.copy(own, &file.join("x").unwrap(), target).await.map(drop)),
    ]
}

#[tokio::test]
async fn what_lies_beside_a_part_cannot_be_named() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let (part, before) = (part(files), private(files).await);
        for path in ["/private", "/private/file", "/", "/par", "/party", "/part2/file"] {
            let outcomes = at_file(&*part, &at(path), &at("/part/dir/file")).await;
            for (what, outcome) in outcomes {
                let kind = outcome.map_err(|err| err.kind());
                assert_eq!(kind, Err(ErrorKind::OutsideSandbox), "{what} at {path}");
            }
        }
        assert_eq!(private(files).await, before);
    }
}

/// Each leads to what is private, if anything does.
const LINKS: [(&str, &str); 8] = [
    ("sibling", "../private"),
    ("absolute", "/private"),
    ("up", ".."),
    ("chain", "second"),
    ("second", "./dir/third"),
    ("dir/third", "../../private"),
    ("there-and-back", "../part/dir"),
    ("through", "dir/../../private/"),
];

#[tokio::test]
async fn links_that_lead_out_of_a_part_are_refused() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let (part, before) = (part(files), private(files).await);
        for (name, target) in LINKS {
            part.symlink(&at(&format!("/part/{name}")), target).await.unwrap();
        }
        for (name, _) in LINKS {
            let link = at(&format!("/part/{name}"));
            let outcomes = at_file(&*part, &link, &at("/part/dir/file")).await;
            for (what, outcome) in outcomes {
                // An archive of a link holds the link, and a host does not even look for a file
                // whose name is `..` or ends with a slash.
                let kind = outcome.map_err(|err| err.kind());
                let is_refused = kind == Err(ErrorKind::OutsideSandbox)
                    || ["up", "through"].contains(&name) && kind == Err(ErrorKind::IsADirectory);
                assert!(is_refused || what == "pack", "{what} at {name}: {kind:?}");
            }
        }
        assert_eq!(private(files).await, before);
    }
}

#[tokio::test]
async fn nothing_private_is_in_archives_and_findings_of_a_part() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let part = part(files);
        for (name, target) in LINKS {
            part.symlink(&at(&format!("/part/{name}")), target).await.unwrap();
        }
        let packed =
            part.pack(&at("/part"), ArchiveFormat::Tar, ArchiveLimits::default()).await.unwrap();
        let packed: Vec<Bytes> = packed.try_collect().await.unwrap();
        let packed = packed.concat();
        assert!(!packed.windows(6).any(|word| word == b"secret" || word == b"canary"));
        let (syntax, letters) = (Syntax::Literal, Letters::Exact);
        let pattern = Pattern { text: "secret".into(), syntax, letters, words: false };
        let query = SearchQuery { content: Some(pattern), ..SearchQuery::default() };
        let found = search(Arc::clone(&part), &at("/part"), &query).await.unwrap();
        let found: Vec<Finding> = found.try_collect().await.unwrap();
        assert!(matches!(&found[..], [Finding::End(end)] if end.results == 0), "{found:?}");
    }
}

#[tokio::test]
async fn no_link_leads_to_a_part() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        files.create_dir(&at("/private/sub"), Parents::Create).await.unwrap();
        files.symlink(&at("/link"), "private").await.unwrap();
        let before = private(files).await;
        for floor in ["/link", "/link/sub"] {
            let part = files.within(&at(floor)).unwrap();
            let [file, own] = ["file", "own"].map(|name| at(floor).join(name).unwrap());
            for (what, outcome) in at_file(&*part, &file, &own).await {
                let kind = outcome.map_err(|err| err.kind());
                assert_eq!(kind, Err(ErrorKind::OutsideSandbox), "{what} at {file}");
            }
            for (what, outcome) in at_file(&*part, &at(floor), &own).await {
                let kind = outcome.map_err(|err| err.kind()).unwrap_err();
                // That the floor stays what it is, is known without a look.
                let is_metadata = what == "metadata" && kind == ErrorKind::InvalidArgument;
                assert!(is_metadata || kind == ErrorKind::OutsideSandbox, "{what}: {kind:?}");
            }
            let itself = part.stat(&at(floor), Links::Keep).await.map_err(|err| err.kind());
            assert_eq!(itself.unwrap_err(), ErrorKind::OutsideSandbox);
        }
        assert_eq!(private(files).await, before);
    }
}

#[tokio::test]
async fn the_floor_of_a_part_stays_what_it_is() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let (part, floor, own) = (part(files), at("/part"), at("/part/dir"));
        part.symlink(&at("/part/itself"), ".").await.unwrap();
        let metadata = MetadataChange { mode: Some(0o700), modified: None };
        let before = part.stat(&floor, Links::Keep).await.unwrap();
        let outcomes = [
            part.remove(&floor, Depth::All, If::Always).await,
            part.rename(&floor, &at("/part/x"), Target::New).await.map(drop),
            part.rename(&own, &floor, Target::Replace).await.map(drop),
            part.copy(&own, &floor, Target::Merge).await.map(drop),
            part.copy(&own, &floor, Target::New).await.map(drop),
            part.symlink(&floor, "private").await.map(drop),
            part.set_metadata(&floor, metadata).await.map(drop),
            part.set_metadata(&at("/part/itself"), metadata).await.map(drop),
            part.write(&floor, body(), replacing()).await.map(drop),
        ];
        for (number, outcome) in outcomes.into_iter().enumerate() {
            assert!(outcome.is_err(), "{number}");
        }
        assert_eq!(part.stat(&floor, Links::Keep).await.unwrap().mode, before.mode);
        // Not even where nothing is yet.
        let missing = files.within(&at("/missing")).unwrap();
        missing.symlink(&at("/missing"), "private").await.unwrap_err();
    }
}

#[tokio::test]
async fn a_batch_stays_in_a_part() {
    let (trees, _dirs) = trees().await;
    // Directories take no batches.
    for files in trees.iter().take(2) {
        let (part, before) = (part(files), private(files).await);
        part.batch(vec![put("/part/a", "x"), put("/part/b", "x")]).await.unwrap();
        let link =
            sandkeep_engine::Step::Symlink { link: at("/part/out"), target: "../private".into() };
        let planted = vec![put("/part/c", "x"), link, put("/part/out/file", "x")];
        let refused = part.batch(planted).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::OutsideSandbox);
        let named = part.batch(vec![put("/part/c", "x"), put("/private/file", "x")]).await;
        assert_eq!(named.unwrap_err().kind(), ErrorKind::OutsideSandbox);
        assert!(part.stat(&at("/part/c"), Links::Keep).await.is_err(), "all of it or none");
        assert_eq!(private(files).await, before);
    }
}

#[tokio::test]
async fn a_watch_ends_where_a_link_leads_out_of_a_part() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let mut notices = part(files).watch(&at("/part/dir"), watching()).await.unwrap();
        assert_eq!(notices.try_next().await.unwrap().unwrap().kind, NoticeKind::Here);
        files.rename(&at("/part/dir"), &at("/old"), Target::New).await.unwrap();
        files.symlink(&at("/part/dir"), "../private").await.unwrap();
        let wish = WriteOptions { expected: If::Missing, ..replacing() };
        files.write(&at("/private/new"), body(), wish).await.unwrap();
        let rest = async {
            loop {
                match notices.try_next().await {
                    Ok(Some(notice)) => {
                        let told = format!("{notice:?}");
                        assert!(!told.contains("new") && !told.contains("canary"), "{told}");
                    }
                    Ok(None) => panic!("it ends without a word"),
                    Err(err) => break err.kind(),
                }
            }
        };
        let end = tokio::time::timeout(Duration::from_secs(30), rest).await.unwrap();
        assert!([ErrorKind::NotFound, ErrorKind::OutsideSandbox].contains(&end), "{end:?}");
    }
}
