//! Who may do what: every operation of the interface, for every role, in his own sandbox, in another
//! one, and for whoever shows nothing.

use serde_json::{Value, json};
use server::{Access, Options};

use crate::acp::greeting;
use crate::http::{Answer, Ask, Server, ask};

pub(crate) const TOKEN: &str = "the-token";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Viewer,
    Developer,
    Owner,
}

use Role::{Developer, Owner, Viewer};

/// What an operation asks of whoever wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// To be known.
    Key,
    /// A role, in the sandbox that is his own.
    Own(Role),
    /// A role, in the sandbox that the address names.
    Inside(Role),
    /// A role, and to see all sandboxes.
    Everywhere(Role),
    /// A role, and to see all sandboxes and the one that the address names.
    InsideEverywhere(Role),
}

use Needs::{Everywhere, Inside, InsideEverywhere, Key, Nothing, Own};

/// A request for an operation that nothing is wrong with but who sends it.
pub(crate) struct Case {
    pub(crate) operation: &'static str,
    pub(crate) needs: Needs,
    /// What is put for `{path}`, with the query.
    pub(crate) path: &'static str,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    None,
    Json(Value),
    Bytes(&'static [u8]),
}

impl Case {
    /// Whether a request for it at this address names a sandbox.
    pub(crate) fn names_sandbox(&self, path: &str) -> bool {
        path.contains("/v1/sandboxes/{id}") || self.path.contains("sandbox={id}")
    }
}

fn case(operation: &'static str, needs: Needs, path: &'static str, body: Body) -> Case {
    Case { operation, needs, path, body }
}

pub(crate) fn cases() -> Vec<Case> {
    let all = [
        of_one_sandbox(),
        of_agents(),
        of_clients(),
        of_files(),
        of_sandboxes(),
        of_tools(),
        of_mcp(),
    ];
    all.into_iter().flatten().collect()
}

/// The server, and `/v1/fs`.
fn of_one_sandbox() -> Vec<Case> {
    use Body::{Bytes, Json, None};
    let shared_trip = || Json(json!({"from": "f.txt", "to": "moved.txt", "overwrite": true}));
    vec![
        case("root", Nothing, "", None),
        case("alive", Nothing, "", None),
        case("ready", Nothing, "", None),
        case("openapi", Nothing, "", None),
        case("docs", Nothing, "", None),
        case("health", Key, "", None),
        case("metrics", Everywhere(Viewer), "", None),
        case("createSession", Key, "", None),
        case("listEntries", Own(Viewer), "", None),
        case("readFile", Own(Viewer), "?path=f.txt", None),
        case("headFile", Own(Viewer), "?path=f.txt", None),
        case("stat", Own(Viewer), "?path=f.txt", None),
        case("downloadBatch", Own(Viewer), "?path=.", None),
        case("writeFile", Own(Developer), "?path=w.txt", Bytes(b"w")),
        case("patchFile", Own(Developer), "?path=f.txt", Bytes(b"w")),
        case("deleteEntry", Own(Developer), "?path=f.txt", None),
        case("makeDirectory", Own(Developer), "?path=made", None),
        case("move", Own(Developer), "", shared_trip()),
        case("copy", Own(Developer), "", shared_trip()),
        case("uploadBatch", Own(Developer), "?path=up", Bytes(EMPTY_TAR)),
    ]
}

/// Agents. They belong to whoever began them, and touch no file of the server.
fn of_agents() -> Vec<Case> {
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
    vec![
        case("tellAgent", Key, "?agent=mock", Body::Json(greeting)),
        case("hearAgent", Key, "", Body::None),
        case("listAgents", Key, "", Body::None),
        case("closeAgent", Key, "", Body::None),
    ]
}

/// `/v2`. What may be done by which method is in `acp/roles.rs`.
fn of_clients() -> Vec<Case> {
    use Body::{Bytes, Json, None};
    vec![
        case("agentHealth", Key, "", None),
        case("callAgentMethod", Key, "", Json(greeting("mock"))),
        case("listenToAgent", Key, "", None),
        case("closeAgentConnection", Key, "", None),
        case("readAgentFile", Own(Viewer), "?path=f.txt", None),
        case("headAgentFile", Own(Viewer), "?path=f.txt", None),
        case("writeAgentFile", Own(Developer), "?path=w.txt", Bytes(b"w")),
        case("uploadAgentBatch", Own(Developer), "?path=up", Bytes(EMPTY_TAR)),
    ]
}

/// What can be done with the files of a sandbox.
fn of_files() -> Vec<Case> {
    use Body::{Bytes, Json, None};
    let trip = || Json(json!({"from": "f.txt", "to": "moved.txt"}));
    let edit = json!({"replacements": [{"old": "old", "new": "new"}], "dry_run": false});
    let write = json!([{"op": "write", "path": "batch.txt", "text": "x"}]);
    vec![
        case("readSandboxFile", Inside(Viewer), "f.txt", None),
        case("headSandboxFile", Inside(Viewer), "f.txt", None),
        case("writeSandboxFile", Inside(Developer), "w.txt", Bytes(b"w")),
        case("patchSandboxFile", Inside(Developer), "f.txt", Bytes(b"w")),
        case("deleteSandboxEntry", Inside(Developer), "f.txt", None),
        case("truncateSandboxFile", Inside(Developer), "f.txt", Json(json!({"size": 1}))),
        case("listSandboxDirectory", Inside(Viewer), "", None),
        case("statSandboxEntry", Inside(Viewer), "f.txt", None),
        case("makeSandboxDirectory", Inside(Developer), "made", None),
        case("readSandboxLink", Inside(Viewer), "link", None),
        case("makeSandboxLink", Inside(Developer), "new-link", Json(json!({"target": "f.txt"}))),
        case("changeSandboxMode", Inside(Developer), "f.txt", Json(json!({"mode": "600"}))),
        case("moveSandboxEntry", Inside(Developer), "", trip()),
        case("copySandboxEntry", Inside(Developer), "", trip()),
        case("batchSandboxChanges", Inside(Developer), "", Json(write)),
        case("packSandboxEntry", Inside(Viewer), "", None),
        case("unpackSandboxArchive", Inside(Developer), "up", Bytes(EMPTY_TAR)),
        case("searchSandbox", Inside(Viewer), "", Json(json!({"pattern": "old"}))),
        case("editSandboxFile", Inside(Developer), "f.txt", Json(edit)),
        case("watchSandbox", Inside(Viewer), "", None),
    ]
}

/// What can be done with whole sandboxes, and with keys.
fn of_sandboxes() -> Vec<Case> {
    use Body::{Bytes, Json, None};
    vec![
        case("createSandbox", Everywhere(Owner), "", Json(json!({}))),
        case("listSandboxes", Key, "", None),
        case("getSandbox", Inside(Viewer), "", None),
        case("changeSandbox", Inside(Owner), "", Json(json!({"labels": {"a": "1"}}))),
        case("deleteSandbox", Inside(Owner), "", None),
        case("sandboxStats", Inside(Viewer), "", None),
        case("listSnapshots", Inside(Viewer), "", None),
        case("createSnapshot", Inside(Developer), "", Json(json!({"id": "s2"}))),
        case("getSnapshot", Inside(Viewer), "", None),
        case("deleteSnapshot", Inside(Developer), "", None),
        case("restoreSnapshot", Inside(Developer), "", Json(json!({}))),
        case("exportSnapshot", Inside(Viewer), "", None),
        case("exportSandbox", Inside(Viewer), "", None),
        case("importSnapshot", Inside(Developer), "", Bytes(b"not a stream")),
        case("diffSandbox", Inside(Viewer), "?from=s1", None),
        case("forkSandbox", InsideEverywhere(Owner), "", Json(json!({}))),
        case("signAddress", Inside(Viewer), "", Json(json!({"path": "f.txt"}))),
        case("sandboxAudit", Inside(Owner), "", None),
        case("serverAudit", Everywhere(Owner), "", None),
        case("gateAudit", Everywhere(Owner), "", None),
        case("createKey", Key, "", Json(json!({"role": "viewer", "sandboxes": ["mine"]}))),
        case("listKeys", Key, "", None),
        case("getKey", Key, "", None),
        case("revokeKey", Key, "", None),
    ]
}

/// Tools. What may be done by which is in `tools/keys.rs`.
fn of_tools() -> Vec<Case> {
    let write = json!({"path": "tool.txt", "content": "word"});
    vec![
        case("listTools", Key, "", Body::None),
        case("getTool", Key, "", Body::None),
        case("callTool", Inside(Developer), "?sandbox={id}", Body::Json(write)),
    ]
}

/// MCP. Nobody can guess what a session is called: what is done in one is in `mcp/owners.rs`.
fn of_mcp() -> Vec<Case> {
    vec![
        case("sayByMcp", Inside(Viewer), "?sandbox={id}", Body::Json(crate::mcp::greeting())),
        case("listenByMcp", Inside(Viewer), "?sandbox={id}", Body::None),
        case("closeMcpSession", Inside(Viewer), "?sandbox={id}", Body::None),
    ]
}

/// Two blocks of zeros are an archive without members.
const EMPTY_TAR: &[u8] = &[0; 1024];

/// Whoever asks.
#[derive(Clone, Debug)]
struct Caller {
    role: Option<Role>,
    everywhere: bool,
    shown: Option<String>,
}

/// What may come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Stranger,
    Forbidden,
    Unseen,
    LetThrough,
}

