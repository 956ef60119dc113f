//! Which requests are counted.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::client::{Client, request};
use crate::served::{FILE, LENGTH, MANY, TREE};

/// What the server has its files in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// A directory, in which an answer does not wait for the disk.
    Host,
    /// A virtual tree in memory.
    Memory,
}

/// A request that servers get often.
pub(crate) struct HotPath {
    pub(crate) name: &'static str,
    pub(crate) tree: Tree,
    what: What,
    /// How many bytes an answer has at least.
    pub(crate) least: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Get,
    Put,
    List,
    Stat,
    RpcStat,
    ReadTool,
}

const fn path(name: &'static str, tree: Tree, what: What, least: usize) -> HotPath {
    HotPath { name, tree, what, least }
}

/// Every path. The name is that in `bench/instructions.txt`.
pub(crate) const ALL: &[HotPath] = &[
    path("get-4k-host", Tree::Host, What::Get, LENGTH),
    path("get-4k-memory", Tree::Memory, What::Get, LENGTH),
    path("put-4k-host", Tree::Host, What::Put, 1),
    path("put-4k-memory", Tree::Memory, What::Put, 1),
    path("list-100-host", Tree::Host, What::List, 100 * 50),
    path("list-100-memory", Tree::Memory, What::List, 100 * 50),
    path("stat-host", Tree::Host, What::Stat, 50),
    path("stat-memory", Tree::Memory, What::Stat, 50),
    path("rpc-stat-host", Tree::Host, What::RpcStat, 50),
    path("tool-read-file-host", Tree::Host, What::ReadTool, LENGTH),
];

impl HotPath {
    /// The bytes that are sent each time.
    pub(crate) async fn request(&self, client: &mut Client) -> Result<Vec<u8>> {
        let on = |method: &str, route: &str, path: &str, body: &[u8]| {
            request(method, &format!("/v1/fs/{route}?path=/{path}"), &[], body)
        };
        Ok(match self.what {
            What::Get => on("GET", "file", FILE, &[]),
            What::Put => on("PUT", "file", &format!("{TREE}/written"), &[b'x'; LENGTH]),
            What::List => on("GET", "entries", MANY, &[]),
            What::Stat => on("GET", "stat", FILE, &[]),
            What::RpcStat => rpc(client, "_sandboxagent/fs/stat", &json!({ "path": FILE })).await?,
            What::ReadTool => {
                let wish = json!({ "path": FILE }).to_string();
                request("POST", "/v1/tools/read_file", &JSON, wish.as_bytes())
            }
        })
    }
}

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const CONNECTION: &str = "x-acp-connection-id";

/// A call of `/v2/rpc`, on a connection that is opened for it.
async fn rpc(client: &mut Client, method: &str, params: &serde_json::Value) -> Result<Vec<u8>> {
    let message = |method: &str, params: &serde_json::Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let meta = json!({ "sandboxagent.dev": { "agent": "mock" } });
    let greeting = message("initialize", &json!({ "protocolVersion": 1, "_meta": meta }));
    let answer = client.ask(&request("POST", "/v2/rpc", &JSON, greeting.as_bytes())).await?;
    let name = answer.field(CONNECTION).context("a connection without a name")?;
    let fields = [JSON[0], (CONNECTION, name)];
    Ok(request("POST", "/v2/rpc", &fields, message(method, params).as_bytes()))
}
