//! Every change and every refusal is written down: every operation of the interface, whatever comes
//! of it.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Access, Options, PerKey};

use crate::http::{Answer, Ask, ask};
use crate::roles::{Body, Case, Needs, Role, TOKEN, World, cases, operations};

/// What each operation is called in the audit. What answers everybody is not in it.
const NAMES: &[(&str, &str)] = &[
    ("health", "health"),
    ("metrics", "metrics"),
    ("createSession", "open_session"),
    ("tellAgent", "tell_agent"),
    ("hearAgent", "hear_agent"),
    ("listAgents", "list_agents"),
    ("closeAgent", "close_agent"),
    ("agentHealth", "health"),
    ("callAgentMethod", "call"),
    ("listenToAgent", "listen"),
    ("closeAgentConnection", "close_connection"),
    ("readAgentFile", "read"),
    ("headAgentFile", "read"),
    ("writeAgentFile", "write"),
    ("uploadAgentBatch", "unpack"),
    ("listEntries", "list"),
    ("readFile", "read"),
    ("headFile", "read"),
    ("stat", "stat"),
    ("downloadBatch", "pack"),
    ("writeFile", "write"),
    ("patchFile", "write"),
    ("deleteEntry", "remove"),
    ("makeDirectory", "create_dir"),
    ("move", "rename"),
    ("copy", "copy"),
    ("uploadBatch", "unpack"),
    ("readSandboxFile", "read"),
    ("headSandboxFile", "read"),
    ("writeSandboxFile", "write"),
    ("patchSandboxFile", "write"),
    ("deleteSandboxEntry", "remove"),
    ("truncateSandboxFile", "truncate"),
    ("listSandboxDirectory", "list"),
    ("statSandboxEntry", "stat"),
    ("makeSandboxDirectory", "create_dir"),
    ("readSandboxLink", "read_link"),
    ("makeSandboxLink", "symlink"),
    ("changeSandboxMode", "set_metadata"),
    ("moveSandboxEntry", "rename"),
    ("copySandboxEntry", "copy"),
    ("batchSandboxChanges", "batch"),
    ("packSandboxEntry", "pack"),
    ("unpackSandboxArchive", "unpack"),
    ("searchSandbox", "search"),
    ("editSandboxFile", "edit"),
    ("watchSandbox", "watch"),
    ("createSandbox", "create_sandbox"),
    ("listSandboxes", "list_sandboxes"),
    ("getSandbox", "show_sandbox"),
    ("changeSandbox", "change_sandbox"),
    ("deleteSandbox", "remove_sandbox"),
    ("sandboxStats", "usage"),
    ("listSnapshots", "list_snapshots"),
    ("createSnapshot", "snapshot"),
    ("getSnapshot", "stat_snapshot"),
    ("deleteSnapshot", "delete_snapshot"),
    ("restoreSnapshot", "restore"),
    ("exportSnapshot", "export"),
    ("exportSandbox", "export"),
    ("importSnapshot", "import"),
    ("diffSandbox", "diff"),
    ("forkSandbox", "fork_sandbox"),
    ("signAddress", "sign"),
    ("sandboxAudit", "read_audit"),
    ("serverAudit", "read_audit"),
    ("gateAudit", "read_audit"),
    ("createKey", "create_key"),
    ("listKeys", "list_keys"),
    ("getKey", "show_key"),
    ("revokeKey", "revoke_key"),
    ("listTools", "list_tools"),
    ("getTool", "show_tool"),
    ("callTool", "call_tool"),
    ("sayByMcp", "mcp_call"),
    ("listenByMcp", "mcp_listen"),
    ("closeMcpSession", "mcp_close"),
];