impl Verdict {
    fn of(answer: &Answer) -> Self {
        let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
        // A tool tells it among what else there is to say.
        let kind = body["kind"].as_str().or(body["metadata"]["kind"].as_str());
        match (answer.status, kind) {
            (401, _) => Self::Stranger,
            (403, _) => Self::Forbidden,
            (404, Some("sandbox_not_found")) => Self::Unseen,
            // A HEAD tells nothing but its status.
            (404, None) => Self::Unseen,
            _ => Self::LetThrough,
        }
    }

    fn expected(case: &Case, caller: &Caller, target: &str) -> Self {
        let is_key = case.operation.ends_with("Key") || case.operation == "listKeys";
        let Some(role) = caller.role else {
            return if case.needs == Nothing { Self::LetThrough } else { Self::Stranger };
        };
        // Only owners deal with keys.
        if is_key && role < Owner {
            return Self::Forbidden;
        }
        let enough = |needed| if role >= needed { Self::LetThrough } else { Self::Forbidden };
        let unseen = !caller.everywhere && target != "mine";
        match case.needs {
            Nothing | Key => Self::LetThrough,
            Own(needed) => enough(needed),
            Inside(_) | InsideEverywhere(_) if unseen => Self::Unseen,
            Inside(needed) => enough(needed),
            Everywhere(_) | InsideEverywhere(_) if !caller.everywhere => Self::Forbidden,
            Everywhere(needed) | InsideEverywhere(needed) => enough(needed),
        }
    }
}

