//! Events as a browser reads them: `EventSource`, without a library.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use engine::{EntryKind, Loss, NoticeKind, SandboxPath};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::http::ask;

/// How long a browser waits before it comes back; the specification leaves that to it.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct Browser {
    server: SocketAddr,
    target: String,
    body: Option<Body>,
    /// The id of the last event that came whole.
    last_id: Option<String>,
}

impl Browser {
    pub(crate) fn new(server: SocketAddr, target: &str) -> Self {
        Self { server, target: target.to_owned(), body: None, last_id: None }
    }

    /// What the next event says. Comes back by itself when it is cut off.
    pub(crate) async fn next(&mut self) -> NoticeKind {
        loop {
            match self.event().await {
                Ok((id, said)) => {
                    self.last_id = Some(id);
                    return notice(&said);
                }
                Err(_) => {
                    self.body = None;
                    sleep(PAUSE).await;
                }
            }
        }
    }

    async fn event(&mut self) -> io::Result<(String, String)> {
        if self.body.is_none() {
            self.body = Some(self.connect().await?);
        }
        let body = self.body.as_mut().unwrap();
        let (mut id, mut said) = (None, String::new());
        loop {
            let line = body.line().await?;
            match line.split_once(": ") {
                None if line.is_empty() && !said.is_empty() => return Ok((id.unwrap(), said)),
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("data", value)) => said.push_str(value),
                Some(_) | None => {}
            }
        }
    }

    async fn connect(&self) -> io::Result<Body> {
        let mut stream = BufReader::new(TcpStream::connect(self.server).await?);
        let mut get = ask("GET", &self.target).header("accept", "text/event-stream");
        if let Some(id) = &self.last_id {
            get = get.header("last-event-id", id);
        }
        stream.write_all(&get.into_bytes()).await?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        Ok(Body { stream, left: 0, is_first: true })
    }
}

/// A body that comes in chunks.
struct Body {
    stream: BufReader<TcpStream>,
    /// What is left of the chunk.
    left: usize,
    is_first: bool,
}

impl Body {
    async fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        loop {
            if self.left == 0 {
                self.left = self.chunk().await?;
            }
            let there = self.stream.fill_buf().await?;
            if there.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let there = &there[..there.len().min(self.left)];
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |end| end + 1);
            line.extend_from_slice(&there[..end.unwrap_or(taken)]);
            self.stream.consume(taken);
            self.left -= taken;
            if end.is_some() {
                return Ok(String::from_utf8(line).unwrap());
            }
        }
    }

    async fn chunk(&mut self) -> io::Result<usize> {
        let mut line = String::new();
        if !std::mem::take(&mut self.is_first) {
            self.stream.read_line(&mut line).await?;
            line.clear();
        }
        self.stream.read_line(&mut line).await?;
        match usize::from_str_radix(line.trim_end(), 16) {
            Ok(length) if line.ends_with('\n') && length > 0 => Ok(length),
            Ok(_) | Err(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn notice(said: &str) -> NoticeKind {
    let said: Value = serde_json::from_str(said).unwrap();
    let at = |field: &str| SandboxPath::clamped(said[field].as_str().unwrap()).unwrap();
    let entry = said["kind"].as_str().map(|kind| {
        let kinds = ["file", "directory", "symlink"].iter().position(|known| *known == kind);
        [EntryKind::File, EntryKind::Directory, EntryKind::Symlink][kinds.unwrap()]
    });
    match said["change"].as_str().unwrap() {
        "here" => NoticeKind::Here,
        "created" => NoticeKind::Created { path: at("path"), entry },
        "modified" => NoticeKind::Modified { path: at("path"), entry },
        "removed" => NoticeKind::Removed { path: at("path"), entry },
        "renamed" => NoticeKind::Renamed { from: at("from"), path: at("path"), entry },
        other => {
            assert_eq!(other, "resync");
            let why = Loss::from_word(said["reason"].as_str().unwrap()).unwrap();
            NoticeKind::Resync { why }
        }
    }
}
