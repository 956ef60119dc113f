//! Listings, whole and page by page.

use serde_json::Value;

use crate::http::{Answer, Server, encoded};

async fn with_files(count: usize) -> Server {
    let server = Server::start().await;
    for n in 0..count {
        server.put(&format!("f{n:05}"), "");
    }
    server
}

fn names(answer: &Answer) -> Vec<String> {
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    answer.json().as_array().unwrap().iter().map(name).collect()
}

#[tokio::test]
async fn a_listing_is_sorted_by_the_bytes_of_the_names() {
    let server = Server::start().await;
    for name in ["b", "a", "B", "é", "_"] {
        server.put(name, "");
    }
    assert_eq!(names(&server.get("/v1/fs/entries").await), ["B", "_", "a", "b", "é"]);
}

#[tokio::test]
async fn a_long_listing_arrives_whole_in_chunks() {
    let server = with_files(3000).await;
    let answer = server.get("/v1/fs/entries").await;
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    assert_eq!(names(&answer).len(), 3000);
    assert_eq!(answer.header("x-next-after"), None);
}

#[tokio::test]
async fn pages_follow_each_other_to_the_end() {
    let server = with_files(10).await;
    let mut found = Vec::new();
    let mut target = "/v1/fs/entries?limit=4".to_owned();
    let mut pages = 0;
    loop {
        let answer = server.get(&target).await;
        found.extend(names(&answer));
        pages += 1;
        let Some(next) = answer.header("x-next-after") else { break };
        target = format!("/v1/fs/entries?limit=4&after={next}");
    }
    assert_eq!((pages, found.len()), (3, 10));
    assert!(found.is_sorted());
}

#[tokio::test]
async fn a_page_that_ends_with_the_directory_has_no_next() {
    let server = with_files(4).await;
    let answer = server.get("/v1/fs/entries?limit=4").await;
    assert_eq!((names(&answer).len(), answer.header("x-next-after")), (4, None));
    let answer = server.get("/v1/fs/entries?limit=3").await;
    assert_eq!((names(&answer).len(), answer.header("x-next-after")), (3, Some("f00002")));
}

#[tokio::test]
async fn a_long_page_is_followed_by_the_rest() {
    let server = with_files(2500).await;
    let answer = server.get("/v1/fs/entries?limit=2000").await;
    assert_eq!((names(&answer).len(), answer.header("x-next-after")), (2000, Some("f01999")));
    let answer = server.get("/v1/fs/entries?limit=2000&after=f01999").await;
    assert_eq!((names(&answer).len(), answer.header("x-next-after")), (500, None));
    let all = format!("/v1/fs/entries?limit={}", u64::MAX);
    assert_eq!(names(&server.get(&all).await).len(), 2500);
}

#[tokio::test]
async fn the_next_name_survives_a_header() {
    let server = Server::start().await;
    for name in ["a\nb", "ü & %", "z"] {
        server.put(name, "");
    }
    let first = server.get("/v1/fs/entries?limit=1").await;
    let next = first.header("x-next-after").unwrap();
    assert_eq!(next, encoded("a\nb"));
    let second = server.get(&format!("/v1/fs/entries?limit=1&after={next}")).await;
    assert_eq!(names(&second), ["z"]);
}

#[tokio::test]
async fn a_limit_is_a_whole_number_from_one() {
    let server = Server::start().await;
    for limit in ["0", "-1", "1.5", "x", "", "18446744073709551616"] {
        let answer = server.get(&format!("/v1/fs/entries?limit={limit}")).await;
        answer.is_kind(400, "invalid_argument");
    }
}