/// Every operation of the interface: its id, method and address.
pub(crate) fn operations() -> Vec<(String, &'static str, String)> {
    let document: Value = serde_json::from_str(&server::openapi_json()).unwrap();
    let methods = [
        ("get", "GET"),
        ("head", "HEAD"),
        ("put", "PUT"),
        ("post", "POST"),
        ("patch", "PATCH"),
        ("delete", "DELETE"),
    ];
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (word, method) in methods {
            if let Some(operation) = item.get(word) {
                let id = operation["operationId"].as_str().unwrap().to_owned();
                operations.push((id, method, path.clone()));
            }
        }
    }
    operations
}

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) key: String,
}

impl World {
    async fn new() -> Self {
        Self::with(Options::new(Access::Token(TOKEN.into()))).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let world = Self { server: Server::with(options).await, key: String::new() };
        world.furnish().await;
        let made = json!({"role": "viewer", "sandboxes": ["mine"], "label": "to be shown"});
        let key = world.as_owner("POST", "/v1/keys", &made).await.json();
        Self { key: key["id"].as_str().unwrap().to_owned(), ..world }
    }

    pub(crate) async fn as_owner(
        &self,
        method: &'static str,
        target: &str,
        body: &Value,
    ) -> Answer {
        let ask = ask(method, target)
            .header("authorization", &format!("Bearer {TOKEN}"))
            .header("content-type", "application/json");
        self.server.send(ask.body(body.to_string())).await
    }

    /// Puts everything back that a request may need.
    pub(crate) async fn furnish(&self) {
        for id in ["mine", "other"] {
            self.as_owner("POST", "/v1/sandboxes", &json!({"id": id})).await;
            let file = ask("PUT", &format!("/v1/sandboxes/{id}/fs/f.txt"))
                .header("authorization", &format!("Bearer {TOKEN}"));
            assert_eq!(self.server.send(file.body("old")).await.status, 204);
            let link = format!("/v1/sandboxes/{id}/fs-link/link");
            self.as_owner("PUT", &link, &json!({"target": "f.txt"})).await;
            let kept = format!("/v1/sandboxes/{id}/snapshots");
            self.as_owner("POST", &kept, &json!({"id": "s1"})).await;
        }
        self.server.put("f.txt", "old");
    }