/// What an operation leaves in the audit when it was done; nothing if it changes nothing. A version
/// is told as `true`, and what was just made as `MADE`.
fn left_by(operation: &str) -> Vec<Value> {
    let written = |path: &str, bytes: u64| json!({"operation": "write", "path": path, "bytes": bytes, "version": true});
    let at = |word: &str, path: &str| json!({"operation": word, "path": path, "version": true});
    let trip = |word: &str| json!({"operation": word, "path": "moved.txt", "from": "f.txt", "version": true});
    let kept = |word: &str, id: &str| json!({"operation": word, "path": ".", "subject": id});
    match operation {
        "writeFile" | "writeSandboxFile" | "writeAgentFile" => vec![written("w.txt", 1)],
        "callTool" => vec![written("tool.txt", 4)],
        "patchFile" | "patchSandboxFile" => vec![written("f.txt", 1)],
        "deleteEntry" | "deleteSandboxEntry" => {
            vec![json!({"operation": "remove", "path": "f.txt"})]
        }
        "makeDirectory" | "makeSandboxDirectory" => vec![at("create_dir", "made")],
        "makeSandboxLink" => vec![at("symlink", "new-link")],
        "move" | "moveSandboxEntry" => vec![trip("rename")],
        "copy" | "copySandboxEntry" => vec![trip("copy")],
        "uploadBatch" | "unpackSandboxArchive" | "uploadAgentBatch" => {
            vec![json!({"operation": "unpack", "path": "up", "count": 0})]
        }
        "truncateSandboxFile" => vec![at("truncate", "f.txt")],
        "changeSandboxMode" => vec![at("set_metadata", "f.txt")],
        "batchSandboxChanges" => vec![
            written("batch.txt", 1),
            json!({"operation": "batch", "path": ".", "bytes": 1, "count": 1}),
        ],
        "editSandboxFile" => {
            vec![json!({"operation": "edit", "path": "f.txt", "bytes": 3, "version": true})]
        }
        "createSandbox" => vec![json!({"operation": "create_sandbox", "sandbox": "MADE"})],
        "changeSandbox" => vec![json!({"operation": "change_sandbox"})],
        "deleteSandbox" => vec![json!({"operation": "remove_sandbox"})],
        "createSnapshot" => vec![kept("snapshot", "MADE")],
        "deleteSnapshot" => vec![kept("delete_snapshot", "s1")],
        "restoreSnapshot" => vec![kept("restore", "s1")],
        "importSnapshot" => vec![kept("import", "MADE")],
        "forkSandbox" => {
            vec![json!({"operation": "fork_sandbox", "sandbox": "MADE", "subject": "mine"})]
        }
        "signAddress" => vec![json!({"operation": "sign", "path": "f.txt"})],
        "createKey" => vec![json!({"operation": "create_key", "subject": "MADE"})],
        "revokeKey" => vec![json!({"operation": "revoke_key", "subject": "VICTIM"})],
        _ => vec![],
    }
}

/// A key, and its id.
#[derive(Clone)]
struct Holder {
    key: String,
    id: String,
}

/// A world whose logs are read as they grow.
struct Court {
    world: World,
    /// Where each log was read to.
    cursors: Vec<(&'static str, Option<String>)>,
    requests: u32,
}

impl Court {
    async fn new(options: Options) -> Self {
        let logs = ["/v1/sandboxes/mine/audit", "/v1/audit", "/v1/audit/gate"];
        let world = World::with(options).await;
        let mut court = Self { world, cursors: logs.map(|log| (log, None)).to_vec(), requests: 0 };
        court.news().await;
        court
    }

    async fn holder(&self, wish: Value) -> Holder {
        let made = self.world.as_owner("POST", "/v1/keys", &wish).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let text = |field: &str| made.json()[field].as_str().unwrap().to_owned();
        Holder { key: text("key"), id: text("id") }
    }

    /// What came into each log since this was last asked.
    async fn news(&mut self) -> Vec<(&'static str, Value)> {
        let mut news = Vec::new();
        for (log, cursor) in &mut self.cursors {
            loop {
                let after = cursor.as_ref().map(|it| format!("&cursor={it}")).unwrap_or_default();
                let target = format!("{log}?limit=1000{after}");
                let ask = ask("GET", &target).header("authorization", &format!("Bearer {TOKEN}"));
                let page = self.world.server.send(ask).await;
                assert_eq!(page.status, 200, "{}", page.text());
                let page = page.json();
                let events = page["events"].as_array().unwrap();
                news.extend(events.iter().map(|event| (*log, event.clone())));
                *cursor = page["cursor"].as_str().map(ToOwned::to_owned);
                if page["more"] == false {
                    break;
                }
            }
        }
        news
    }

