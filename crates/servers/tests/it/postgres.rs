//! Postgres keeps its promises to its own client.

use std::process::Command;

use sandkeep_servers::{Kind, Server};

use crate::life;

#[test]
fn postgres_keeps_what_it_was_told_when_it_is_killed() {
    let mut server = Server::start(Kind::Postgres);
    ask(&server, "create table greetings (words text)");
    ask(&server, "insert into greetings values ('hello')");
    let first = server.pid();
    server.restart();
    life::assert_gone(first);
    assert_eq!(ask(&server, "select words from greetings"), "hello");
    server.restart_politely();
    assert_eq!(ask(&server, "select words from greetings"), "hello");
    life::assert_leaves_nothing(server);
}

#[test]
fn postgres_wants_its_password() {
    let server = Server::start(Kind::Postgres);
    let words = try_ask(&server, "select 1", "wrong", "").unwrap_err();
    assert!(words.contains("password authentication failed"), "{words}");
}

#[test]
fn postgres_with_tls_answers_no_plain_client() {
    let server = Server::start_tls(Kind::Postgres);
    let secret = life::credentials(&server)["PGPASSWORD"].clone();
    let url = server.url("some-store");
    let tls = &url[url.find("sslmode=").unwrap()..];
    assert_eq!(try_ask(&server, "select 1", &secret, tls).unwrap(), "1");
    assert!(try_ask(&server, "select 1", &secret, "sslmode=disable").is_err());
}

fn ask(server: &Server, sql: &str) -> String {
    let secret = life::credentials(server)["PGPASSWORD"].clone();
    try_ask(server, sql, &secret, "").unwrap()
}

fn try_ask(server: &Server, sql: &str, secret: &str, options: &str) -> Result<String, String> {
    let url = format!("postgres://sandkeep@{}/postgres?{options}", server.address());
    let mut command = Command::new("psql");
    command.env("PGPASSWORD", secret).args(["--no-psqlrc", "-At", "-c", sql, &url]);
    let output = command.output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}
