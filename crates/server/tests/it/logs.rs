//! What a request leaves in the log.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::Value;
use server::{Access, Options};
use tokio::io::AsyncWriteExt as _;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::http::{SOON, Server, answer, ask, encoded, rest};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What was logged, once for programs and once for people.
#[derive(Default)]
struct Logs {
    json: Written,
    text: Written,
}

// For the whole process: with a subscriber of one thread, the other tests' threads decide whether
// a line is ever written.
static LOGS: LazyLock<Logs> = LazyLock::new(|| {
    let logs = Logs::default();
    let json = tracing_subscriber::fmt::layer().json().with_writer(logs.json.clone());
    let text = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(logs.text.clone());
    let filter = EnvFilter::new("sandkeep_server=debug,tools=info");
    tracing_subscriber::registry().with(filter).with(json).with(text).init();
    logs
});

/// The lines for people that hold a text, as soon as there is one.
pub(crate) async fn lines_with(text: &str) -> Vec<String> {
    LazyLock::force(&LOGS);
    let find = async {
        loop {
            let lines = LOGS.text.lines();
            let told: Vec<String> = lines.into_iter().filter(|line| line.contains(text)).collect();
            if !told.is_empty() {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, find).await.expect("nothing was logged")
}

/// Begins to keep what is logged.
pub(crate) fn start() {
    LazyLock::force(&LOGS);
}

/// The events of a request, up to the one that ends it.
async fn events(id: &str) -> Vec<Value> {
    let find = async {
        loop {
            let lines = LOGS.json.lines();
            let events = lines.iter().filter(|line| line.contains(id));
            let events: Vec<Value> =
                events.map(|line| serde_json::from_str(line).unwrap()).collect();
            if events.iter().any(|event| event["fields"]["message"] == "request") {
                return events;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, find).await.expect("the request left no line")
}

#[tokio::test]
async fn a_request_is_one_line_without_secrets() {
    let logs = &*LOGS;
    let server = Server::with(Options::new(Access::Token("hush-token".to_owned()))).await;
    let ask = ask("PUT", "/v1/fs/file?path=hush-name")
        .header("authorization", "Bearer hush-token")
        .header("x-request-id", "the-id")
        .body("hush-content");
    assert_eq!(server.send(ask).await.status, 200);
    let events = events("the-id").await;
    assert_eq!(events.len(), 1, "{events:#?}");
    let fields = &events[0]["fields"];
    assert_eq!(events[0]["level"], "DEBUG");
    assert_eq!((&fields["method"], &fields["route"]), (&"PUT".into(), &"/v1/fs/file".into()));
    assert_eq!((&fields["status"], &fields["received"]), (&200.into(), &12.into()));
    assert_eq!(fields["complete"], true);
    assert!(fields["micros"].is_u64() && fields["sent"].is_u64());
    assert!(!logs.json.lines().concat().contains("hush"));
}

#[tokio::test]
async fn a_name_cannot_forge_a_line_or_colour_the_terminal() {
    let logs = &*LOGS;
    let server = Server::start().await;
    let name = encoded("x\nFORGED\r\u{1b}[31m");
    let ask = ask("GET", &format!("/v1/fs/file?path={name}")).header("x-request-id", "forger");
    assert_eq!(server.send(ask).await.status, 400);
    assert_eq!(events("forger").await.len(), 2);
    let lines = logs.text.lines();
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("FORGED")).collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("operation refused"), "{told:#?}");
    assert!(!told[0].contains(char::is_control), "{told:#?}");
}

#[tokio::test]
async fn a_file_that_was_sent_whole_is_complete() {
    LazyLock::force(&LOGS);
    let server = Server::start().await;
    server.put("f", &"x".repeat(1_000_000));
    let ask = ask("GET", "/v1/fs/file?path=f").header("x-request-id", "whole-read");
    assert_eq!(server.send(ask).await.body.len(), 1_000_000);
    let events = events("whole-read").await;
    let fields = &events[0]["fields"];
    assert_eq!((&fields["sent"], &fields["complete"]), (&1_000_000.into(), &true.into()));
}

#[tokio::test]
async fn a_read_that_breaks_off_is_logged_with_its_request_and_its_path() {
    LazyLock::force(&LOGS);
    let server = Server::start().await;
    let file = std::fs::File::create(server.host("shrinking")).unwrap();
    file.set_len(256 * 1024 * 1024).unwrap();
    let ask = ask("GET", "/v1/fs/file?path=shrinking").header("x-request-id", "broken-read");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, true).await.status, 200);
    file.set_len(0).unwrap();
    drop(rest(&mut stream).await);
    let events = events("broken-read").await;
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(events[0]["fields"]["path"], "\"/shrinking\"");
    assert_eq!(events[1]["fields"]["complete"], false);
}
