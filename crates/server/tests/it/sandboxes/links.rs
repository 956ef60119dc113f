//! Links: followed inside the sandbox, never out of it.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{HOST, KINDS, VIRTUAL, content, delete, json_body, names, put, serving};
use crate::http::{Server, ask};

/// A server, and a file beside its directory that nobody may touch.
async fn beside_a_secret() -> (Server, tempfile::TempDir) {
    let server = serving().await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    (server, outside)
}

/// Links that lead to the secret by every way there is, with a path through each.
fn ways_out(server: &Server, outside: &std::path::Path) -> [&'static str; 5] {
    let secret = outside.join("secret");
    symlink(&secret, server.host("absolute")).unwrap();
    let up = "../".repeat(40);
    symlink(format!("{up}{}", secret.display()), server.host("relative")).unwrap();
    symlink(outside, server.host("directory")).unwrap();
    symlink("absolute", server.host("chain")).unwrap();
    symlink("chain", server.host("longer_chain")).unwrap();
    ["absolute", "relative", "directory/secret", "chain", "longer_chain"]
}

#[tokio::test]
async fn a_link_to_the_outside_is_403_for_every_method() {
    let (server, outside) = beside_a_secret().await;
    for path in ways_out(&server, outside.path()) {
        for method in ["GET", "HEAD", "PUT", "PATCH"] {
            let request = ask(method, &format!("{HOST}/fs/{path}")).body("overwritten");
            let answer = server.send(request.header("x-append", "1")).await;
            assert_eq!(answer.status, 403, "{method} {path}");
        }
        server.get(&format!("{HOST}/fs-stat/{path}")).await.is_kind(403, "outside_sandbox");
        server.get(&format!("{HOST}/fs-list/{path}")).await.is_kind(403, "outside_sandbox");
    }
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn a_link_to_the_outside_is_403_in_a_virtual_tree_too() {
    let server = serving().await;
    for target in ["/etc/passwd", "../../../../etc/passwd"] {
        let body = json!({"target": target});
        let link = json_body("PUT", &format!("{VIRTUAL}/fs-link/link"), &body);
        assert_eq!(server.send(link).await.status, 200, "{target}");
        let answer = server.get(&format!("{VIRTUAL}/fs/link")).await;
        // An absolute target is meant from the root of the tree, where nothing is.
        assert!([403, 404].contains(&answer.status), "{target}: {}", answer.text());
        delete(&server, &format!("{VIRTUAL}/fs/link")).await;
    }
}

#[tokio::test]
async fn a_directory_behind_a_link_to_the_outside_is_neither_listed_nor_filled() {
    let (server, outside) = beside_a_secret().await;
    ways_out(&server, outside.path());
    server.get(&format!("{HOST}/fs-list/directory")).await.is_kind(403, "outside_sandbox");
    let made = server.send(ask("POST", &format!("{HOST}/fs-mkdir/directory/new"))).await;
    made.is_kind(403, "outside_sandbox");
    let trip = json!({"from": "directory/secret", "to": "stolen"});
    let moved = server.post_json(&format!("{HOST}/fs-move"), &trip.to_string()).await;
    moved.is_kind(403, "outside_sandbox");
    let trip = json!({"from": "directory/secret", "to": "stolen"});
    let copied = server.post_json(&format!("{HOST}/fs-copy"), &trip.to_string()).await;
    copied.is_kind(403, "outside_sandbox");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_put_over_a_link_inside_writes_where_it_leads() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "dir/target", "old").await;
        let link =
            json_body("PUT", &format!("{root}/fs-link/link"), &json!({"target": "dir/target"}));
        assert_eq!(server.send(link).await.status, 200);
        put(&server, root, "link", "new").await;
        assert_eq!(content(&server, root, "dir/target").await, "new", "{root}");
        let link = server.get(&format!("{root}/fs-link/link")).await;
        assert_eq!(link.json(), json!({"target": "dir/target"}));
    }
}

#[tokio::test]
async fn a_removal_of_a_link_to_a_directory_leaves_the_directory() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "dir/f", "kept").await;
        let link = json_body("PUT", &format!("{root}/fs-link/link"), &json!({"target": "dir"}));
        assert_eq!(server.send(link).await.status, 200);
        assert_eq!(delete(&server, &format!("{root}/fs/link")).await, 204);
        assert_eq!(names(&server, &format!("{root}/fs-list")).await, ["dir"], "{root}");
        assert_eq!(content(&server, root, "dir/f").await, "kept");
    }
}

#[tokio::test]
async fn a_removal_of_a_link_to_the_outside_removes_the_link_alone() {
    let (server, outside) = beside_a_secret().await;
    ways_out(&server, outside.path());
    assert_eq!(delete(&server, &format!("{HOST}/fs/directory")).await, 204);
    assert!(!server.has("directory"));
    assert!(outside.path().join("secret").exists());
}

#[tokio::test]
async fn a_stat_looks_at_a_link_itself_when_it_is_told_to() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "123").await;
        let link = json_body("PUT", &format!("{root}/fs-link/link"), &json!({"target": "f"}));
        assert_eq!(server.send(link).await.json()["kind"], "symlink");
        let followed = server.get(&format!("{root}/fs-stat/link")).await.json();
        assert_eq!((&followed["kind"], &followed["size"]), (&"file".into(), &3.into()), "{root}");
        let kept = server.get(&format!("{root}/fs-stat/link?follow=false")).await.json();
        assert_eq!(kept["kind"], "symlink", "{root}");
    }
}

/// Somebody swaps a directory for a link to the outside, again and again, while it is removed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removal_never_follows_a_link_that_is_swapped_in() {
    let (server, outside) = beside_a_secret().await;
    let (dir, link) = (server.host("a/dir"), server.host("a/link"));
    std::fs::create_dir_all(&dir).unwrap();
    symlink(outside.path(), &link).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (stop, spot) = (Arc::clone(&stop), server.host("a/spot"));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                // Either may be gone: the removal takes what it finds.
                drop(std::fs::create_dir(&spot));
                drop(std::fs::write(spot.join("f"), "x"));
                drop(std::fs::rename(&spot, &dir));
                drop(symlink(&link, &spot));
                drop(std::fs::remove_file(&spot));
                drop(std::fs::rename(&dir, &spot));
            }
        })
    };
    for _ in 0..300 {
        let status = delete(&server, &format!("{HOST}/fs/a/spot")).await;
        assert!([204, 409, 503].contains(&status), "{status}");
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
}