    /// Sends a request; gives the answer, and each event that it left with the log it was first
    /// found in.
    async fn try_out(
        &mut self,
        request: Ask,
        by: Option<&Holder>,
    ) -> (Answer, Vec<(&'static str, Value)>) {
        self.requests += 1;
        let name = format!("request-{}", self.requests);
        let mut request = request.header("x-request-id", &name);
        if let Some(holder) = by {
            request = request.header("authorization", &format!("Bearer {}", holder.key));
        }
        let answer = self.world.server.send(request).await;
        let mut found: Vec<(&'static str, Value)> = Vec::new();
        for (log, event) in self.news().await {
            if event["request"] == *name && !found.iter().any(|(_, known)| *known == event) {
                found.push((log, event));
            }
        }
        (answer, found)
    }

    fn request(&self, case: &Case, target: &str) -> Ask {
        let (_, method, path) = operation(case);
        self.world.request(case, method, &path, target)
    }
}

fn operation(case: &Case) -> (String, &'static str, String) {
    operations().into_iter().find(|(id, ..)| id == case.operation).expect(case.operation)
}

/// The operations that ask who is there.
fn guarded() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.needs != Needs::Nothing)
}

fn name(case: &Case) -> &'static str {
    let known = NAMES.iter().find(|(operation, _)| *operation == case.operation);
    known.map(|(_, name)| *name).expect(case.operation)
}

fn token() -> Options {
    Options::new(Access::Token(TOKEN.into()))
}

fn is_everywhere(needs: Needs) -> bool {
    matches!(needs, Needs::Everywhere(_) | Needs::InsideEverywhere(_))
}

/// An event without what differs each time.
fn plain(event: &Value, made: &str, victim: &str) -> Value {
    let mut event = event.as_object().unwrap().clone();
    for field in ["time", "request", "key", "outcome"] {
        event.remove(field);
    }
    if event.contains_key("version") {
        event.insert("version".into(), json!(true));
    }
    for value in event.values_mut() {
        for (id, word) in [(made, "MADE"), (victim, "VICTIM")] {
            if !id.is_empty() && value == id {
                *value = json!(word);
            }
        }
    }
    // Whatever names no other sandbox is about this one.
    if event.get("sandbox") == Some(&json!("mine")) {
        event.remove("sandbox");
    }
    event.into()
}

