//! HTTP/1.1 as plainly as it can be spoken.

use std::fmt;
use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The token of the server.
pub(crate) const TOKEN: &str = "counted";
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// A connection that is kept open.
pub(crate) struct Client {
    stream: TcpStream,
    heard: Vec<u8>,
}

/// What came back.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    head: &'a str,
    pub(crate) body: &'a [u8],
}

/// A request, as it is sent.
pub(crate) fn request(method: &str, target: &str, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    head.push_str(&format!("Authorization: Bearer {TOKEN}\r\n"));
    for (name, value) in fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if method != "GET" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, heard: Vec::with_capacity(64 << 10) })
    }

    /// Asks, and reads the answer to its end.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.heard.clear();
        let begin = loop {
            ensure!(self.stream.read_buf(&mut self.heard).await? > 0, "the connection ended");
            if let Some(begin) = body_begin(&self.heard) {
                break begin;
            }
        };
        let length = {
            let head = self.heard.get(..begin).unwrap_or_default();
            field(std::str::from_utf8(head)?, "content-length").map(str::parse::<usize>)
        };
        match length.transpose()? {
            Some(length) => {
                while self.heard.len() < begin + length {
                    self.more().await?;
                }
            }
            None => {
                while !self.heard.ends_with(LAST_CHUNK) {
                    self.more().await?;
                }
            }
        }
        Answer::read(&self.heard, begin)
    }

    async fn more(&mut self) -> Result<()> {
        let count = self.stream.read_buf(&mut self.heard).await?;
        ensure!(count > 0, "an answer broke off");
        Ok(())
    }
}

fn body_begin(heard: &[u8]) -> Option<usize> {
    heard.windows(4).position(|window| window == b"\r\n\r\n").map(|end| end + 4)
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(field, _)| field.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim())
}

impl<'a> Answer<'a> {
    fn read(heard: &'a [u8], begin: usize) -> Result<Self> {
        let (head, body) = heard.split_at_checked(begin).context("no head")?;
        let head = std::str::from_utf8(head)?;
        let status = head.get(9..12).context("no status")?.parse()?;
        Ok(Self { status, head, body })
    }

    /// The value of a field of the head.
    pub(crate) fn field(&self, name: &str) -> Option<&'a str> {
        field(self.head, name)
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.head, String::from_utf8_lossy(self.body))
    }
}
