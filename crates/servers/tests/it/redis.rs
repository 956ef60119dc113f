//! Redis keeps its promises to a client that speaks to it by hand.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;

use sandkeep_servers::{Kind, Server};

use crate::life;

#[test]
fn redis_keeps_what_it_was_told_when_it_is_killed() {
    let mut server = Server::start_with(Kind::Redis, &["appendfsync always"]);
    assert_eq!(ask(&server, "SET greeting hello"), "+OK");
    let first = server.pid();
    server.kill();
    assert!(TcpStream::connect(server.address()).is_err());
    server.restart();
    life::assert_gone(first);
    assert_eq!(ask(&server, "GETRANGE greeting 0 -1"), "$5");
    server.restart_politely();
    assert_eq!(ask(&server, "STRLEN greeting"), ":5");
    life::assert_leaves_nothing(server);
}

#[test]
fn redis_wants_its_password() {
    let server = Server::start(Kind::Redis);
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(b"PING\r\n").unwrap();
    assert!(line(&mut BufReader::new(client)).starts_with("-NOAUTH"));
}

#[test]
fn redis_with_tls_answers_no_plain_client() {
    let server = Server::start_tls(Kind::Redis);
    assert!(server.url("some-store").starts_with("rediss://127.0.0.1:"));
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(b"PING\r\n").unwrap();
    assert!(!line(&mut BufReader::new(client)).starts_with("-NOAUTH"));
}

/// The first line of the answer.
fn ask(server: &Server, command: &str) -> String {
    let secret = life::credentials(server)["REDIS_PASSWORD"].clone();
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(format!("AUTH {secret}\r\n{command}\r\n").as_bytes()).unwrap();
    let mut reader = BufReader::new(client);
    assert_eq!(line(&mut reader), "+OK");
    line(&mut reader)
}

fn line(reader: &mut impl BufRead) -> String {
    let mut line = Vec::new();
    // A server that speaks TLS may close instead of answering.
    reader.read_until(b'\n', &mut line).unwrap_or_default();
    String::from_utf8_lossy(&line).trim_end().to_owned()
}
