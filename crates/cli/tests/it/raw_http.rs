//! HTTP/1.1 by hand over one TCP connection: an attack needs control of every byte.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What a body is.
pub(crate) const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
/// What a body is.
pub(crate) const TAR: [(&str, &str); 1] = [("Content-Type", "application/x-tar")];
/// What a `PATCH` does.
pub(crate) const APPEND: [(&str, &str); 1] = [("X-Append", "1")];

/// One connection, kept alive between requests.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    token: &'static str,
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

/// The head of an answer; its body is still on the wire.
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Connection {
    /// A server that says nothing for this long is hanging.
    const PATIENCE: Duration = Duration::from_secs(600);

    pub(crate) fn open(address: SocketAddr, token: &'static str) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Self::PATIENCE)).unwrap();
        Self { stream: BufReader::with_capacity(64 * 1024, stream), address, token }
    }

    /// Starts anew after an answer that broke off.
    pub(crate) fn reopen(&mut self) {
        *self = Self::open(self.address, self.token);
    }

    /// Waits no longer than this, for bytes to come or to be taken.
    pub(crate) fn set_patience(&self, patience: Duration) {
        let stream = self.stream.get_ref();
        stream.set_read_timeout(Some(patience)).unwrap();
        stream.set_write_timeout(Some(patience)).unwrap();
    }

    /// Whether the server has closed its side, without waiting for it.
    pub(crate) fn is_closed(&mut self) -> bool {
        let stream = self.stream.get_ref();
        stream.set_nonblocking(true).unwrap();
        let heard = self.stream.fill_buf().map(<[u8]>::len);
        self.stream.get_ref().set_nonblocking(false).unwrap();
        match heard {
            Ok(0) => true,
            // An answer comes before the end.
            Ok(len) => {
                self.stream.consume(len);
                false
            }
            Err(err) => err.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// A request and its whole answer. Panics when the connection breaks.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.try_ask(method, target, headers, body)
            .unwrap_or_else(|err| panic!("{method} {target:.200} got no answer: {err}"))
    }

    /// The same, with a broken connection as an error.
    pub(crate) fn try_ask(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        self.send_head(method, target, headers, body.len() as u64)?;
        // Sent beside the reading: a server may answer, and close, before it has read it all.
        let mut sender = self.stream.get_ref().try_clone()?;
        std::thread::scope(|scope| {
            if body.len() <= 64 * 1024 {
                sender.write_all(body).ok();
            } else {
                scope.spawn(move || sender.write_all(body).ok());
            }
            let answer = self.answer();
            if body.len() > 64 * 1024 && answer.as_ref().is_ok_and(|answer| answer.status >= 400) {
                self.stream.get_ref().shutdown(Shutdown::Both).ok();
            }
            answer
        })
    }

    /// The head of a request whose body of `length` bytes the caller sends with [`Self::send`].
    pub(crate) fn send_head(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        length: u64,
    ) -> io::Result<()> {
        let length = length.to_string();
        let sized = [headers, &[("Content-Length", length.as_str())]].concat();
        let bodiless = length == "0" && matches!(method, "GET" | "HEAD" | "DELETE");
        self.send_bare_head(method, target, if bodiless { headers } else { &sized })
    }

    /// A head with these headers and the token.
    pub(crate) fn send_bare_head(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<()> {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: test\r\n");
        write!(head, "Authorization: Bearer {}\r\n", self.token).unwrap();
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        head.push_str("\r\n");
        self.send(head.as_bytes())
    }

    /// These bytes, whatever they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Says that no more will be sent.
    pub(crate) fn end_sending(&mut self) {
        self.stream.get_ref().shutdown(Shutdown::Write).ok();
    }

    /// The next answer, whole.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let head = self.answer_head()?;
        let mut body = Vec::new();
        self.answer_body(&head, |piece| body.extend_from_slice(piece))?;
        let content_type = head.header("content-type").unwrap_or_default().to_owned();
        Ok(Answer { status: head.status, content_type, body })
    }

    /// The next answer's head. Answers that say "go on" are skipped.
    pub(crate) fn answer_head(&mut self) -> io::Result<Head> {
        loop {
            let line = self.line()?;
            let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
            let status = status.ok_or_else(|| io::Error::other(format!("not HTTP: {line:?}")))?;
            let mut headers = Vec::new();
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(':') else { break };
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            if status != 100 {
                return Ok(Head { status, headers });
            }
        }
    }

    /// The body that follows a head, piece by piece.
    pub(crate) fn answer_body(
        &mut self,
        head: &Head,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        if let Some(length) = head.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            return self.pieces(length, &mut take);
        }
        if head.header("transfer-encoding") != Some("chunked") {
            return Ok(());
        }
        loop {
            let size = u64::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            self.pieces(size, &mut take)?;
            self.line()?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn pieces(&mut self, length: u64, take: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let mut rest = (&mut self.stream).take(length);
        while rest.limit() > 0 {
            let piece = rest.fill_buf()?;
            if piece.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            take(piece);
            let len = piece.len();
            rest.consume(len);
        }
        Ok(())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|err| panic!("{err} in {:?}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Panics, with the server's words, unless it was a success.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert!(self.is_success(), "answered {}: {}", self.status, self.text());
        self
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it is a refusal as clients are promised one: a 4xx, or a 507, that says why.
    pub(crate) fn is_clear_refusal(&self) -> bool {
        let refused = (400..500).contains(&self.status) || self.status == 507;
        refused && self.says_why()
    }

    /// Whether it says what went wrong, as `/v1/fs` does or as `/v1/sandboxes` does.
    pub(crate) fn says_why(&self) -> bool {
        let body: Result<Value, _> = serde_json::from_slice(&self.body);
        let is_error = body.is_ok_and(|body| body["error"].is_string() && body["kind"].is_string());
        self.is_problem() || is_error && self.content_type == "application/json"
    }

    /// Whether the body is a problem document of the same status.
    pub(crate) fn is_problem(&self) -> bool {
        let body: Result<Value, _> = serde_json::from_slice(&self.body);
        self.content_type == "application/problem+json"
            && body.is_ok_and(|body| body["status"] == self.status && body["detail"].is_string())
    }
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A string as the value of a query parameter.
pub(crate) fn quoted(text: &str) -> String {
    text.bytes().fold(String::new(), |mut quoted, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                quoted.push(char::from(byte));
            }
            _ => write!(quoted, "%{byte:02X}").unwrap(),
        }
        quoted
    })
}
