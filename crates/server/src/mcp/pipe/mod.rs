//! Messages as lines: what a program says to a server that it started itself.

mod lines;
mod overlong;

use std::io;
use std::sync::Arc;

use ::tools::Settings;
use engine::Workspace;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, serve_server_with_ct};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::in_flight::InFlight;
use super::roots::Served;
use super::standing::Standing;
use lines::{Line, Lines};

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

/// Both ends of a pipe.
struct Pipe<R, W> {
    lines: Lines<R>,
    output: Arc<Mutex<W>>,
    in_flight: Arc<InFlight>,
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
        write(Arc::clone(&self.output), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let refusal = match self.lines.next().await? {
                Line::Whole(line) => match parse(line) {
                    Ok(message) => match self.in_flight.take(&message) {
                        Ok(()) => return Some(message),
                        Err(refusal) => refusal,
                    },
                    Err(Some(refusal)) => refusal,
                    Err(None) => continue,
                },
                Line::Overlong { id, most } => {
                    let message = format!("a message has at most {most} bytes");
                    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), id)
                }
            };
            write(Arc::clone(&self.output), refusal).await.ok()?;
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
fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<ServerJsonRpcMessage>> {
    let err = match serde_json::from_slice(line) {
        Ok(message) => return Ok(message),
        Err(err) => err,
    };
    if !err.is_data() {
        let error = ErrorData::parse_error(format!("the message is not JSON: {err}"), None);
        return Err(Some(ServerJsonRpcMessage::error(error, None)));
    }
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if id.is_none() && value.get("method").is_some() {
        return Err(None);
    }
    let error = ErrorData::invalid_request("the message is none of JSON-RPC 2.0", None);
    Err(Some(ServerJsonRpcMessage::error(error, id)))
}
