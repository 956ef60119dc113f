//! The two servers that speak S3, one of which cannot be trusted.

use sandkeep_servers::{Kind, Server};

use crate::life;
use crate::wire::Request;

const IF_NEW: &str = "If-None-Match: *\r\n";

#[test]
fn seaweedfs_keeps_what_it_was_told_when_it_is_killed() {
    let mut server = Server::start(Kind::SeaweedFs);
    assert_eq!(put(&server, "hello", IF_NEW), 200);
    assert_eq!(put(&server, "again", IF_NEW), 412);
    let first = server.pid();
    server.restart();
    life::assert_gone(first);
    assert_eq!(read(&server), (200, "hello".to_owned()));
    server.restart_politely();
    assert_eq!(read(&server), (200, "hello".to_owned()));
    life::assert_leaves_nothing(server);
}

#[test]
fn seaweedfs_wants_its_secret() {
    let server = Server::start(Kind::SeaweedFs);
    let request = Request { method: "GET", path: "/sandkeep", headers: "", body: "" };
    assert_eq!(request.send_to_s3(&server, "wrong").0, 403);
}

#[test]
fn s3rver_ignores_the_conditions_of_writes() {
    let mut server = Server::start(Kind::S3rver);
    assert_eq!(put(&server, "hello", IF_NEW), 200);
    assert_eq!(put(&server, "again", IF_NEW), 200);
    server.restart();
    assert_eq!(read(&server), (200, "again".to_owned()));
    life::assert_leaves_nothing(server);
}

fn put(server: &Server, body: &str, headers: &str) -> u16 {
    let path = "/sandkeep/some-store/greeting";
    Request { method: "PUT", path, headers, body }.send_to_s3(server, &secret(server)).0
}

fn read(server: &Server) -> (u16, String) {
    let path = "/sandkeep/some-store/greeting";
    Request { method: "GET", path, headers: "", body: "" }.send_to_s3(server, &secret(server))
}

fn secret(server: &Server) -> String {
    life::credentials(server)["AWS_SECRET_ACCESS_KEY"].clone()
}
