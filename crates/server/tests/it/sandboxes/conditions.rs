//! Ranges, entity tags, conditions and PATCH.

use serde_json::json;

use super::{KINDS, content, put, serving};
use crate::http::ask;

#[tokio::test]
async fn a_range_is_one_part_of_the_file() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "0123456789").await;
        let part = async |range: &str| {
            let request = ask("GET", &format!("{root}/fs/f")).header("range", range);
            let answer = server.send(request).await;
            (answer.status, answer.header("content-range").map(ToOwned::to_owned), answer)
        };
        let (status, range, answer) = part("bytes=2-4").await;
        assert_eq!((status, range.as_deref(), answer.text()), (206, Some("bytes 2-4/10"), "234"));
        let (status, range, answer) = part("bytes=-3").await;
        assert_eq!((status, range.as_deref(), answer.text()), (206, Some("bytes 7-9/10"), "789"));
        let (status, range, answer) = part("bytes=10-").await;
        assert_eq!((status, range.as_deref()), (416, Some("bytes */10")), "{root}");
        answer.is_kind(416, "range_not_satisfiable");
    }
}

#[tokio::test]
async fn a_head_tells_what_a_get_would() {
    let server = serving().await;
    for root in KINDS {
        let etag = put(&server, root, "f", "0123").await.header("etag").unwrap().to_owned();
        let answer = server.send(ask("HEAD", &format!("{root}/fs/f"))).await;
        assert_eq!((answer.status, answer.header("content-length")), (200, Some("4")), "{root}");
        assert_eq!(answer.header("etag"), Some(etag.as_str()));
        assert_eq!(server.send(ask("HEAD", &format!("{root}/fs/no"))).await.status, 404);
    }
}

#[tokio::test]
async fn a_version_that_the_client_has_is_not_sent_again() {
    let server = serving().await;
    for root in KINDS {
        let etag = put(&server, root, "f", "x").await.header("etag").unwrap().to_owned();
        let request = ask("GET", &format!("{root}/fs/f")).header("if-none-match", &etag);
        assert_eq!(server.send(request).await.status, 304, "{root}");
        put(&server, root, "f", "y").await;
        let request = ask("GET", &format!("{root}/fs/f")).header("if-none-match", &etag);
        assert_eq!(server.send(request).await.text(), "y", "{root}");
    }
}

#[tokio::test]
async fn a_change_of_another_version_is_412_and_changes_nothing() {
    let server = serving().await;
    for root in KINDS {
        let etag = put(&server, root, "f", "one").await.header("etag").unwrap().to_owned();
        put(&server, root, "f", "two").await;
        let target = format!("{root}/fs/f");
        for request in [
            ask("PUT", &target).body("lost"),
            ask("PATCH", &target).header("x-append", "1").body("lost"),
            ask("DELETE", &target),
        ] {
            let answer = server.send(request.header("if-match", &etag)).await;
            answer.is_kind(412, "precondition_failed");
        }
        let request = ask("PUT", &target).header("if-none-match", "*").body("lost");
        server.send(request).await.is_kind(412, "precondition_failed");
        assert_eq!(content(&server, root, "f").await, "two", "{root}");
    }
}

#[tokio::test]
async fn a_patch_writes_a_part_or_appends() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "0123456789").await;
        let target = format!("{root}/fs/f");
        let part = ask("PATCH", &target).header("content-range", "bytes 2-4/*").body("abc");
        let answer = server.send(part).await;
        assert_eq!((answer.status, answer.header("x-size")), (204, Some("10")), "{root}");
        let more = ask("PATCH", &target).header("x-append", "1").body("!");
        assert_eq!(server.send(more).await.header("x-size"), Some("11"));
        assert_eq!(content(&server, root, "f").await, "01abc56789!", "{root}");
        server.send(ask("PATCH", &target).body("?")).await.is_kind(400, "invalid_argument");
        let total = ask("PATCH", &target).header("content-range", "bytes 0-0/99").body("x");
        server.send(total).await.is_kind(412, "precondition_failed");
    }
}

#[tokio::test]
async fn a_file_is_cut_and_lengthened() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "0123456789").await;
        let target = format!("{root}/fs-truncate/f");
        let answer = server.post_json(&target, &json!({"size": 3}).to_string()).await;
        assert_eq!((answer.status, &answer.json()["size"]), (200, &json!(3)), "{root}");
        server.post_json(&target, &json!({"size": 5}).to_string()).await;
        assert_eq!(content(&server, root, "f").await, "012\0\0", "{root}");
        let missing = format!("{root}/fs-truncate/no");
        server.post_json(&missing, "{\"size\":0}").await.is_kind(404, "not_found");
    }
}

#[tokio::test]
async fn a_mode_and_a_time_are_changed() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "x").await;
        let body = json!({"mode": "640", "modified": "1969-12-31T23:59:58.5Z"}).to_string();
        let answer = server.post_json(&format!("{root}/fs-chmod/f"), &body).await.json();
        assert_eq!(answer["mode"], "640", "{root}");
        assert_eq!(answer["modified"], "1969-12-31T23:59:58.500+00:00", "{root}");
        for wrong in [json!({"mode": "888"}), json!({"mode": "4755"}), json!({"modified": "now"})] {
            let answer = server.post_json(&format!("{root}/fs-chmod/f"), &wrong.to_string()).await;
            answer.is_kind(400, "invalid_argument");
        }
    }
}
