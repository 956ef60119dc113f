//! Keys, signed addresses, the audit, and how much one key may take.

use std::num::NonZero;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Access, Options, PerKey};

use crate::http::{Answer, Server, ask};

const TOKEN: &str = "the-token";

async fn serving() -> Server {
    furnished(Options::new(Access::Token(TOKEN.into()))).await
}

/// A server with two sandboxes, each with files.
async fn furnished(options: Options) -> Server {
    let server = Server::with(options).await;
    for id in ["mine", "other"] {
        let made = post(&server, TOKEN, "/v1/sandboxes", &json!({"id": id})).await;
        assert_eq!(made.status, 201);
        for path in ["docs/a.txt", "secret.txt"] {
            let target = format!("/v1/sandboxes/{id}/fs/{path}");
            assert_eq!(send(&server, TOKEN, "PUT", &target, "old").await.status, 204);
        }
    }
    server
}

async fn send(
    server: &Server,
    key: &str,
    method: &'static str,
    target: &str,
    body: &str,
) -> Answer {
    let ask = ask(method, target).header("authorization", &format!("Bearer {key}"));
    server.send(ask.body(body)).await
}

async fn get(server: &Server, key: &str, target: &str) -> Answer {
    send(server, key, "GET", target, "").await
}

async fn post(server: &Server, key: &str, target: &str, body: &Value) -> Answer {
    let ask = ask("POST", target)
        .header("authorization", &format!("Bearer {key}"))
        .header("content-type", "application/json");
    server.send(ask.body(body.to_string())).await
}

/// A new key, and its id.
async fn key(server: &Server, wish: Value) -> (String, String) {
    let made = post(server, TOKEN, "/v1/keys", &wish).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("key"), text("id"))
}

#[tokio::test]
async fn a_key_is_told_once_and_never_shown_again() {
    let server = serving().await;
    let (text, id) = key(&server, json!({"role": "viewer", "label": "for the page"})).await;
    assert!(text.starts_with(&format!("ask_{id}_")), "{text}");
    let secret = text.rsplit('_').next().unwrap();
    for target in ["/v1/keys", &*format!("/v1/keys/{id}"), "/v1/audit"] {
        let shown = get(&server, TOKEN, target).await;
        assert_eq!(shown.status, 200);
        assert!(!shown.text().contains(secret), "{target}");
    }
    let shown = get(&server, TOKEN, &format!("/v1/keys/{id}")).await.json();
    assert_eq!((&shown["label"], &shown["created_by"]), (&json!("for the page"), &json!("token")));
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let server = serving().await;
    let (text, id) = key(&server, json!({"role": "viewer", "sandboxes": ["mine"]})).await;
    assert_eq!(get(&server, &text, "/v1/sandboxes/mine/fs/secret.txt").await.status, 200);
    let target = format!("/v1/keys/{id}");
    assert_eq!(send(&server, TOKEN, "DELETE", &target, "").await.status, 204);
    assert_eq!(get(&server, &text, "/v1/sandboxes/mine/fs/secret.txt").await.status, 401);
    assert_eq!(send(&server, TOKEN, "DELETE", &target, "").await.status, 404);
}

#[tokio::test]
async fn a_key_ends_when_its_time_is_over() {
    let server = serving().await;
    let (text, _) = key(&server, json!({"role": "viewer", "ttl": 1})).await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(get(&server, &text, "/v1/sandboxes").await.status, 401);
}

#[tokio::test]
async fn nobody_gives_more_than_he_has() {
    let server = serving().await;
    let wish = json!({"role": "owner", "sandboxes": ["mine"], "prefix": "docs", "ttl": 1000});
    let (owner, _) = key(&server, wish).await;
    let fits = json!({"role": "developer", "sandboxes": ["mine"], "prefix": "docs/x", "ttl": 10});
    assert_eq!(post(&server, &owner, "/v1/keys", &fits).await.status, 201);
    for (field, value) in [
        ("sandboxes", json!(["mine", "other"])),
        ("sandboxes", Value::Null),
        ("prefix", json!("elsewhere")),
        ("prefix", Value::Null),
        ("ttl", json!(100_000)),
        ("ttl", Value::Null),
    ] {
        let mut wish = fits.clone();
        wish[field] = value;
        assert_eq!(post(&server, &owner, "/v1/keys", &wish).await.status, 403, "{wish}");
    }
    // Nor does he see keys that reach further.
    let (_, far) = key(&server, json!({"role": "viewer"})).await;
    assert_eq!(get(&server, &owner, &format!("/v1/keys/{far}")).await.status, 404);
    assert!(!get(&server, &owner, "/v1/keys").await.text().contains(&far));
}

