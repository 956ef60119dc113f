//! Messages to `/v2/rpc`: each that wants an answer gets one, by its own id, and no other.
//!
//! If the first byte is even, each line that follows is a body. Otherwise bodies are built from the
//! bytes, of the words that the protocol knows.

mod messages;

use std::time::Duration;

use arbitrary::Unstructured;
use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::face::{Answer, Face};
use crate::runtime::run;
use crate::trees::seen;

/// How many bodies are sent at most.
const MOST: usize = 8;
/// How many members a batch may have.
const MOST_MEMBERS: usize = 64;
/// How long a turn of the agent is waited for: it may be asked to wait, too.
const TURN: Duration = Duration::from_millis(20);

thread_local! {
    static FACE: Face = run(Face::new(&[("/a", b"hello"), ("/dir/b", b"1\n2\n3\n")]));
}

/// Holds that every message is answered as it must be.
pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let bodies: Vec<Vec<u8>> = match choice & 1 {
        0 => rest.split(|byte| *byte == b'\n').take(MOST).map(<[u8]>::to_vec).collect(),
        _ => messages::built(&mut Unstructured::new(rest), MOST),
    };
    FACE.with(|face| {
        run(async {
            let connection = connect(face).await;
            for body in bodies {
                exchange(face, &connection, body).await;
            }
            let close = Request::delete("/v2/rpc").header("x-acp-connection-id", &connection);
            face.ask(close.body(Bytes::new()).expect("it is a request")).await;
            seen(&face.files, 2000).await;
            face.clean().await;
        });
    });
}

async fn connect(face: &Face) -> String {
    let meta = json!({"sandboxagent.dev": {"agent": "mock"}});
    let params = json!({"protocolVersion": 1, "_meta": meta});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let answer = face.ask(post(None, hello.to_string().into_bytes())).await;
    assert_eq!(answer.status, StatusCode::OK);
    let connection = answer.header("x-acp-connection-id").to_owned();
    let opening =
        json!({"_meta": {"sandboxagent.dev": {"requestedSessionId": "s"}}, "mcpServers": []});
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": opening});
    face.ask(post(Some(&connection), open.to_string().into_bytes())).await;
    connection
}

fn post(connection: Option<&str>, body: Vec<u8>) -> Request<Bytes> {
    let mut request = Request::post("/v2/rpc").header("content-type", "application/json");
    if let Some(connection) = connection {
        request = request.header("x-acp-connection-id", connection);
    }
    request.body(body.into()).expect("it is a request")
}

async fn exchange(face: &Face, connection: &str, body: Vec<u8>) {
    let said: Option<Value> = serde_json::from_slice(&body).ok();
    let asking = face.ask(post(Some(connection), body));
    let answer = match said.as_ref().is_some_and(is_prompt) {
        false => asking.await,
        true => match tokio::time::timeout(TURN, asking).await {
            Ok(answer) => answer,
            Err(_) => return,
        },
    };
    match said {
        None => drop(check_reply(&answer, Some(-32700))),
        Some(Value::Array(members)) if members.is_empty() || members.len() > MOST_MEMBERS => {
            drop(check_reply(&answer, Some(-32600)));
        }
        Some(Value::Array(members)) => check_batch(&answer, &members),
        Some(message) => check_one(&answer, &message),
    }
}

/// Whether an agent is asked for a turn.
fn is_prompt(said: &Value) -> bool {
    said["method"] == "session/prompt"
}

fn check_one(answer: &Answer, message: &Value) {
    match (answer.status, wanted(message)) {
        (StatusCode::OK, Wanted::Answer(id)) => {
            let reply = check_reply(answer, None);
            assert_eq!(reply["id"], id, "{message}");
        }
        (StatusCode::OK, Wanted::Refusal) => drop(check_reply(answer, Some(-32600))),
        (StatusCode::ACCEPTED, Wanted::Nothing | Wanted::Perhaps) => {
            assert!(answer.body.is_empty());
        }
        (StatusCode::BAD_REQUEST, Wanted::Perhaps) => {}
        (status, _) => panic!("{message} is answered with {status}: {answer:?}"),
    }
}

fn check_batch(answer: &Answer, members: &[Value]) {
    let ids: Vec<Value> = members.iter().filter_map(|member| wanted(member).id()).collect();
    if answer.status == StatusCode::ACCEPTED {
        assert!(answer.body.is_empty() && ids.is_empty(), "{members:?}");
        return;
    }
    assert_eq!(answer.status, StatusCode::OK);
    let replies = answer.json();
    let replies = replies.as_array().expect("a batch is answered with a batch");
    replies.iter().for_each(check_shape);
    // Those that answer nothing that was asked tell of what could not be understood.
    let answers: Vec<&Value> = replies.iter().map(|reply| &reply["id"]).collect();
    let mut rest = answers.iter();
    for id in &ids {
        assert!(rest.any(|answer| *answer == id), "{id} is missing among {answers:?}");
    }
    let most = members.iter().filter(|member| !matches!(wanted(member), Wanted::Nothing)).count();
    assert!(replies.len() <= most, "{members:?}: {replies:?}");
}

/// Holds that an answer is one message; gives it.
fn check_reply(answer: &Answer, code: Option<i64>) -> Value {
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let reply = answer.json();
    check_shape(&reply);
    if let Some(code) = code {
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    reply
}

fn check_shape(reply: &Value) {
    let fields = reply.as_object().expect("a message is an object");
    assert_eq!(reply["jsonrpc"], "2.0", "{reply}");
    assert!(fields.contains_key("id"), "{reply}");
    assert_ne!(fields.contains_key("result"), fields.contains_key("error"), "{reply}");
    if let Some(error) = fields.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{reply}");
    }
}

/// What a message wants.
enum Wanted {
    /// An answer by this id.
    Answer(Value),
    /// It is none, and is told so.
    Refusal,
    Nothing,
    /// It answers something that was perhaps asked.
    Perhaps,
}

impl Wanted {
    fn id(self) -> Option<Value> {
        if let Self::Answer(id) = self { Some(id) } else { None }
    }
}

/// What a message wants, from JSON-RPC 2.0 and not from our code.
fn wanted(message: &Value) -> Wanted {
    let Some(fields) = message.as_object() else { return Wanted::Refusal };
    let id = match fields.get("id") {
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => return Wanted::Refusal,
        Some(Value::String(text)) if text.len() > 256 => return Wanted::Refusal,
        id => id,
    };
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return Wanted::Refusal;
    }
    let answers = (fields.contains_key("result"), fields.contains_key("error"));
    match (fields.get("method"), answers) {
        (Some(Value::String(_)), (false, false)) => {}
        (None, (true, false) | (false, true)) if id.is_some() => return Wanted::Perhaps,
        _ => return Wanted::Refusal,
    }
    match fields.get("params") {
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => {}
        Some(_) => return Wanted::Refusal,
    }
    id.map_or(Wanted::Nothing, |id| Wanted::Answer(id.clone()))
}
