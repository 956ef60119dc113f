//! Somebody who listens to an event stream and reads it byte by byte.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{Answer, Ask, SOON, Server, answer};

/// An open event stream.
pub(crate) struct Listener {
    stream: TcpStream,
    unread: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) data: Value,
}

impl Listener {
    /// Opens a stream, and tells how the answer to it begins.
    pub(crate) async fn open(server: &Server, ask: Ask) -> (Self, Answer) {
        let mut stream = server.connect().await;
        stream.write_all(&ask.into_bytes()).await.unwrap();
        let answer = answer(&mut stream, false).await;
        (Self { stream, unread: String::new() }, answer)
    }

    /// The next event; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let reading = async {
            loop {
                if let Some((block, rest)) = self.unread.split_once("\n\n") {
                    let event = Event::of(block);
                    self.unread = rest.to_owned();
                    match event {
                        Some(event) => return Some(event),
                        None => continue,
                    }
                }
                let chunk = self.chunk().await?;
                self.unread.push_str(&chunk);
            }
        };
        tokio::time::timeout(SOON, reading).await.expect("no event in time")
    }

    /// So many events.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next().await.expect("the stream ended too early"));
        }
        events
    }

    /// All events up to the end of a turn.
    pub(crate) async fn turn(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.expect("the stream ended too early");
            let is_end = event.data["result"]["stopReason"].is_string();
            events.push(event);
            if is_end {
                return events;
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(self.stream.read_u8().await.ok()?);
        }
        let length = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).await.ok()?;
        chunk.truncate(length);
        (length > 0).then(|| String::from_utf8(chunk).unwrap())
    }
}

impl Event {
    /// The event that a block of lines is; none if it is a comment.
    fn of(block: &str) -> Option<Self> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let data = field("data: ")?;
        assert_eq!(field("event: "), Some("message"), "{block}");
        let id = field("id: ").unwrap().parse().unwrap();
        Some(Self { id, data: serde_json::from_str(data).unwrap() })
    }
}
