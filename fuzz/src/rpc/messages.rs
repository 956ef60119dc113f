//! Messages made of the words that the protocol knows, and of some that it does not.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

const METHODS: [&str; 22] = [
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/cancel",
    "session/prompt",
    "_sandboxagent/session/list",
    "_sandboxagent/session/get",
    "_sandboxagent/session/terminate",
    "_sandboxagent/session/detach",
    "_sandboxagent/session/set_metadata",
    "_sandboxagent/fs/list_entries",
    "_sandboxagent/fs/stat",
    "_sandboxagent/fs/mkdir",
    "_sandboxagent/fs/move",
    "_sandboxagent/fs/delete_entry",
    "_sandboxagent/fs/read_file",
    "_sandboxagent/fs/write_file",
    "_sandboxagent/fs/upload_batch",
    "rpc.discover",
];
const NAMES: [&str; 24] = [
    "path",
    "from",
    "to",
    "overwrite",
    "recursive",
    "sessionId",
    "session_id",
    "contentBase64",
    "content_base64",
    "limit",
    "after",
    "cursor",
    "cwd",
    "mcpServers",
    "_meta",
    "sandboxagent.dev",
    "requestedSessionId",
    "agent",
    "metadata",
    "protocolVersion",
    "prompt",
    "clientCapabilities",
    "type",
    "text",
];
const TEXTS: [&str; 24] = [
    "a",
    "dir",
    "dir/b",
    "dir/new",
    "/home/user/a",
    "/home/user",
    "/",
    "/etc/passwd",
    "out",
    "in/b",
    "loop",
    "",
    ".",
    "..",
    "../a",
    "a\0b",
    "s",
    "text",
    "mock",
    "aGVsbG8=",
    "====",
    "wait 1",
    "read /home/user/a",
    "\u{10FE80}",
];

/// Bodies, until the bytes are used up.
pub(super) fn built(input: &mut Unstructured<'_>, most: usize) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    while !input.is_empty() && bodies.len() < most {
        let Ok(body) = body(input) else { break };
        bodies.push(body.to_string().into_bytes());
    }
    bodies
}

fn body(input: &mut Unstructured<'_>) -> Result<Value> {
    if input.ratio(3, 4)? {
        return message(input);
    }
    let count = input.int_in_range(0..=5)?;
    (0..count).map(|_| message(input)).collect()
}

fn message(input: &mut Unstructured<'_>) -> Result<Value> {
    let mut fields = Map::new();
    if !input.ratio(1, 32)? {
        fields.insert("jsonrpc".into(), json!("2.0"));
    }
    if !input.ratio(1, 8)? {
        let id =
            if input.ratio(1, 16)? { value(input, 1)? } else { json!(input.arbitrary::<u8>()?) };
        fields.insert("id".into(), id);
    }
    if !input.ratio(1, 16)? {
        fields.insert("method".into(), json!(input.choose(&METHODS)?));
    }
    let params = if input.ratio(1, 16)? { value(input, 3)? } else { object(input, 3)? };
    fields.insert("params".into(), params);
    if input.ratio(1, 16)? {
        fields.insert((*input.choose(&["result", "error"])?).into(), value(input, 1)?);
    }
    Ok(fields.into())
}

fn object(input: &mut Unstructured<'_>, depth: u8) -> Result<Value> {
    let mut fields = Map::new();
    for _ in 0..input.int_in_range(0..=4)? {
        let name = *input.choose(&NAMES)?;
        fields.insert(name.to_owned(), value(input, depth.saturating_sub(1))?);
    }
    Ok(fields.into())
}

fn value(input: &mut Unstructured<'_>, depth: u8) -> Result<Value> {
    Ok(match input.int_in_range(0..=if depth == 0 { 8 } else { 11 })? {
        0..=4 => json!(input.choose(&TEXTS)?),
        5 => json!(input.arbitrary::<bool>()?),
        6 => json!(input.arbitrary::<i64>()?),
        7 => json!(input.arbitrary::<f64>()?),
        8 => json!(input.arbitrary::<String>()?),
        9 => Value::Null,
        10 => {
            let count = input.int_in_range(0..=3)?;
            (0..count).map(|_| value(input, depth - 1)).collect::<Result<_>>()?
        }
        _ => object(input, depth)?,
    })
}