#[tokio::test]
async fn nobody_gives_his_own_sandbox_more_room_or_time() {
    let server = serving().await;
    let (owner, _) = key(&server, json!({"role": "owner", "sandboxes": ["mine"]})).await;
    let (of_all, _) = key(&server, json!({"role": "owner"})).await;
    let room = json!({"limits": {"nodes": 1_000_000}});
    for (change, of_one) in
        [(room, 403), (json!({"ttl": null}), 403), (json!({"labels": {"a": "1"}}), 200)]
    {
        for (key, status) in [(&owner, of_one), (&of_all, 200)] {
            let ask = ask("PATCH", "/v1/sandboxes/mine")
                .header("authorization", &format!("Bearer {key}"))
                .header("content-type", "application/json");
            let answer = server.send(ask.body(change.to_string())).await;
            assert_eq!(answer.status, status, "{change}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn a_list_of_keys_tells_no_id_of_a_key_that_is_not_listed() {
    let server = serving().await;
    let (owner, _) = key(&server, json!({"role": "owner", "sandboxes": ["mine"]})).await;
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let sandbox = if number % 2 == 0 { "mine" } else { "other" };
        let made = key(&server, json!({"role": "viewer", "sandboxes": [sandbox]})).await.1;
        if sandbox == "mine" { own.push(made) } else { foreign.push(made) }
    }
    let (mut found, mut target) = (Vec::new(), "/v1/keys?limit=3".to_owned());
    loop {
        let page = get(&server, &owner, &target).await;
        assert!(!foreign.iter().any(|id| page.text().contains(id)), "{}", page.text());
        let page = page.json();
        found.extend(page["keys"].as_array().unwrap().iter().map(|key| key["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/keys?limit=3&cursor={cursor}");
    }
    assert_eq!(found.len(), own.len() + 1);
}

#[tokio::test]
async fn the_word_workspace_is_taken_off_the_directory_of_a_key_too() {
    let mut options = Options::new(Access::Token(TOKEN.into()));
    options.strip_workspace_prefix = true;
    let server = furnished(options).await;
    let wish = json!({"role": "developer", "sandboxes": ["mine"], "prefix": "/workspace/docs"});
    let (text, _) = key(&server, wish).await;
    for path in ["docs/a.txt", "workspace/docs/a.txt"] {
        let target = format!("/v1/sandboxes/mine/fs/{path}");
        assert_eq!(get(&server, &text, &target).await.text(), "old", "{path}");
    }
    let signed = json!({"path": "workspace/docs/a.txt"});
    let signed = post(&server, &text, "/v1/sandboxes/mine/sign", &signed).await.json();
    assert_eq!(server.get(signed["url"].as_str().unwrap()).await.text(), "old");
    assert_eq!(get(&server, &text, "/v1/sandboxes/mine/fs/workspace/secret.txt").await.status, 403);
}

#[tokio::test]
async fn a_key_for_a_directory_sees_that_directory_alone() {
    let server = serving().await;
    let wish = json!({"role": "developer", "sandboxes": ["mine"], "prefix": "docs"});
    let (text, _) = key(&server, wish).await;
    let at = |path: &str| format!("/v1/sandboxes/mine/{path}");
    assert_eq!(get(&server, &text, &at("fs/docs/a.txt")).await.text(), "old");
    assert_eq!(send(&server, &text, "PUT", &at("fs/docs/b/c.txt"), "new").await.status, 204);
    let link = json!({"target": "../secret.txt"});
    let made = ask("PUT", &at("fs-link/docs/way"))
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("content-type", "application/json");
    assert_eq!(server.send(made.body(link.to_string())).await.status, 200);
    for outside in [
        "fs/secret.txt",
        "fs/docs/way",
        "fs-list",
        "fs-list/",
        "fs-stat/secret.txt",
        "snapshots",
        "fs-archive",
        "diff?from=x",
    ] {
        let answer = get(&server, &text, &at(outside)).await;
        assert_eq!(answer.status, 403, "{outside}: {}", answer.text());
        assert!(!answer.text().contains("old"));
    }
    let trip = json!({"from": "docs/a.txt", "to": "stolen.txt"});
    assert_eq!(post(&server, &text, &at("fs-move"), &trip).await.status, 403);
    assert_eq!(get(&server, TOKEN, &at("fs/docs/a.txt")).await.status, 200);
}

#[tokio::test]
async fn a_key_for_one_sandbox_means_it_where_no_sandbox_is_named() {
    let server = serving().await;
    let (text, _) = key(&server, json!({"role": "developer", "sandboxes": ["mine"]})).await;
    let read = get(&server, &text, "/v1/fs/file?path=/secret.txt").await;
    assert_eq!((read.status, read.text()), (200, "old"));
}

#[tokio::test]
async fn a_signed_address_needs_no_key_and_allows_one_thing() {
    let server = serving().await;
    let (text, id) = key(&server, json!({"role": "developer", "sandboxes": ["mine"]})).await;
    let signed = async |wish: Value| {
        let answer = post(&server, &text, "/v1/sandboxes/mine/sign", &wish).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["url"].as_str().unwrap().to_owned()
    };
    let plain = async |method: &'static str, target: &str| {
        server.send(ask(method, target).body("new")).await.status
    };
    let read = signed(json!({"path": "docs/a.txt"})).await;
    assert_eq!(server.get(&read).await.text(), "old");
    assert_eq!(plain("PUT", &read).await, 401);
    assert_eq!(plain("GET", &read.replace("a.txt", "b.txt")).await, 403);
    assert_eq!(plain("GET", &read.replace("/mine/", "/other/")).await, 404);
    assert_eq!(plain("GET", &read.replace("/fs/", "/fs-stat/")).await, 401);
    let write = signed(json!({"path": "docs/up.txt", "access": "write"})).await;
    assert_eq!(plain("GET", &write).await, 401);
    assert_eq!(plain("PUT", &write).await, 204);
    let dir = signed(json!({"path": "docs", "directory": true})).await;
    assert_eq!(plain("GET", &dir.replace("docs/?", "docs/up.txt?")).await, 200);
    assert_eq!(plain("GET", &dir.replace("fs/docs/?", "fs-list/docs?")).await, 200);
    assert_eq!(plain("GET", &dir.replace("docs/?", "secret.txt?")).await, 403);
    let broken = format!("{}x", &read[..read.len() - 1]);
    assert_eq!(plain("GET", &broken).await, 401);
    // It ends with the key that signed it.
    send(&server, TOKEN, "DELETE", &format!("/v1/keys/{id}"), "").await;
    assert_eq!(plain("GET", &read).await, 401);
}

#[tokio::test]
async fn a_viewer_signs_no_address_to_write() {
    let server = serving().await;
    let (text, _) = key(&server, json!({"role": "viewer", "sandboxes": ["mine"]})).await;
    let wish = json!({"path": "docs/a.txt", "access": "write"});
    assert_eq!(post(&server, &text, "/v1/sandboxes/mine/sign", &wish).await.status, 403);
}

#[tokio::test]
async fn every_change_and_every_refusal_is_in_the_audit() {
    let server = serving().await;
    let (viewer, id) = key(&server, json!({"role": "viewer", "sandboxes": ["mine"]})).await;
    let target = "/v1/sandboxes/mine/fs/docs/a.txt";
    send(&server, TOKEN, "PUT", target, "private words").await;
    send(&server, &viewer, "PUT", target, "private words").await;
    get(&server, &viewer, target).await;
    let page = get(&server, TOKEN, "/v1/sandboxes/mine/audit").await;
    assert!(!page.text().contains("private words"));
    let page = page.json();
    let events = page["events"].as_array().unwrap();
    let [done, refused] = &events[events.len() - 2..] else { panic!("{events:?}") };
    assert_eq!((&done["operation"], &done["outcome"]), (&json!("write"), &json!("ok")));
    assert_eq!((&done["key"], &done["bytes"]), (&json!("token"), &json!(13)));
    assert_eq!(done["path"], "docs/a.txt");
    assert!(done["version"].is_string() && done["request"].is_string());
    assert_eq!((&refused["key"], &refused["outcome"]), (&json!(id), &json!("refused")));
    // Whoever goes on sees what came since, and nothing twice.
    let cursor = page["cursor"].as_str().unwrap().to_owned();
    send(&server, TOKEN, "DELETE", target, "").await;
    let next = get(&server, TOKEN, &format!("/v1/sandboxes/mine/audit?cursor={cursor}")).await;
    let next = next.json();
    assert_eq!(next["events"].as_array().unwrap().len(), 1);
    assert_eq!(next["events"][0]["operation"], "remove");
    server.get("/v1/sandboxes/mine/fs/docs/a.txt").await;
    let gate = get(&server, TOKEN, "/v1/audit/gate").await.json();
    assert_eq!(gate["events"][0]["sandbox"], "mine");
    let whole = get(&server, TOKEN, "/v1/audit").await.json();
    let operations: Vec<_> = whole["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["operation"].clone())
        .collect();
    assert_eq!(operations, ["create_sandbox", "create_sandbox", "create_key"]);
}

#[tokio::test]
async fn whoever_asks_too_fast_is_told_to_wait() {
    let mut options = Options::new(Access::Token(TOKEN.into()));
    options.per_key = PerKey { requests: NonZero::new(5), transfers: None };
    let server = Server::with(options).await;
    let mut refused = None;
    for _ in 0..20 {
        let answer = get(&server, TOKEN, "/v1/sandboxes").await;
        if answer.status == 429 {
            refused = Some(answer);
        }
    }
    let refused = refused.expect("nobody was told to wait");
    assert_eq!(refused.json()["kind"], "too_many_requests");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    tokio::time::sleep(Duration::from_secs(wait)).await;
    assert_eq!(get(&server, TOKEN, "/v1/sandboxes").await.status, 200);
}

#[tokio::test]
async fn a_key_has_no_more_bodies_under_way_than_it_may() {
    use tokio::io::AsyncWriteExt as _;
    let mut options = Options::new(Access::Token(TOKEN.into()));
    options.per_key = PerKey { requests: None, transfers: NonZero::new(1) };
    let server = Server::with(options).await;
    server.put("f", "x");
    let mut slow = server.connect().await;
    let head = format!(
        "PUT /v1/sandboxes/test/fs/slow HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
         content-length: 10\r\n\r\n12345"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    let other = async || get(&server, TOKEN, "/v1/sandboxes/test/fs/f").await.status;
    while other().await != 429 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(get(&server, TOKEN, "/v1/sandboxes/test/fs-stat/f").await.status, 200);
    slow.write_all(b"67890").await.unwrap();
    while other().await == 429 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
