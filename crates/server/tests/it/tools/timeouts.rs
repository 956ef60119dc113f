//! A call ends in its time, and leaves nothing half done.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{call, done, failed};
use crate::http::Server;

/// Enough files that nothing is done with all of them in a millisecond.
fn plant(server: &Server, count: usize) {
    for number in 0..count {
        server.put(&format!("big/d{}/f{number}", number % 50), "some words in a file\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_takes_too_long_ends_and_says_so() {
    let server = Server::start().await;
    plant(&server, 5000);
    let began = Instant::now();
    let arguments = json!({"path": "big", "content": "nowhere to be found"});
    let answer = call(&server, "search", "?timeoutMs=1", arguments.clone()).await;
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // It may have had the time to tell that it was cut, or not even that.
    match answer.status {
        200 => assert_eq!(answer.json()["metadata"]["truncated"]["reason"], "time"),
        _ => drop(timed_out(&answer)),
    }
    let whole = done(&call(&server, "search", "", arguments).await);
    assert_eq!(whole["filesSearched"], 5000);
}

fn timed_out(answer: &crate::http::Answer) -> Value {
    let result = failed(answer, 504, "timeout");
    assert_eq!(result["metadata"]["retryable"], true);
    assert!(result["error"].as_str().unwrap().contains("1 ms"), "{result}");
    result
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_takes_too_long_is_not_there_at_all() {
    let server = Server::start().await;
    plant(&server, 5000);
    let answer = call(&server, "copy", "?timeoutMs=1", json!({"from": "big", "to": "copy"})).await;
    timed_out(&answer);
    assert!(!server.has("copy"));
    // Nor does it appear afterwards: another one that began later is done by then.
    done(&call(&server, "copy", "", json!({"from": "big", "to": "later"})).await);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.names(), ["big", "later"]);
    let listed = call(&server, "list_directory", "", json!({})).await;
    assert_eq!(done(&listed)["entries"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_takes_too_long_happened_whole_or_not_at_all() {
    let server = Server::start().await;
    plant(&server, 5000);
    let answer =
        call(&server, "delete", "?timeoutMs=1", json!({"path": "big", "recursive": true})).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    match answer.status {
        200 => assert!(!server.has("big")),
        _ => {
            timed_out(&answer);
            let left =
                call(&server, "list_directory", "", json!({"path": ".", "recursive": true})).await;
            let left = done(&left)["entries"].as_array().unwrap().len();
            assert!(left == 0 || left == 5051, "{left}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_waits_for_a_body_does_not_count_it_as_the_tools_time() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let body = r#"{"path": "f", "content": "x"}"#;
    let head = format!(
        "POST /v1/tools/write_file?timeoutMs=2000 HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    use tokio::io::AsyncWriteExt as _;
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    done(&crate::http::answer(&mut stream, false).await);
}
