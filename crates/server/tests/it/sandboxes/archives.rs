//! Many files as one archive.

use serde_json::json;

use super::{HOST, KINDS, VIRTUAL, content, names, put, serving};
use crate::http::ask;
use crate::tar_archive::{archive, member, members};

#[tokio::test]
async fn a_tree_goes_out_as_an_archive_and_comes_in_elsewhere() {
    let server = serving().await;
    put(&server, HOST, "src/a.txt", "one").await;
    put(&server, HOST, "src/deep/b.txt", "two").await;
    let packed = server.get(&format!("{HOST}/fs-archive/src")).await;
    assert_eq!((packed.status, packed.header("content-type")), (200, Some("application/x-tar")));
    let unpacked =
        server.send(ask("POST", &format!("{VIRTUAL}/fs-archive/to")).body(packed.body)).await;
    let told = unpacked.json();
    assert_eq!((&told["entries"], &told["truncated"]), (&json!(3), &json!(false)));
    assert!(told["paths"].as_array().unwrap().contains(&json!("to/deep/b.txt")), "{told}");
    assert_eq!(content(&server, VIRTUAL, "to/deep/b.txt").await, "two");
}

#[tokio::test]
async fn one_file_is_an_archive_of_one() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "dir/f", "x").await;
        let packed = server.get(&format!("{root}/fs-archive/dir/f")).await;
        assert_eq!(members(&packed.body), [("f".to_owned(), "x".to_owned())], "{root}");
    }
}

#[tokio::test]
async fn a_hostile_or_broken_archive_leaves_nothing() {
    let server = serving().await;
    let climbing =
        [archive(&[("good", "x")])[..1024].to_vec(), member("../evil", b'0', "", b"x")].concat();
    let cut = archive(&[("good", "x"), ("more", "y")])[..1100].to_vec();
    for root in KINDS {
        for bytes in [&climbing, &cut] {
            let request = ask("POST", &format!("{root}/fs-archive")).body(bytes.clone());
            assert_eq!(server.send(request).await.status, 400, "{root}");
            assert!(names(&server, &format!("{root}/fs-list")).await.is_empty(), "{root}");
        }
    }
}

#[tokio::test]
async fn limits_of_a_request_hold_both_ways() {
    let server = serving().await;
    let bytes = archive(&[("a", "12345"), ("b", "12345")]);
    for root in KINDS {
        let small = ask("POST", &format!("{root}/fs-archive?max_bytes=9")).body(bytes.clone());
        server.send(small).await.is_kind(400, "limit_exceeded");
        assert!(names(&server, &format!("{root}/fs-list")).await.is_empty(), "{root}");
        let enough = ask("POST", &format!("{root}/fs-archive?max_bytes=10")).body(bytes.clone());
        assert_eq!(server.send(enough).await.status, 200, "{root}");
        let packed = server.get(&format!("{root}/fs-archive?max_entries=1")).await;
        packed.is_kind(400, "limit_exceeded");
    }
}
