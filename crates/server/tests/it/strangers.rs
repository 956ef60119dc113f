//! Clients that nobody has let in.

use std::time::{Duration, Instant};

use server::{Access, Options};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http::{Answer, SOON, Server, answer, ask, rest};

const SHORT: Duration = Duration::from_millis(300);

async fn guarded(most_connections: usize, stranger: Duration) -> Server {
    let mut options = Options::new(Access::Token("token".to_owned()));
    options.most_connections = most_connections;
    options.timeouts.stranger = stranger;
    Server::with(options).await
}

async fn ask_on(stream: &mut TcpStream, target: &str) -> Answer {
    let ask = ask("GET", target).header("authorization", "Bearer token");
    stream.write_all(&ask.into_bytes()).await.unwrap();
    answer(stream, false).await
}

#[tokio::test]
async fn asking_whether_the_server_is_alive_does_not_hold_a_connection() {
    let server = guarded(8, SHORT * 2).await;
    let mut stream = server.connect().await;
    let began = Instant::now();
    let hold = async {
        let ask = || ask("GET", "/healthz").into_bytes();
        while stream.write_all(&ask()).await.is_ok() {
            let mut byte = [0; 1024];
            match tokio::io::AsyncReadExt::read(&mut stream, &mut byte).await {
                Ok(1..) => tokio::time::sleep(SHORT / 6).await,
                Ok(0) | Err(_) => return,
            }
        }
    };
    tokio::time::timeout(SOON, hold).await.expect("the stranger was kept");
    assert!(began.elapsed() >= SHORT, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_stranger_that_never_pauses_has_no_more_time() {
    let server = guarded(8, SHORT).await;
    let (mut reader, mut writer) = server.connect().await.into_split();
    let requests = ask("GET", "/healthz").into_bytes().repeat(1000);
    let flood = async { while writer.write_all(&requests).await.is_ok() {} };
    let mut sink = tokio::io::sink();
    let drain = tokio::io::copy(&mut reader, &mut sink);
    let both = async { tokio::join!(flood, drain) };
    drop(tokio::time::timeout(SOON, both).await.expect("the stranger was kept"));
}

#[tokio::test]
async fn a_stranger_that_pauses_is_disconnected_before_its_time_is_over() {
    let server = guarded(8, SOON * 3 / 10).await;
    let mut stream = server.connect().await;
    assert_eq!(ask_on(&mut stream, "/healthz").await.status, 200);
    let began = Instant::now();
    drop(rest(&mut stream).await);
    assert!(began.elapsed() < SOON / 5, "{:?}", began.elapsed());
}

#[tokio::test]
async fn who_was_let_in_once_may_pause_for_longer() {
    let server = guarded(8, SHORT).await;
    let mut stream = server.connect().await;
    assert_eq!(ask_on(&mut stream, "/v1/health").await.status, 200);
    // The pause is what is tested: there is nothing else to wait for.
    tokio::time::sleep(SHORT * 2).await;
    assert_eq!(ask_on(&mut stream, "/v1/health").await.status, 200);
}

#[tokio::test]
async fn strangers_that_hold_every_connection_make_room() {
    let server = guarded(2, SOON).await;
    let mut strangers = Vec::new();
    for _ in 0..2 {
        let mut stream = server.connect().await;
        stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream, false).await.status, 401);
        strangers.push(stream);
    }
    let mut first = server.connect().await;
    assert_eq!(ask_on(&mut first, "/v1/health").await.status, 200);
    assert!(rest(&mut strangers[0]).await.unwrap_or_default().is_empty());
    let mut second = server.connect().await;
    assert_eq!(ask_on(&mut second, "/v1/health").await.status, 200);
    assert!(rest(&mut strangers[1]).await.unwrap_or_default().is_empty());
    server.get("/v1/health").await.is_kind(503, "busy");
    let metrics = ask_on(&mut first, "/metrics").await;
    assert!(metrics.text().contains("sandkeep_http_evicted_connections_total 2\n"));
}
