//! What an agent says over HTTP.

use anyhow::{Context as _, Result, bail, ensure};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::process::TOKEN;

const CONNECTION: &str = "x-acp-connection-id";

/// The way to a server.
#[derive(Clone)]
pub(super) struct Line {
    client: Client,
    url: String,
}

impl Line {
    pub(super) fn new(url: &str) -> Result<Self> {
        // Nothing is secret here, but the client wants to know how it would be kept.
        let _known = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { client: Client::builder().no_proxy().build()?, url: url.to_owned() })
    }

    /// Opens a connection, whose name is returned.
    pub(super) async fn greet(&self) -> Result<String> {
        let meta = json!({ "sandboxagent.dev": { "agent": "mock" } });
        let params = json!({ "protocolVersion": 1, "_meta": meta });
        let message = message(0, "initialize", &params);
        let response = self.post(None, &message).await?;
        let name = response.headers().get(CONNECTION).context("the connection has no name")?;
        Ok(name.to_str()?.to_owned())
    }

    /// Calls a method.
    pub(super) async fn call(
        &self,
        connection: &str,
        id: u64,
        method: &str,
        params: &Value,
    ) -> Result<Value> {
        let response = self.post(Some(connection), &message(id, method, params)).await?;
        let mut reply: Value = serde_json::from_slice(&response.bytes().await?)?;
        ensure!(reply.get("id") == Some(&json!(id)), "the reply is to another request: {reply}");
        match reply.get_mut("result").map(Value::take) {
            Some(result) => Ok(result),
            None => bail!("{method} failed: {reply}"),
        }
    }

    async fn post(&self, connection: Option<&str>, message: &Value) -> Result<Response> {
        let mut request = self
            .client
            .post(format!("{}/v2/rpc", self.url))
            .bearer_auth(TOKEN)
            .header("content-type", "application/json")
            .body(message.to_string());
        if let Some(connection) = connection {
            request = request.header(CONNECTION, connection);
        }
        whole(request.send().await?).await
    }

    /// Opens the stream of events, behind the one with a number. None if the server has not yet seen
    /// that the stream before it ended.
    pub(super) async fn stream(&self, connection: &str, after: u64) -> Result<Option<Response>> {
        let mut request = self
            .client
            .get(format!("{}/v2/rpc", self.url))
            .bearer_auth(TOKEN)
            .header("accept", "text/event-stream")
            .header(CONNECTION, connection);
        if after > 0 {
            request = request.header("last-event-id", after);
        }
        let response = request.send().await?;
        if response.status() == StatusCode::CONFLICT {
            return Ok(None);
        }
        whole(response).await.map(Some)
    }

    pub(super) async fn put(&self, path: &str, session: &str, bytes: Vec<u8>) -> Result<()> {
        let request = self.client.put(self.file(path, session)).bearer_auth(TOKEN).body(bytes);
        whole(request.send().await?).await.map(drop)
    }

    pub(super) async fn get(&self, path: &str, session: &str) -> Result<Vec<u8>> {
        let request = self.client.get(self.file(path, session)).bearer_auth(TOKEN);
        Ok(whole(request.send().await?).await?.bytes().await?.to_vec())
    }

    fn file(&self, path: &str, session: &str) -> String {
        format!("{}/v2/fs/file?path={path}&sessionId={session}", self.url)
    }
}

fn message(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// An answer that says that all is well.
async fn whole(response: Response) -> Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    bail!("{status}: {}", response.text().await.unwrap_or_default())
}
