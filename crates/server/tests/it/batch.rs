//! Many files as one tar archive.

use std::os::unix::fs::symlink;

use engine::ArchiveLimits;
use server::{Access, Options};

use crate::http::{Answer, Server, ask};
use crate::tar_archive::{archive, member, members};

async fn upload(server: &Server, target: &str, bytes: Vec<u8>) -> Answer {
    server.send(ask("POST", target).header("content-type", "application/x-tar").body(bytes)).await
}

#[tokio::test]
async fn an_archive_is_unpacked_and_its_members_are_named_in_order() {
    let server = Server::start().await;
    let bytes = archive(&[("./", ""), ("b/", ""), ("b/two.txt", "2"), ("a.txt", "1")]);
    let answer = upload(&server, "/v1/fs/upload-batch?path=into", bytes).await;
    let shown = |name: &str| server.shown(&format!("into/{name}"));
    answer.is_json(&format!(
        r#"{{"paths":["{}","{}","{}"],"truncated":false}}"#,
        shown("b"),
        shown("b/two.txt"),
        shown("a.txt")
    ));
    assert_eq!(
        (server.content("into/a.txt"), server.content("into/b/two.txt")),
        ("1".into(), "2".into())
    );
    let modified = server.host("into/a.txt").metadata().unwrap().modified().unwrap();
    let seconds = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(seconds, 1_700_000_000);
}

