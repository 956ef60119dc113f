//! How a server ends.

use std::time::{Duration, Instant};

use server::{Access, Options};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http::{SOON, Server, answer, ask, rest};

#[tokio::test]
async fn an_idle_server_ends_at_once() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    let began = Instant::now();
    server.stop.send(()).unwrap();
    assert!(rest(&mut stream).await.unwrap().is_empty());
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_request_that_is_under_way_is_answered() {
    let server = Server::start().await;
    let host = server.host("f");
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "10");
    let ask = ask.header("expect", "100-continue");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, true).await.status, 100);
    server.stop.send(()).unwrap();
    stream.write_all(b"0123456789").await.unwrap();
    let answered = answer(&mut stream, false).await;
    assert_eq!((answered.status, answered.header("connection")), (200, Some("close")));
    assert_eq!(std::fs::read_to_string(host).unwrap(), "0123456789");
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn clients_that_wait_for_no_answer_do_not_delay_the_end() {
    let mut options = Options::new(Access::Open);
    options.timeouts.drain = SOON * 3;
    let server = Server::with(options).await;
    let mut silent = server.connect().await;
    let mut half = server.connect().await;
    half.write_all(b"GET /v1/hea").await.unwrap();
    let mut lingering = server.connect().await;
    let refused = ask("PUT", "/v1/fs/file").header("content-length", "1000000");
    lingering.write_all(&refused.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut lingering, false).await.status, 400);
    // All of them are connected by the time that a later one is answered.
    assert_eq!(server.get("/v1/health").await.status, 200);
    let began = Instant::now();
    server.stop.send(()).unwrap();
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    for stream in [&mut silent, &mut half, &mut lingering] {
        assert!(rest(stream).await.unwrap_or_default().is_empty());
    }
}

#[test]
fn the_server_ends_before_the_published_client_kills_it() {
    assert!(Options::new(Access::Open).timeouts.drain < Duration::from_secs(5));
}

#[tokio::test]
async fn an_answer_that_is_being_taken_is_sent_to_its_end() {
    let server = Server::start().await;
    let length = 8 * 1024 * 1024;
    std::fs::File::create(server.host("big")).unwrap().set_len(length).unwrap();
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/fs/file?path=big").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, true).await.status, 200);
    server.stop.send(()).unwrap();
    assert_eq!(rest(&mut stream).await.unwrap().len() as u64, length);
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn whoever_watches_does_not_delay_the_end() {
    let mut options = Options::new(Access::Open);
    options.timeouts.drain = SOON * 3;
    let server = Server::with(options).await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/sandboxes/test/fs-watch").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    server.stop.send(()).unwrap();
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
    // It ends as a whole answer does, not in the middle.
    assert!(rest(&mut stream).await.unwrap().ends_with(b"\r\n0\r\n\r\n"));
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_after_the_drain_timeout() {
    let mut options = Options::new(Access::Open);
    options.timeouts.drain = Duration::from_millis(200);
    let server = Server::with(options).await;
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "10");
    let ask = ask.header("expect", "100-continue");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, true).await.status, 100);
    let host = server.host("f");
    server.stop.send(()).unwrap();
    tokio::time::timeout(SOON, server.ended).await.unwrap().unwrap().unwrap();
    drop(rest(&mut stream).await);
    assert!(std::fs::symlink_metadata(host).is_err());
}
