//! What a client wants of a server, in the words that the server understands.

use std::fmt::{self, Write as _};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::connection::Bodied;
use crate::process::TOKEN;

/// What stays as it is in a target.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One wish. Paths are relative to the served tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask<'a> {
    Read(&'a str),
    /// From a byte on, so many.
    Part(&'a str, u64, u64),
    /// A file of so many bytes, which follow.
    Write(&'a str, u64),
    /// What is known of a file.
    Look(&'a str),
    List(&'a str),
    /// So many entries behind a name.
    Page(&'a str, &'a str, usize),
    Move(&'a str, &'a str),
    /// A directory with everything in it.
    Remove(&'a str),
    /// A tar archive of so many bytes, which follow.
    Unpack(&'a str, u64),
    Pack(&'a str),
}

/// The bytes to send, and whether the answer has a body.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) answer: Bodied,
}

/// Why somebody is not asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cannot(pub(super) &'static str);

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Cannot {}

/// How a server is spoken to.
#[derive(Clone, Debug)]
pub(super) enum Dialect {
    /// `/v1/fs` as we speak it, with the path of the tree.
    Ours(String),
    /// `/v1/fs` as sandbox-agent speaks it, with the path of the tree.
    SandboxAgent(String),
    /// Plain HTTP and WebDAV, with what makes a listing JSON.
    Dav(&'static str),
}

impl Dialect {
    pub(super) fn say(&self, ask: Ask<'_>) -> Result<Request, Cannot> {
        match self {
            Self::Ours(root) => Ok(fs_v1(Message::with_token, root, ask)),
            Self::SandboxAgent(root) => match ask {
                Ask::Part(..) => Err(Cannot("it knows no ranges")),
                Ask::Page(..) => Err(Cannot("it lists whole directories only")),
                Ask::Pack(_) => Err(Cannot("it packs no archive")),
                Ask::Write(_, bytes) | Ask::Unpack(_, bytes) if bytes > 2 << 20 => {
                    Err(Cannot("it refuses bodies of more than 2 MiB"))
                }
                Ask::Read(_)
                | Ask::Write(..)
                | Ask::Look(_)
                | Ask::List(_)
                | Ask::Move(..)
                | Ask::Remove(_)
                | Ask::Unpack(..) => Ok(fs_v1(Message::new, root, ask)),
            },
            Self::Dav(listing) => dav(listing, ask),
        }
    }
}

fn fs_v1(begin: fn(&str, &str) -> Message, root: &str, ask: Ask<'_>) -> Request {
    let full = |path: &str| format!("{}/{path}", root.trim_end_matches('/'));
    let on = |method: &str, route: &str, path: &str| {
        let path = full(path);
        let mark = if route.contains('?') { '&' } else { '?' };
        begin(method, &format!("/v1/fs/{route}{mark}path={}", utf8_percent_encode(&path, ESCAPED)))
    };
    match ask {
        Ask::Read(path) => on("GET", "file", path).end(),
        Ask::Part(path, from, count) => on("GET", "file", path).part(from, count).end(),
        Ask::Write(path, bytes) => on("PUT", "file", path).body(bytes).end(),
        Ask::Look(path) => on("GET", "stat", path).end(),
        Ask::List(path) => on("GET", "entries", path).end(),
        Ask::Page(path, after, limit) => {
            on("GET", &format!("entries?limit={limit}&after={after}"), path).end()
        }
        Ask::Move(from, to) => {
            let wish = serde_json::json!({ "from": full(from), "to": full(to) }).to_string();
            begin("POST", "/v1/fs/move").json(&wish)
        }
        Ask::Remove(path) => on("DELETE", "entry?recursive=true", path).end(),
        Ask::Unpack(path, bytes) => {
            let tar = on("POST", "upload-batch", path).field("Content-Type", "application/x-tar");
            tar.body(bytes).end()
        }
        Ask::Pack(path) => on("GET", "download-batch", path).end(),
    }
}

fn dav(listing: &str, ask: Ask<'_>) -> Result<Request, Cannot> {
    let at = |path: &str| format!("/{}", utf8_percent_encode(path, ESCAPED));
    Ok(match ask {
        Ask::Read(path) => Message::new("GET", &at(path)).end(),
        Ask::Part(path, from, count) => Message::new("GET", &at(path)).part(from, count).end(),
        Ask::Write(path, bytes) => Message::new("PUT", &at(path)).body(bytes).end(),
        Ask::Look(path) => Request { answer: Bodied::No, ..Message::new("HEAD", &at(path)).end() },
        Ask::List(path) => {
            let dir = format!("{}/{listing}", at(path).trim_end_matches('/'));
            Message::new("GET", &dir).end()
        }
        Ask::Move(from, to) => {
            let to = format!("http://{HOST}{}", at(to));
            Message::new("MOVE", &at(from)).field("Destination", &to).end()
        }
        Ask::Remove(path) => Message::new("DELETE", &format!("{}/", at(path))).end(),
        Ask::Page(..) => return Err(Cannot("it lists whole directories only")),
        Ask::Unpack(..) => return Err(Cannot("it unpacks no archive")),
        Ask::Pack(_) => return Err(Cannot("it packs no tar archive")),
    })
}

/// The name by which every server is called.
pub(super) const HOST: &str = "127.0.0.1";

/// The head of a request, as it grows.
pub(super) struct Message(String);

impl Message {
    fn new(method: &str, target: &str) -> Self {
        Self(format!("{method} {target} HTTP/1.1\r\nHost: {HOST}\r\n"))
    }

    /// To ours, which wants to know who asks.
    pub(super) fn with_token(method: &str, target: &str) -> Self {
        Self::new(method, target).field("Authorization", &format!("Bearer {TOKEN}"))
    }

    pub(super) fn field(mut self, name: &str, value: &str) -> Self {
        _ = write!(self.0, "{name}: {value}\r\n");
        self
    }

    fn part(self, from: u64, count: u64) -> Self {
        self.field("Range", &format!("bytes={from}-{}", from + count - 1))
    }

    fn body(self, bytes: u64) -> Self {
        self.field("Content-Length", &bytes.to_string())
    }

    /// A request with nothing but its head; a body may follow.
    pub(super) fn end(mut self) -> Request {
        self.0.push_str("\r\n");
        Request { bytes: self.0.into_bytes(), answer: Bodied::Yes }
    }

    /// A request with a body of JSON.
    pub(super) fn json(self, body: &str) -> Request {
        let head = self.field("Content-Type", "application/json").body(body.len() as u64);
        let mut request = head.end();
        request.bytes.extend_from_slice(body.as_bytes());
        request
    }
}