#[tokio::test]
async fn an_archive_goes_to_the_home_when_nothing_is_said() {
    let server = Server::start().await;
    let answer = upload(&server, "/v1/fs/upload-batch", archive(&[("f", "x")])).await;
    answer.is_json(&format!(r#"{{"paths":["{}"],"truncated":false}}"#, server.shown("f")));
}

#[tokio::test]
async fn only_the_first_1024_members_are_named() {
    let server = Server::start().await;
    let names: Vec<String> = (0..1030).map(|n| format!("f{n}")).collect();
    let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let answer = upload(&server, "/v1/fs/upload-batch", archive(&all)).await;
    assert_eq!(answer.header("x-entries"), Some("1030"));
    let answer = answer.json();
    assert_eq!(answer["paths"].as_array().unwrap().len(), 1024);
    assert_eq!(answer["truncated"], true);
    assert_eq!(server.names().len(), 1030);
    let answer = upload(&server, "/v1/fs/upload-batch", archive(&all[..1024])).await.json();
    assert_eq!(answer["truncated"], false);
}

#[tokio::test]
async fn the_content_type_is_matched_as_the_client_expects() {
    let server = Server::start().await;
    let send = |kind: &'static str| {
        let ask = ask("POST", "/v1/fs/upload-batch").header("content-type", kind);
        server.send(ask.body(archive(&[("f", "x")])))
    };
    assert_eq!(send("application/x-tarball").await.status, 200);
    assert_eq!(send("application/x-tar; charset=binary").await.status, 200);
    for kind in ["Application/X-Tar", "application/gzip", ""] {
        send(kind).await.is_invalid("content-type must be application/x-tar");
    }
    let answer = server.send(ask("POST", "/v1/fs/upload-batch").body("x")).await;
    answer.is_invalid("content-type must be application/x-tar");
}

#[tokio::test]
async fn a_member_that_leads_elsewhere_is_refused_and_nothing_remains() {
    let server = Server::start().await;
    for name in ["../evil", "/abs", "a/../../evil"] {
        let bytes = archive(&[("good", "x"), (name, "x")]);
        let answer = upload(&server, "/v1/fs/upload-batch", bytes).await;
        answer.is_invalid(&format!("invalid relative path: {name}"));
        assert!(server.names().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_link_in_an_archive_that_leads_out_is_a_400_and_nothing_remains() {
    let server = Server::start().await;
    let bytes = [member("link", b'2', "/etc", b""), vec![0; 1024]].concat();
    let answer = upload(&server, "/v1/fs/upload-batch", bytes).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn broken_archives_are_a_400_and_nothing_remains() {
    let server = Server::start().await;
    let whole = archive(&[("f", "content"), ("g", "content")]);
    let gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    for bytes in [whole[..700].to_vec(), whole[..515].to_vec(), gzip, b"not a tar".to_vec()] {
        let answer = upload(&server, "/v1/fs/upload-batch", bytes).await;
        assert_eq!(
            (answer.status, &answer.json()["type"]),
            (400, &"urn:sandbox-agent:error:stream_error".into())
        );
        answer.is_kind(400, "bad_archive");
        assert!(server.names().is_empty());
    }
}

#[tokio::test]
async fn a_directory_comes_down_sorted_and_without_a_wrapper() {
    let server = Server::start().await;
    server.put("d/b.txt", "2");
    server.put("d/a/x.txt", "1");
    let answer = server.get("/v1/fs/download-batch?path=d").await;
    assert_eq!(answer.header("content-type"), Some("application/x-tar"));
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    let found = members(&answer.body);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.trim_end_matches('/')).collect();
    assert_eq!(names, ["a", "a/x.txt", "b.txt"]);
    assert_eq!(found[2].1, "2");
}

#[tokio::test]
async fn a_file_comes_down_as_one_member() {
    let server = Server::start().await;
    server.put("d/f.txt", "x");
    let answer = server.get("/v1/fs/download-batch?path=d/f.txt").await;
    assert_eq!(members(&answer.body), [("f.txt".to_owned(), "x".to_owned())]);
}

#[tokio::test]
async fn what_comes_down_goes_up_again() {
    let server = Server::start().await;
    server.put("d/a/b", "content");
    let down = server.get("/v1/fs/download-batch?path=d").await;
    let up = upload(&server, "/v1/fs/upload-batch?path=e", down.body).await;
    assert_eq!(up.status, 200);
    assert_eq!(server.content("e/a/b"), "content");
}

#[tokio::test]
async fn a_link_comes_down_and_goes_up_as_a_link() {
    let server = Server::start().await;
    server.put("d/f", "x");
    symlink("f", server.host("d/link")).unwrap();
    let down = server.get("/v1/fs/download-batch?path=d").await;
    assert_eq!(upload(&server, "/v1/fs/upload-batch?path=e", down.body).await.status, 200);
    assert_eq!(std::fs::read_link(server.host("e/link")).unwrap().to_str(), Some("f"));
}

#[tokio::test]
async fn a_socket_cannot_be_packed() {
    let server = Server::start().await;
    let _socket = std::os::unix::net::UnixListener::bind(server.host("s")).unwrap();
    let answer = server.get("/v1/fs/download-batch?path=s").await;
    answer.is_kind(400, "not_a_file");
    assert!(answer.json()["detail"].as_str().unwrap().contains("unsupported"), "{answer:?}");
}

#[tokio::test]
async fn an_archive_over_a_limit_is_a_400() {
    let server = Server::start().await;
    server.put("a/b/c", "12345");
    for (limit, most) in [("maxBytes", 4), ("maxEntries", 2), ("maxDepth", 2)] {
        let answer = server.get(&format!("/v1/fs/download-batch?{limit}={most}")).await;
        assert_eq!(answer.json()["limit"], limit, "{answer:?}");
        assert_eq!(answer.json()["max"], most);
        assert_eq!(answer.json()["type"], "urn:sandbox-agent:error:limit_exceeded");
        assert_eq!(answer.json()["title"], "Limit Exceeded");
        answer.is_kind(400, "limit_exceeded");
    }
    let target = "/v1/fs/download-batch?maxBytes=5&maxEntries=3&maxDepth=3";
    assert_eq!(server.get(target).await.status, 200);
    server.get("/v1/fs/download-batch?maxBytes=x").await.is_kind(400, "invalid_argument");
}

#[tokio::test]
async fn the_limit_of_the_server_counts_when_it_is_lower() {
    let mut options = Options::new(Access::Open);
    options.archive_limits = ArchiveLimits { bytes: Some(4), ..ArchiveLimits::default() };
    let server = Server::with(options).await;
    server.put("f", "12345");
    let answer = server.get("/v1/fs/download-batch?maxBytes=100").await;
    answer.is_kind(400, "limit_exceeded");
}
