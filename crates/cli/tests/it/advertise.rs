//! What a server refuses to say of itself, or to be told, where several of them share a store.

use std::fs;
use std::time::Duration;

use crate::reach::errors;
use crate::site::{Server, Site, TOKEN};

fn database(site: &Site) -> String {
    format!("sqlite:{}", site.path("store.db").display())
}

/// What `serve` says that refuses these flags, and its exit code. One that serves is stopped, and
/// has no exit code.
fn refusal(site: &Site, url: &str, flags: &[&str]) -> (i32, String) {
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0", "--store", url]).args(flags);
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(Duration::from_secs(30)).output().unwrap();
    (output.status.code().expect("it refuses"), errors(&output))
}

#[test]
fn a_server_with_a_token_of_its_own_making_asks_nobody_to_call_it() {
    let site = Site::new();
    let (code, said) = refusal(&site, &database(&site), &["--advertise", "http://127.0.0.1:0"]);
    assert_eq!(code, 1);
    assert!(said.contains("need the same token"), "{said}");
    assert!(said.contains("hint: give one token to all of them, best in SANDKEEP_TOKEN"), "{said}");
    assert!(!site.path("store.db").exists());
}

#[test]
fn a_server_without_a_token_may_ask_others_of_its_machine_to_call_it() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0", "--store", &database(&site), "--no-token", "--json"]);
    command.args(["--advertise", "http://127.0.0.1:0"]);
    assert!(Server::start(command).started["token"].is_null());
}

#[test]
fn a_server_on_loopback_asks_nobody_to_call_it_elsewhere() {
    let site = Site::new();
    for address in ["http://10.0.0.5:0", "http://sandkeep-0:2468"] {
        let flags = ["--token", TOKEN, "--advertise", address];
        let (code, said) = refusal(&site, &database(&site), &flags);
        assert_eq!(code, 1);
        assert!(said.contains("listens on loopback alone"), "{said}");
        assert!(said.contains("--host 0.0.0.0"), "{said}");
    }
    let flags = ["--host", "0.0.0.0", "--advertise", "http://10.0.0.5:0"];
    site.serve_store(&database(&site), &flags).stop();
}

#[test]
fn an_address_to_listen_on_is_none_to_call() {
    let site = Site::new();
    let flags = ["--token", TOKEN, "--host", "0.0.0.0", "--advertise", "http://0.0.0.0:0"];
    let (code, said) = refusal(&site, &database(&site), &flags);
    assert_eq!(code, 2);
    assert!(said.contains("name one to connect to"), "{said}");
}

#[test]
fn what_is_about_shared_stores_is_refused_with_one_that_a_single_process_has() {
    let site = Site::new();
    for url in ["memory:", &site.store()] {
        for flag in [
            ["--advertise", "http://127.0.0.1:0"],
            ["--staleness", "2s"],
            ["--store-cache", "cache"],
            ["--store-cache-size", "1GiB"],
        ] {
            let (code, said) = refusal(&site, url, &[&flag[..], &["--token", TOKEN]].concat());
            assert_eq!(code, 2, "{said}");
            assert!(said.contains(flag[0]) && said.contains("hint: leave it out, or"), "{said}");
        }
    }
    assert!(!site.path("work/cache").exists() && !site.path("store").exists());
}

#[test]
fn memory_for_what_is_in_memory_already_is_refused() {
    let site = Site::new();
    let (code, said) = refusal(&site, "memory:", &["--store-memory", "1MiB"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("--store-memory does nothing"), "{said}");
    site.serve_store(&site.store(), &["--store-memory", "1MiB"]).stop();
}

#[test]
fn the_size_of_a_cache_that_nobody_named_is_refused() {
    let site = Site::new();
    let (code, said) = refusal(&site, &database(&site), &["--store-cache-size", "1GiB"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("hint: name it with --store-cache DIR"), "{said}");
}

#[test]
fn what_a_weaker_place_says_of_shared_stores_is_left_aside() {
    let site = Site::new();
    let file = "store-cache = \"cache\"\nadvertise = \"http://10.0.0.5:0\"\n";
    fs::write(site.path("work/sandkeep.toml"), file).unwrap();
    site.serve_store("memory:", &[]).stop();
    site.serve(&[]).stop();
    assert!(!site.path("work/cache").exists());
    let said = errors(site.run(&["serve", "--port", "0"]).code(2).get_output());
    assert!(said.contains("is about --store, not about a directory"), "{said}");
}
