//! Names that need escaping come back as they went.

use serde_json::json;

use super::{KINDS, content, delete, fields, put, serving};
use crate::http::encoded;

const ODD: [&str; 9] =
    ["a b", "100%", "#1", "what?", "你好", "two\nlines", "-delete", r"back\slash", "a&b=c+d;e"];

#[tokio::test]
async fn odd_names_come_back_as_they_went() {
    let server = serving().await;
    for root in KINDS {
        for name in ODD {
            put(&server, root, &encoded(name), name).await;
            assert_eq!(content(&server, root, &encoded(name)).await, name, "{root}");
            let stat = server.get(&format!("{root}/fs-stat/{}", encoded(name))).await.json();
            assert_eq!((&stat["name"], &stat["path"]), (&json!(name), &json!(name)), "{root}");
        }
        let mut expected = ODD.map(ToOwned::to_owned);
        expected.sort();
        let listing = server.get(&format!("{root}/fs-list")).await;
        assert_eq!(fields(&listing, "name"), expected, "{root}");
        for name in ODD {
            assert_eq!(delete(&server, &format!("{root}/fs/{}", encoded(name))).await, 204);
        }
        let listing = server.get(&format!("{root}/fs-list")).await.json();
        assert_eq!(listing["total"], 0, "{root}");
    }
}

#[tokio::test]
async fn an_odd_directory_holds_odd_files() {
    let server = serving().await;
    for root in KINDS {
        let path = format!("{}/{}", encoded("d %2e#"), encoded("你\n?"));
        put(&server, root, &path, "x").await;
        let listing = server.get(&format!("{root}/fs-list/{}", encoded("d %2e#"))).await;
        assert_eq!(fields(&listing, "name"), ["你\n?"], "{root}");
    }
}

#[tokio::test]
async fn an_escaped_path_is_unescaped_once() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "%252e%252e", "not the parent").await;
        let listing = server.get(&format!("{root}/fs-list")).await;
        assert_eq!(fields(&listing, "name"), ["%2e%2e"], "{root}");
    }
}

#[tokio::test]
async fn what_cannot_be_a_path_is_400() {
    let server = serving().await;
    let long = "x".repeat(256);
    for root in KINDS {
        for path in ["%", "%zz", "%ff", "a%00b", &long] {
            server.get(&format!("{root}/fs/{path}")).await.is_kind(400, "invalid_path");
        }
    }
}