#[test]
fn no_operation_is_missing() {
    let named: BTreeSet<_> = NAMES.iter().map(|(operation, _)| (*operation).to_owned()).collect();
    let open = cases().into_iter().filter(|case| case.needs == Needs::Nothing);
    let open: BTreeSet<_> = open.map(|case| case.operation.to_owned()).collect();
    let there: BTreeSet<_> = operations().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(named, there.difference(&open).cloned().collect());
    // Whatever is no look, and no search, leaves something behind.
    for (id, method, _) in operations() {
        let looks = ["GET", "HEAD"].contains(&method)
            || [
                "searchSandbox",
                "createSession",
                "tellAgent",
                "closeAgent",
                "callAgentMethod",
                "closeAgentConnection",
                "sayByMcp",
                "closeMcpSession",
            ]
            .contains(&id.as_str());
        assert_eq!(left_by(&id).is_empty(), looks, "{id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_leaves_its_event_and_no_look_does() {
    let mut court = Court::new(token()).await;
    let tied = court.holder(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    let all = court.holder(json!({"role": "owner"})).await;
    let wish = json!({"role": "viewer", "sandboxes": ["mine"]});
    let victim = court.holder(wish).await;
    court.world.key = victim.id.clone();
    let stream =
        ask("GET", "/v1/sandboxes/mine/export").header("authorization", &format!("Bearer {TOKEN}"));
    let stream = court.world.server.send(stream).await.body;
    for case in guarded() {
        let by = if is_everywhere(case.needs) { &all } else { &tied };
        let request = court.request(&case, "mine");
        let request = match case.operation {
            "importSnapshot" => request.body(stream.clone()),
            _ => request,
        };
        let (answer, events) = court.try_out(request, Some(by)).await;
        // Nobody can guess what a session is called.
        let is_nameless = ["listenByMcp", "closeMcpSession"].contains(&case.operation);
        let expected = if is_nameless { 400..401 } else { 200..300 };
        let is_so = expected.contains(&answer.status);
        assert!(is_so, "{}: {} {}", case.operation, answer.status, answer.text());
        let made = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
        let made = made["id"].as_str().filter(|_| answer.status == 201).unwrap_or_default();
        let found: Vec<_> =
            events.iter().map(|(_, event)| plain(event, made, &victim.id)).collect();
        assert_eq!(found, left_by(case.operation), "{}", case.operation);
        for (_, event) in &events {
            assert_eq!((&event["outcome"], &event["key"]), (&json!("ok"), &json!(by.id)));
        }
        // The last tells the version that the client was told.
        let told = answer.header("etag").map(|tag| tag.trim_matches('"'));
        if let (Some(told), Some((_, event))) = (told, events.last()) {
            assert_eq!(event["version"], told, "{}", case.operation);
        }
        if !events.is_empty() {
            court.world.furnish().await;
            let moved = "/v1/sandboxes/mine/fs/moved.txt";
            court.world.as_owner("DELETE", moved, &Value::Null).await;
        }
    }
}

/// That a request was refused, and that this was written down once, in this log and with this reason.
fn check(
    case: &Case,
    answer: &Answer,
    events: &[(&'static str, Value)],
    expected: (u16, &str, &str),
) -> Value {
    let (status, log, reason) = expected;
    let operation = case.operation;
    assert_eq!(answer.status, status, "{operation}: {}", answer.text());
    assert_eq!(events.len(), 1, "{operation}: {events:?}");
    let (found, event) = &events[0];
    assert!(found.ends_with(log), "{operation}: in {found}");
    assert_eq!(event["operation"], name(case), "{operation}");
    assert_eq!(event["outcome"], "refused", "{operation}");
    let told = event["reason"].as_str().unwrap();
    assert!(told.contains(reason), "{operation}: {told}");
    event.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stranger_is_written_down() {
    let mut court = Court::new(token()).await;
    for case in guarded() {
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, None).await;
        let event = check(&case, &answer, &events, (401, "/gate", "missing or invalid bearer"));
        assert!(event.get("key").is_none());
        let (_, _, path) = operation(&case);
        let names = case.names_sandbox(&path);
        assert_eq!(event["sandbox"], if names { json!("mine") } else { Value::Null });
        let place = case.path.split('?').next().unwrap();
        if path.ends_with("{path}") && !place.is_empty() {
            assert_eq!(event["path"], place, "{}", case.operation);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_too_small_a_role_is_written_down() {
    let mut court = Court::new(token()).await;
    let viewer = court.holder(json!({"role": "viewer", "sandboxes": ["mine"]})).await;
    let mut refused = 0;
    for case in guarded() {
        let needs_more = match case.needs {
            Needs::Own(role) | Needs::Inside(role) => role > Role::Viewer,
            Needs::Everywhere(_) | Needs::InsideEverywhere(_) => true,
            Needs::Key => case.operation.ends_with("Key") || case.operation == "listKeys",
            Needs::Nothing => false,
        };
        if !needs_more {
            continue;
        }
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, Some(&viewer)).await;
        let inside = matches!(case.needs, Needs::Own(_) | Needs::Inside(_))
            || case.operation == "forkSandbox";
        let deed = ["changeSandbox", "deleteSandbox"].contains(&case.operation);
        let log = if inside || deed { "/mine/audit" } else { "/v1/audit" };
        let event = check(&case, &answer, &events, (403, log, ""));
        assert_eq!(event["key"], *viewer.id, "{}", case.operation);
        refused += 1;
    }
    assert!(refused > 30, "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_for_a_sandbox_that_he_may_not_see_is_written_down() {
    let mut court = Court::new(token()).await;
    let tied = court.holder(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    for case in guarded() {
        let (_, _, path) = operation(&case);
        if !case.names_sandbox(&path) {
            continue;
        }
        let request = court.request(&case, "other");
        let (answer, events) = court.try_out(request, Some(&tied)).await;
        let event = check(&case, &answer, &events, (404, "/gate", "may not see the sandbox"));
        assert_eq!((&event["key"], &event["sandbox"]), (&json!(tied.id), &json!("other")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_climbs_is_written_down_with_what_he_spelled() {
    let mut court = Court::new(token()).await;
    let tied = court.holder(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    for mut case in guarded() {
        let (_, _, path) = operation(&case);
        let (status, spelled, reason) = if path.ends_with("{path}") {
            case.path = "a/%2e%2e/../b";
            (403, "a/../../b", "`..` is not allowed")
        } else if case.path.contains("?path=") {
            case.path = "?path=../b";
            (400, "../b", "invalid relative path")
        } else {
            continue;
        };
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, Some(&tied)).await;
        let event = check(&case, &answer, &events, (status, "/mine/audit", reason));
        assert_eq!((&event["key"], &event["subject"]), (&json!(tied.id), &json!(spelled)));
    }
    let bodies = [
        ("moveSandboxEntry", json!({"from": "f.txt", "to": "../g"})),
        ("copySandboxEntry", json!({"from": "../f.txt", "to": "g"})),
        ("batchSandboxChanges", json!([{"op": "mkdir", "path": "../d"}])),
        ("restoreSnapshot", json!({"path": "../d"})),
        ("signAddress", json!({"path": "../d"})),
    ];
    for (operation, body) in bodies {
        let mut case = guarded().find(|case| case.operation == operation).unwrap();
        case.body = Body::Json(body);
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, Some(&tied)).await;
        check(&case, &answer, &events, (403, "/mine/audit", "`..` is not allowed"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_a_key_for_a_directory_and_wants_more_is_written_down() {
    let mut court = Court::new(token()).await;
    let wish = json!({"role": "owner", "sandboxes": ["mine"], "prefix": "docs"});
    let tied = court.holder(wish).await;
    let mut refused = 0;
    for case in guarded() {
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, Some(&tied)).await;
        if answer.status != 403 {
            continue;
        }
        let outside = is_everywhere(case.needs) && case.operation != "forkSandbox";
        let log =
            if outside || case.operation.ends_with("Key") { "/v1/audit" } else { "/mine/audit" };
        let event = check(&case, &answer, &events, (403, log, ""));
        assert_eq!(event["key"], *tied.id);
        refused += 1;
    }
    assert!(refused > 30, "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_uses_a_signed_address_for_something_else_is_written_down() {
    let mut court = Court::new(token()).await;
    let signer = court.holder(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    let sign = async |court: &Court, wish: Value| {
        let ask = ask("POST", "/v1/sandboxes/mine/sign")
            .header("authorization", &format!("Bearer {}", signer.key))
            .header("content-type", "application/json");
        let signed = court.world.server.send(ask.body(wish.to_string())).await;
        signed.json()["signed"].as_str().unwrap().to_owned()
    };
    let read = sign(&court, json!({"path": "docs", "directory": true})).await;
    let write = sign(&court, json!({"path": "docs/up", "access": "write"})).await;
    for case in guarded() {
        let (_, method, path) = operation(&case);
        let signed = if ["PUT", "PATCH"].contains(&method) { &write } else { &read };
        let query = if case.path.contains('?') { '&' } else { '?' };
        let case = Case {
            path: Box::leak(format!("{}{query}signed={signed}", case.path).into_boxed_str()),
            ..case
        };
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, None).await;
        let is_bytes = path.contains("/fs/{path}") && method != "DELETE";
        if is_bytes || case.operation == "listSandboxDirectory" {
            let expected = (403, "/mine/audit", "the signed address is for another path");
            let event = check(&case, &answer, &events, expected);
            assert_eq!(event["key"], *signer.id);
        } else {
            check(&case, &answer, &events, (401, "/gate", "the signed address has expired"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_too_often_is_written_down() {
    let mut options = token();
    options.per_key = PerKey { requests: NonZero::new(1000), transfers: NonZero::new(1) };
    let mut court = Court::new(options).await;
    let tied = court.holder(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    // One upload that does not end takes the one place that there is.
    let mut slow = court.world.server.connect().await;
    let head = format!(
        "PUT /v1/sandboxes/mine/fs/slow HTTP/1.1\r\nhost: localhost\r\n\
         authorization: Bearer {}\r\ncontent-length: 10\r\n\r\n12345",
        tied.key
    );
    tokio::io::AsyncWriteExt::write_all(&mut slow, head.as_bytes()).await.unwrap();
    let case = guarded().find(|case| case.operation == "readSandboxFile").unwrap();
    let (answer, events) = loop {
        let request = court.request(&case, "mine");
        let (answer, events) = court.try_out(request, Some(&tied)).await;
        if answer.status == 429 {
            break (answer, events);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let event = check(&case, &answer, &events, (429, "/gate", "as many bodies under way"));
    assert_eq!((&event["key"], &event["path"]), (&json!(tied.id), &json!("f.txt")));
    // He goes away in the middle: whether the file is there is not known.
    drop(slow);
    let abandoned = loop {
        let news = court.news().await;
        if let Some((_, event)) = news.into_iter().find(|(_, event)| event["path"] == "slow") {
            break event;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(abandoned["key"], *tied.id);
    assert_ne!(abandoned["outcome"], "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_was_not_invited_is_written_down_for_what_it_is() {
    let server = crate::http::Server::with(Options::new(Access::Open)).await;
    let knock = ask("PUT", "/v1/sandboxes/test/fs/x").header("origin", "https://evil.example");
    assert_eq!(server.send(knock.body("x")).await.status, 403);
    let gate = server.get("/v1/audit/gate").await.json();
    let event = &gate["events"][0];
    assert_eq!(event["reason"], "this origin may not change anything");
    assert_eq!((&event["operation"], &event["path"]), (&json!("write"), &json!("x")));
}
