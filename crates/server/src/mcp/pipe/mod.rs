//! Messages as lines: what a program says to a server that it started itself.

mod lines;
mod overlong;

use std::io;
use std::sync::Arc;

use ::tools::Settings;
use engine::Workspace;
use futures::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, serve_server_with_ct};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::bounds;
use super::handler::Handler;
use super::in_flight::InFlight;
use super::roots::Served;
use super::standing::Standing;
use lines::{Line, Lines};
use overlong::IdFinder;

/// What a client at the other end of a pipe is offered.
#[derive(Debug)]
pub struct Offer {
    /// Its hold on a tree.
    pub workspace: Workspace,
    /// How much it may do there.
    pub settings: Settings,
    /// The directory of this machine that the tree is, if its roots are to be heeded.
    pub served: Option<Served>,
}

/// Answers a client until it closes its end, or `stop` is cancelled. Nothing but messages is written.
pub async fn serve(
    offer: Offer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> io::Result<()> {
    let Offer { workspace, settings, served } = offer;
    let pipe = Pipe {
        lines: Lines::new(input, longest(&settings)),
        output: Arc::new(Mutex::new(output)),
        in_flight: Arc::default(),
        unread: Arc::default(),
        refusing: None,
    };
    let handler = Handler::here(Standing::forever(workspace, settings), served);
    let running = match serve_server_with_ct(handler, pipe, stop.clone()).await {
        Ok(running) => running,
        Err(_) if stop.is_cancelled() => return Ok(()),
        // Whoever goes without a word has done nothing wrong. What he said instead of a greeting is
        // not for the log.
        Err(_) => {
            tracing::info!("the client did not begin");
            return Ok(());
        }
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// How long a message may be: twice as long as the longest file, which as base64 is a third longer,
/// and room for the rest.
pub(crate) fn longest(settings: &Settings) -> usize {
    let twice = settings.max_file_size.saturating_mul(2).saturating_add(1 << 20);
    usize::try_from(twice).unwrap_or(usize::MAX)
}

/// How many messages wait for the client to read them, before it is heard again.
const MOST_UNREAD: usize = 256;

/// Both ends of a pipe.
struct Pipe<R, W> {
    lines: Lines<R>,
    output: Arc<Mutex<W>>,
    in_flight: Arc<InFlight>,
    /// Shared with each message that is not written yet.
    unread: Arc<()>,
    /// A refusal that is being written. The SDK gives up a read whenever something else happens, and
    /// what was begun goes on with the next.
    refusing: Option<BoxFuture<'static, io::Result<()>>>,
}

impl<R, W> Transport<RoleServer> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.in_flight.answered(&message);
        let (output, unread) = (Arc::clone(&self.output), Arc::clone(&self.unread));
        async move {
            let _unread = unread;
            write(output, message).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let written = refusing.await;
                self.refusing = None;
                written.ok()?;
            }
            while Arc::strong_count(&self.unread) > MOST_UNREAD {
                // Those who write take turns: this one comes behind all that wait now.
                drop(self.output.lock().await);
            }
            let refusal = match self.lines.next().await? {
                Line::Whole(line) => match parse(line) {
                    Ok(message) => match self.in_flight.take(&message) {
                        Ok(()) => return Some(message),
                        Err(refusal) => *refusal,
                    },
                    Err(Some(refusal)) => *refusal,
                    Err(None) => continue,
                },
                Line::Overlong { id, most } => {
                    let message = format!("a message has at most {most} bytes");
                    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), id)
                }
            };
            self.refusing = Some(Box::pin(write(Arc::clone(&self.output), refusal)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<W>>,
    message: ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// The message that a line is, or what its sender is told; nothing if he expects no answer.
fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<Box<ServerJsonRpcMessage>>> {
    let bounded = bounds::check(line);
    let is_bounded = bounded.is_ok();
    let err = match bounded.and_then(|()| serde_json::from_slice(line)) {
        Ok(message) => return Ok(message),
        Err(err) => err,
    };
    if !err.is_data() {
        let error = ErrorData::parse_error(format!("the message is not JSON: {err}"), None);
        return Err(Some(Box::new(ServerJsonRpcMessage::error(error, None))));
    }
    if !is_bounded {
        let mut finder = IdFinder::default();
        finder.feed(line);
        let error = ErrorData::invalid_request(format!("the message is refused: {err}"), None);
        return Err(Some(Box::new(ServerJsonRpcMessage::error(error, finder.found()))));
    }
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if id.is_none() && value.get("method").is_some() {
        return Err(None);
    }
    let error = ErrorData::invalid_request("the message is none of JSON-RPC 2.0", None);
    Err(Some(Box::new(ServerJsonRpcMessage::error(error, id))))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use engine::{Limits, Role, Sandbox, SandboxId, SandboxPath, Store};
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
    use tokio::time::timeout;

    use super::*;

    /// A client of a server with an empty sandbox.
    struct Client {
        input: WriteHalf<DuplexStream>,
        output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    }

    impl Client {
        async fn greeted() -> Self {
            Self::with(None).await.0
        }

        /// One that tells its roots if a directory is served, and a hold on the same sandbox.
        async fn with(served: Option<Served>) -> (Self, Workspace) {
            let id = SandboxId::parse("box").unwrap();
            let files = Store::in_memory().create(&id, Limits::default()).await.unwrap();
            let (prefix, home) = (SandboxPath::root(), SandboxPath::root());
            let sandbox = Sandbox { id, files: Arc::new(files), prefix, home, is_system: false };
            let workspace = Workspace::new(Arc::new(sandbox), Role::Owner, None);
            let capabilities = match &served {
                Some(_) => json!({"roots": {"listChanged": true}}),
                None => json!({}),
            };
            let settings = Settings::for_models();
            let offer = Offer { workspace: workspace.clone(), settings, served };
            let (near, far) = tokio::io::duplex(1 << 13);
            let (far_input, far_output) = tokio::io::split(far);
            tokio::spawn(serve(offer, far_input, far_output, CancellationToken::new()));
            let (output, input) = tokio::io::split(near);
            let mut client = Self { input, output: BufReader::new(output).lines() };
            let info = json!({"name": "a test", "version": "1"});
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info,
            });
            client.ask(json!(0), "initialize", params).await;
            client.hear().await;
            client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
            (client, workspace)
        }

        /// Answers the question for roots.
        async fn tell_roots(&mut self, roots: &[&str]) {
            let asked = self.hear().await;
            assert_eq!(asked["method"], "roots/list");
            let roots: Vec<Value> = roots.iter().map(|uri| json!({"uri": uri})).collect();
            let told = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}});
            self.say(&told).await;
        }

        async fn write(&mut self, path: &str) {
            let arguments = json!({"path": path, "content": path});
            let call = json!({"name": "write_file", "arguments": arguments});
            self.ask(json!("w"), "tools/call", call).await;
            while self.hear().await["id"] != "w" {}
        }

        async fn say(&mut self, message: &Value) {
            self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }

        async fn ask(&mut self, id: Value, method: &str, params: Value) {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            self.say(&message).await;
        }

        async fn hear(&mut self) -> Value {
            let line = timeout(Duration::from_secs(60), self.output.next_line());
            let line = line.await.expect("nothing is said").unwrap().expect("the server went");
            serde_json::from_str(&line).unwrap()
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_told_of_a_call_behind_its_answer() {
        let mut client = Client::greeted().await;
        for name in 0..250 {
            client.write(&format!("many/{name}")).await;
        }
        let (mut told, mut answered) = (0, HashSet::new());
        for _ in 0..10 {
            let calls = 40;
            for id in (1000..).take(calls) {
                let arguments = json!({"path": "many"});
                let meta = json!({"progressToken": id});
                let call = json!({"name": "list_directory", "arguments": arguments, "_meta": meta});
                client.ask(json!(id), "tools/call", call).await;
            }
            while answered.len() < calls {
                let message = client.hear().await;
                let token = &message["params"]["progressToken"];
                match token.as_u64() {
                    Some(token) => {
                        told += 1;
                        assert!(!answered.contains(&token), "told behind the answer: {message}");
                    }
                    None => assert!(answered.insert(message["id"].as_u64().unwrap())),
                }
            }
            // A ping is answered behind whatever was said before.
            client.ask(json!("ping"), "ping", json!({})).await;
            assert_eq!(client.hear().await["id"], "ping");
            answered.clear();
        }
        assert!(told > 0, "nobody was told anything");
    }

    #[tokio::test]
    async fn a_message_that_holds_too_much_or_something_twice_is_refused_by_its_id() {
        let mut client = Client::greeted().await;
        let many = vec![0; 200_001];
        let arguments = json!({"path": "a", "values": many});
        client.ask(json!(5), "tools/call", json!({"name": "exists", "arguments": arguments})).await;
        let refused = client.hear().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(5), &json!(-32600)));
        let twice = r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"exists","arguments":{"path":"a","path":"b"}}}"#;
        client.input.write_all(format!("{twice}\n").as_bytes()).await.unwrap();
        let refused = client.hear().await;
        assert_eq!(refused["id"], 6);
        assert!(refused["error"]["message"].as_str().unwrap().contains("twice"), "{refused}");
        client.ask(json!(7), "ping", json!({})).await;
        assert_eq!(client.hear().await["id"], 7);
    }

    #[tokio::test]
    async fn whoever_reads_nothing_is_heard_no_more() {
        let mut client = Client::greeted().await;
        let content = "x".repeat(4096);
        let arguments = json!({"path": "a", "content": content});
        let call = json!({"name": "write_file", "arguments": arguments});
        client.ask(json!(1), "tools/call", call).await;
        client.hear().await;
        let asking = async {
            for id in 0..2 * MOST_UNREAD {
                let call = json!({"name": "read_file", "arguments": {"path": "a"}});
                client.ask(json!(id), "tools/call", call).await;
                // So that not too much is asked at once.
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        // The pipe holds fewer requests, and nobody takes them out of it.
        assert!(timeout(Duration::from_secs(5), asking).await.is_err());
        // Whoever reads again gets every answer to what he could say.
        for _ in 0..MOST_UNREAD {
            client.hear().await;
        }
    }

    #[tokio::test]
    async fn roots_that_change_end_what_is_told_of_files_outside_of_them() {
        let (mut client, workspace) = Client::with(Some(Served(vec!["/data".into()]))).await;
        client.tell_roots(&["file:///data"]).await;
        for path in ["in/a", "out/a"] {
            client.write(path).await;
            let uri = json!({"uri": format!("sandkeep://box/{path}")});
            client.ask(json!(path), "resources/subscribe", uri).await;
            assert_eq!(client.hear().await["result"], json!({}));
        }
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})).await;
        client.tell_roots(&["file:///data/in"]).await;
        assert_eq!(client.hear().await["method"], "notifications/resources/list_changed");
        for path in ["out/a", "in/a"] {
            let path = SandboxPath::parse(path, engine::DotDot::Refuse).unwrap();
            workspace.remove(&path, engine::Depth::One, engine::If::Always).await.unwrap();
        }
        assert_eq!(client.hear().await["params"]["uri"], "sandkeep://box/in/a");
        let more = timeout(Duration::from_millis(500), client.output.next_line()).await;
        assert!(more.is_err(), "{more:?}");
    }

    #[tokio::test]
    async fn a_refusal_outlives_a_read_that_is_given_up() {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (far_input, far_output) = tokio::io::split(far);
        let mut pipe = Pipe {
            lines: Lines::new(far_input, 1 << 16),
            output: Arc::new(Mutex::new(far_output)),
            in_flight: Arc::default(),
            unread: Arc::default(),
            refusing: None,
        };
        let (output, mut input) = tokio::io::split(near);
        input.write_all(b"nonsense\n").await.unwrap();
        let output_of_pipe = Arc::clone(&pipe.output);
        // An answer is being written, and while the refusal waits for its end something else happens.
        let busy = output_of_pipe.lock().await;
        assert!(timeout(Duration::from_millis(50), pipe.receive()).await.is_err());
        drop(busy);
        assert!(timeout(Duration::from_millis(50), pipe.receive()).await.is_err());
        let mut lines = BufReader::new(output).lines();
        let line = timeout(Duration::from_secs(10), lines.next_line()).await;
        let line = line.expect("the refusal is lost").unwrap().unwrap();
        assert!(line.contains("-32700"), "{line}");
    }
}
