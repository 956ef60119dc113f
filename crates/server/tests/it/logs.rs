//! What a request leaves in the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

use server::{Access, Options};
use tracing_subscriber::fmt::MakeWriter;

use crate::http::{Server, ask};

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
        self.0.lock().unwrap().write(bytes)
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

#[tokio::test]
async fn a_request_is_one_line_without_secrets() {
    let log = Written::default();
    // For the whole process: with a subscriber of one thread, the other tests' threads decide
    // whether a line is ever written.
    tracing_subscriber::fmt().json().with_writer(log.clone()).init();
    let server = Server::with(Options::new(Access::Token("hush-token".to_owned()))).await;
    let ask = ask("PUT", "/v1/fs/file?path=hush-name")
        .header("authorization", "Bearer hush-token")
        .header("x-request-id", "the-id")
        .body("hush-content");
    assert_eq!(server.send(ask).await.status, 200);
    let lines = log.lines();
    let requests: Vec<&String> = lines.iter().filter(|line| line.contains("the-id")).collect();
    assert_eq!(requests.len(), 1, "{lines:#?}");
    let line: serde_json::Value = serde_json::from_str(requests[0]).unwrap();
    let fields = &line["fields"];
    assert_eq!(line["level"], "INFO");
    assert_eq!((&fields["method"], &fields["route"]), (&"PUT".into(), &"/v1/fs/file".into()));
    assert_eq!((&fields["status"], &fields["received"]), (&200.into(), &12.into()));
    assert_eq!(fields["complete"], true);
    assert!(fields["micros"].is_u64() && fields["sent"].is_u64());
    assert!(!lines.concat().contains("hush"), "{lines:#?}");
}
