//! `fs-edit`: exact replacements.

use serde_json::json;

use super::{HOST, VIRTUAL, serving};
use crate::http::ask;

#[tokio::test]
async fn a_text_is_replaced_and_the_difference_is_told() {
    let server = serving().await;
    for at in [HOST, VIRTUAL] {
        server.send(ask("PUT", &format!("{at}/fs/a.txt")).body("one\r\ntwo\r\nthree\r\n")).await;
        let wish = json!({"replacements": [{"old": "two\n", "new": "2\n"}]}).to_string();
        let answer = server.post_json(&format!("{at}/fs-edit/a.txt"), &wish).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let edited = answer.json();
        assert_eq!(edited["replaced"], json!([1]));
        assert!(edited["diff"].as_str().unwrap().contains("-two"), "{edited}");
        assert_eq!(server.get(&format!("{at}/fs/a.txt")).await.text(), "one\r\n2\r\nthree\r\n");
    }
}

#[tokio::test]
async fn a_text_that_is_not_there_as_often_as_expected_changes_nothing() {
    let server = serving().await;
    server.send(ask("PUT", &format!("{VIRTUAL}/fs/a.txt")).body("x x")).await;
    let target = format!("{VIRTUAL}/fs-edit/a.txt");
    for wish in [
        json!({"replacements": [{"old": "x", "new": "y"}]}),
        json!({"replacements": [{"old": "x", "new": "y", "count": 3}]}),
        json!({"replacements": [{"old": "z", "new": "y", "all": true}]}),
        json!({"replacements": [{"old": "x", "new": "y", "all": true, "count": 2}]}),
        json!({"replacements": [{"old": "", "new": "y"}]}),
    ] {
        let answer = server.post_json(&target, &wish.to_string()).await;
        assert!((400..500).contains(&answer.status), "{wish}: {}", answer.text());
    }
    let dry = json!({"replacements": [{"old": "x", "new": "y", "all": true}], "dry_run": true});
    assert_eq!(server.post_json(&target, &dry.to_string()).await.json()["replaced"], json!([2]));
    assert_eq!(server.get(&format!("{VIRTUAL}/fs/a.txt")).await.text(), "x x");
}
