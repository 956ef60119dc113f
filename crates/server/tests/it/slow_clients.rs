//! Clients that say nothing, say it slowly, or do not listen.

use std::time::{Duration, Instant};

use server::{Access, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::http::{SOON, Server, answer, ask, rest};

const SHORT: Duration = Duration::from_millis(300);

async fn impatient() -> Server {
    let mut options = Options::new(Access::Open);
    options.timeouts.header = SHORT;
    options.timeouts.idle = SHORT * 3;
    options.timeouts.progress = SHORT;
    Server::with(options).await
}

#[tokio::test]
async fn a_client_that_sends_nothing_is_disconnected() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let began = Instant::now();
    drop(rest(&mut stream).await);
    assert!(began.elapsed() >= SHORT);
}

#[tokio::test]
async fn headers_that_drip_are_cut_off() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let drip = async {
        let mut interval = tokio::time::interval(SHORT / 6);
        loop {
            interval.tick().await;
            if stream.write_all(b"x").await.is_err() {
                return;
            }
        }
    };
    tokio::time::timeout(SOON, drip).await.expect("the dripping client was never disconnected");
}

#[tokio::test]
async fn headers_of_a_second_request_that_stop_are_cut_off() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    stream.write_all(b"GET /v1/hea").await.unwrap();
    let began = Instant::now();
    drop(rest(&mut stream).await);
    assert!(began.elapsed() < SHORT * 3);
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_its_time_and_then_closed() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    let began = Instant::now();
    drop(rest(&mut stream).await);
    assert!(began.elapsed() >= SHORT * 2, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_busy_connection_outlives_the_deadline_of_its_headers() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let began = Instant::now();
    while began.elapsed() < SHORT * 3 {
        stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream, false).await.status, 200);
    }
}

#[tokio::test]
async fn a_body_that_stalls_is_a_400_and_changes_nothing() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "10");
    stream.write_all(&ask.into_bytes()).await.unwrap();
    stream.write_all(b"half").await.unwrap();
    answer(&mut stream, false).await.is_kind(400, "broken_body");
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn a_body_that_is_slow_but_moves_arrives() {
    let server = impatient().await;
    let mut stream = server.connect().await;
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "6");
    stream.write_all(&ask.into_bytes()).await.unwrap();
    let mut interval = tokio::time::interval(SHORT / 2);
    for byte in b"steady" {
        interval.tick().await;
        stream.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(answer(&mut stream, false).await.status, 200);
    assert_eq!(server.content("f"), "steady");
}

#[tokio::test]
async fn a_body_that_drips_for_ever_is_a_400() {
    let server = impatient().await;
    let stream = server.connect().await;
    let (mut reader, mut writer) = stream.into_split();
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "1000000");
    writer.write_all(&ask.into_bytes()).await.unwrap();
    let drip = async {
        let mut interval = tokio::time::interval(SHORT / 6);
        while writer.write_all(b"x").await.is_ok() {
            interval.tick().await;
        }
    };
    let mut begin = [0; 12];
    let told = tokio::select! {
        read = reader.read_exact(&mut begin) => read,
        () = drip => panic!("disconnected without an answer"),
        () = tokio::time::sleep(SOON) => panic!("the dripping body was never refused"),
    };
    assert!(told.is_ok());
    assert_eq!(&begin, b"HTTP/1.1 400");
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_disconnected() {
    let server = impatient().await;
    // More than the socket buffers of both sides hold.
    let file = std::fs::File::create(server.host("big")).unwrap();
    file.set_len(256 * 1024 * 1024).unwrap();
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/fs/file?path=big").into_bytes()).await.unwrap();
    // The metrics tell when the server gave up, without this reader taking a byte.
    let gave_up = async {
        loop {
            let metrics = server.get("/metrics").await;
            let done = r#"route="/v1/fs/file",status="200"} 1"#;
            if metrics.text().contains(done) {
                return;
            }
            tokio::time::sleep(SHORT / 3).await;
        }
    };
    tokio::time::timeout(SOON, gave_up).await.expect("the stalled reader was kept");
    let mut taken = 0;
    let mut buffer = vec![0; 1024 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        taken += length;
    }
    assert!(taken < 256 * 1024 * 1024);
}

#[tokio::test]
async fn clients_beyond_the_limit_are_told_to_come_back() {
    let mut options = Options::new(Access::Open);
    options.most_connections = 2;
    let server = Server::with(options).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = server.connect().await;
        stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream, false).await.status, 200);
        held.push(stream);
    }
    let refused = server.get("/v1/health").await;
    refused.is_kind(503, "busy");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(held);
    let again = async {
        while server.get("/v1/health").await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, again).await.expect("no place became free");
}
