//! A server that shares its store refuses nothing by what it saw long ago.

use crate::raw_http::{Answer, JSON};
use crate::server_process::ServerProcess;
use crate::site::Site;

/// Two servers on one store, neither of which looks at it unless it must.
fn servers(site: &Site) -> [ServerProcess; 2] {
    let url = format!("sqlite:{}", site.path("store.db").display());
    [(); 2].map(|()| ServerProcess::of_store(&url, &["--staleness", "1h"]))
}

fn put_unmodified_since(server: &ServerProcess, date: &str) -> Answer {
    let headers = [("If-Unmodified-Since", date)];
    server.connect().ask("PUT", "/v1/fs/file?path=a", &headers, b"new")
}

#[test]
fn a_date_is_compared_with_the_newest_version() {
    let site = Site::new();
    let [one, two] = servers(&site);
    let put = |server: &ServerProcess| server.ask("PUT", "/v1/fs/file?path=a", b"old").succeeds();
    put(&two);
    put(&one);
    put_unmodified_since(&two, "Fri, 31 Dec 2100 23:59:59 GMT").succeeds();
    put(&one);
    let refused = put_unmodified_since(&two, "Fri, 31 Dec 1999 23:59:59 GMT");
    assert_eq!(refused.status, 412);
}

#[test]
fn a_directory_that_another_server_made_may_be_spelled_with_a_slash() {
    let site = Site::new();
    let [one, two] = servers(&site);
    one.ask("POST", "/v1/fs/mkdir?path=/dir", b"").succeeds();
    two.ask("DELETE", "/v1/fs/entry?path=/dir/", b"").succeeds();
    assert_eq!(two.ask("DELETE", "/v1/fs/entry?path=/dir/", b"").status, 400);
}

#[test]
fn a_directory_that_another_server_made_may_go_where_a_slash_wants_one() {
    let site = Site::new();
    let [one, two] = servers(&site);
    one.ask("POST", "/v1/fs/mkdir?path=/dir", b"").succeeds();
    let there = br#"{"from": "/dir", "to": "/there/"}"#;
    two.connect().ask("POST", "/v1/fs/move", &JSON, there).succeeds();
    assert_eq!(two.connect().ask("POST", "/v1/fs/move", &JSON, there).status, 400);
}
