//! A server on a loopback port, and a client that sends exactly what it is told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{
    Durability, HostFs, HostOptions, Limits, Mounts, Sandbox, SandboxId, SandboxPath, Store,
};
use serde_json::Value;
use server::{Access, App, Options, SetupError};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a test waits for something that should happen.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// A running server over a directory of its own.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) ended: JoinHandle<std::io::Result<()>>,
    directory: TempDir,
    _staging: TempDir,
}

impl Server {
    /// An open server.
    pub(crate) async fn start() -> Self {
        Self::with(Options::new(Access::Open)).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        Self::limited(options, Limits::default()).await
    }

    pub(crate) async fn limited(options: Options, limits: Limits) -> Self {
        Self::of(options, limits, |sandbox, _| sandbox).await
    }

    /// One whose directory is the root of a whole system.
    pub(crate) async fn of_a_system() -> Self {
        let (options, limits) = (Options::new(Access::Open), Limits::default());
        Self::of(options, limits, |sandbox, _| Sandbox { is_system: true, ..sandbox }).await
    }

    /// One that keeps snapshots of its directory.
    pub(crate) async fn keeping() -> Self {
        let (options, limits) = (Options::new(Access::Open), Limits::default());
        Self::of(options, limits, |sandbox, files| {
            let files = files.with_snapshots(Store::in_memory(), sandbox.id.clone());
            Sandbox { files: Arc::new(files), ..sandbox }
        })
        .await
    }

    async fn of(
        options: Options,
        limits: Limits,
        changed: impl FnOnce(Sandbox, HostFs) -> Sandbox,
    ) -> Self {
        let staging = tempfile::tempdir().unwrap();
        let directory = tempfile::tempdir_in(staging.path()).unwrap();
        let files = files(&directory, &staging, limits);
        let sandbox = changed(sandbox(&directory, files.clone()), files);
        let app = App::new(sandbox, options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server::run(listener, app, async { drop(stopped.await) }));
        Self { address, stop, ended, directory, _staging: staging }
    }

    /// The absolute path at which clients see a name.
    pub(crate) fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.directory.path().display())
    }

    /// The same place, for the test itself.
    pub(crate) fn host(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        let path = self.host(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes a file through the server, which then is sure of its version.
    pub(crate) async fn write(&self, name: &str, content: &str) {
        let target = format!("/v1/fs/file?path={}", encoded(name));
        assert_eq!(self.send(ask("PUT", &target).body(content)).await.status, 200);
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.host(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.host(name).symlink_metadata().is_ok()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.send(ask("GET", target)).await
    }

    pub(crate) async fn post_json(&self, target: &str, json: &str) -> Answer {
        self.send(ask("POST", target).header("content-type", "application/json").body(json)).await
    }

    /// Sends one request on a connection of its own.
    pub(crate) async fn send(&self, ask: Ask) -> Answer {
        let mut stream = self.connect().await;
        let head = ask.method == "HEAD";
        stream.write_all(&ask.into_bytes()).await.unwrap();
        answer(&mut stream, head).await
    }
}

fn files(directory: &TempDir, staging: &TempDir, limits: Limits) -> HostFs {
    let host = HostOptions {
        limits,
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: vec![staging.path().join("staging")],
    };
    HostFs::open(directory.path(), host).unwrap()
}

fn sandbox(directory: &TempDir, files: HostFs) -> Sandbox {
    let root = directory.path().to_str().unwrap();
    Sandbox {
        id: SandboxId::parse("test").unwrap(),
        files: Arc::new(files),
        prefix: SandboxPath::parse(root, engine::DotDot::Refuse).unwrap(),
        home: SandboxPath::root(),
        is_system: false,
    }
}

/// A server that is only set up.
pub(crate) fn app(options: Options) -> Result<Arc<App>, SetupError> {
    let (directory, staging) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = files(&directory, &staging, Limits::default());
    App::new(sandbox(&directory, files), options)
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: &'static str,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

pub(crate) fn ask(method: &'static str, target: &str) -> Ask {
    Ask { method, target: target.to_owned(), headers: Vec::new(), body: None }
}

impl Ask {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            text.push_str("host: localhost\r\n");
        }
        for (name, value) in self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = self.body.unwrap_or_default();
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        [text.into_bytes(), body].concat()
    }
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Asserts a success with exactly this JSON.
    #[track_caller]
    pub(crate) fn is_json(&self, body: &str) {
        assert_eq!((self.status, self.text()), (200, body));
        assert_eq!(self.header("content-type"), Some("application/json"));
    }

    /// Asserts a problem whose first four fields are exactly these.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, word: &str, title: &str, detail: &str) {
        let detail = serde_json::to_string(detail).unwrap();
        let expected = format!(
            "{{\"type\":\"urn:sandbox-agent:error:{word}\",\"title\":\"{title}\",\
             \"status\":{status},\"detail\":{detail},"
        );
        assert!(self.text().starts_with(&expected), "{}\nis not\n{expected}", self.text());
        assert_eq!(self.status, status);
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
    }

    /// Asserts a 400 that names the client's mistake.
    #[track_caller]
    pub(crate) fn is_invalid(&self, message: &str) {
        let detail = format!("invalid request: {message}");
        self.is_problem(400, "invalid_request", "Invalid Request", &detail);
    }

    /// Asserts a problem by its status and kind, with a message and a hint.
    #[track_caller]
    pub(crate) fn is_kind(&self, status: u16, kind: &str) {
        let problem = self.json();
        assert_eq!((self.status, problem["kind"].as_str()), (status, Some(kind)), "{problem}");
        assert!(problem["hint"].is_string(), "{problem}");
    }
}

/// Reads one answer; the connection may go on.
pub(crate) async fn answer(stream: &mut TcpStream, head_only: bool) -> Answer {
    let reading = async {
        let head = read_until(stream, b"\r\n\r\n").await;
        let (status, headers) = parse_head(&head);
        let mut answer = Answer { status, headers, body: Vec::new() };
        // Events have no end.
        let is_endless = answer.header("content-type") == Some("text/event-stream");
        if !head_only && !is_endless && ![204, 304].contains(&status) {
            answer.body = read_body(stream, &answer).await;
        }
        answer
    };
    tokio::time::timeout(SOON, Box::pin(reading)).await.expect("no answer in time")
}

/// What arrives until the server closes; an error if it resets the connection.
pub(crate) async fn rest(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    tokio::time::timeout(SOON, reading).await.expect("not closed in time")?;
    Ok(bytes)
}

async fn read_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(end) {
        bytes.push(stream.read_u8().await.expect("closed before the end of the headers"));
    }
    String::from_utf8(bytes).unwrap()
}

fn parse_head(head: &str) -> (u16, Vec<(String, String)>) {
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    });
    (status, headers.collect())
}

async fn read_body(stream: &mut TcpStream, answer: &Answer) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(length) = answer.header("content-length") {
        body.resize(length.parse().unwrap(), 0);
        stream.read_exact(&mut body).await.unwrap();
    } else if answer.header("transfer-encoding") == Some("chunked") {
        loop {
            let line = read_until(stream, b"\r\n").await;
            let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).await.unwrap();
            if length == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }
    body
}

/// A name as it stands in a query.
pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