    async fn callers(&self) -> Vec<Caller> {
        let token = Caller { role: Some(Owner), everywhere: true, shown: Some(TOKEN.into()) };
        let nobody = Caller { role: None, everywhere: false, shown: None };
        let wrong = Caller {
            shown: Some(format!("ask_{}_{}", "a".repeat(12), "b".repeat(32))),
            ..nobody.clone()
        };
        let mut callers = vec![token, nobody, wrong];
        for role in [Viewer, Developer, Owner] {
            for everywhere in [false, true] {
                let mut wish = json!({"role": format!("{role:?}").to_lowercase()});
                if !everywhere {
                    wish["sandboxes"] = json!(["mine"]);
                }
                let made = self.as_owner("POST", "/v1/keys", &wish).await;
                assert_eq!(made.status, 201, "{}", made.text());
                let shown = Some(made.json()["key"].as_str().unwrap().to_owned());
                callers.push(Caller { role: Some(role), everywhere, shown });
            }
        }
        callers
    }

    pub(crate) fn request(
        &self,
        case: &Case,
        method: &'static str,
        path: &str,
        target: &str,
    ) -> Ask {
        let (place, query) = case.path.split_once('?').unwrap_or((case.path, ""));
        let address = path
            .replace("/v1/sessions/{id}", &format!("/v1/sessions/s-{}", rand_name()))
            .replace("{server_id}", "agent-1")
            .replace("{id}", target)
            .replace("{path}", place)
            .replace("{snapshot}", "s1")
            .replace("{key}", &self.key)
            .replace("{name}", "write_file");
        let query = query.replace("{id}", target);
        let address = if query.is_empty() { address } else { format!("{address}?{query}") };
        let ask = ask(method, &address);
        let is_connected = ["listenToAgent", "closeAgentConnection"].contains(&case.operation);
        // The first to call a method opened it.
        let ask = match is_connected {
            true => ask.header("x-acp-connection-id", "acp_conn_1"),
            false => ask,
        };
        match &case.body {
            Body::None => ask,
            Body::Json(body) => {
                ask.header("content-type", "application/json").body(body.to_string())
            }
            Body::Bytes(bytes) => {
                let is_tar = ["uploadBatch", "uploadAgentBatch"].contains(&case.operation);
                let kind = if is_tar { "application/x-tar" } else { "" };
                let ask = if kind.is_empty() { ask } else { ask.header("content-type", kind) };
                let ask = if method == "PATCH" { ask.header("x-append", "1") } else { ask };
                ask.body(*bytes)
            }
        }
    }
}

fn rand_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string()
}

#[test]
fn no_operation_is_missing_from_the_matrix() {
    let mut known: Vec<_> = cases().iter().map(|case| case.operation.to_owned()).collect();
    let mut there: Vec<_> = operations().into_iter().map(|(id, ..)| id).collect();
    known.sort();
    there.sort();
    assert_eq!(known, there);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_may_do_what_his_role_says_where_it_says_and_nothing_else() {
    let world = World::new().await;
    let callers = world.callers().await;
    let operations = operations();
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in cases() {
        let (_, method, path) =
            operations.iter().find(|(id, ..)| id == case.operation).expect(case.operation);
        for caller in &callers {
            for target in ["mine", "other"] {
                if target == "other" && !case.names_sandbox(path) {
                    continue;
                }
                let mut request = world.request(&case, method, path, target);
                if let Some(shown) = &caller.shown {
                    request = request.header("authorization", &format!("Bearer {shown}"));
                }
                let answer = world.server.send(request).await;
                let (found, expected) =
                    (Verdict::of(&answer), Verdict::expected(&case, caller, target));
                tried += 1;
                if found != expected {
                    let (role, everywhere) = (caller.role, caller.everywhere);
                    wrong.push(format!(
                        "{} on {target} by {role:?} (everywhere: {everywhere}): {found:?} ({}), not {expected:?}",
                        case.operation, answer.status
                    ));
                }
                if answer.status < 300 && *method != "GET" && *method != "HEAD" {
                    world.furnish().await;
                }
            }
        }
    }
    println!("SCORE S14 attempts={tried} escapes={}", wrong.len());
    assert_eq!(wrong, Vec::<String>::new());
    assert!(tried > 800, "{tried}");
}
