//! Azurite keeps blobs in the container that is there from the start.

use sandkeep_servers::{Kind, Server};

use crate::life;
use crate::wire::Request;

const PATH: &str = "/devstoreaccount1/sandkeep/some-store/greeting";

#[test]
fn azurite_keeps_what_it_was_told_when_it_ends_in_order() {
    let mut server = Server::start(Kind::Azurite);
    let put = Request { method: "PUT", path: PATH, headers: "", body: "hello" };
    assert_eq!(put.send_to_azure(&server).0, 201);
    server.restart_politely();
    let read = Request { method: "GET", path: PATH, headers: "", body: "" };
    assert_eq!(read.send_to_azure(&server), (200, "hello".to_owned()));
    server.restart();
    assert_eq!(read.send_to_azure(&server), (200, "hello".to_owned()));
    life::assert_leaves_nothing(server);
}
