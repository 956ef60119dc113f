//! `serve` and `server` as an operator meets them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::attack_form::machine_has;
use crate::site::{Server, Site, TOKEN};

const LAST_WORDS: &str = "The interface is described";

/// What curl prints for a line that a user pastes.
fn paste(site: &Site, line: &str, token: &str) -> String {
    let mut shell = site.program(Path::new("/bin/sh"));
    let line = line.trim().replacen("curl ", "curl -sS --fail-with-body ", 1);
    let output = shell.args(["-c", &line]).env("SANDKEEP_TOKEN", token).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{line}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// The status of a request, by curl.
fn status(url: &str, flags: &[&str]) -> String {
    let mut curl = Command::new("curl");
    let output =
        curl.args(["-sS", "-o", "/dev/null", "-w", "%{http_code}", url]).args(flags).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn status_of_process(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/status")).unwrap()
}

#[test]
fn the_first_run_makes_the_directory_and_says_where_it_serves_and_what_to_try() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0"]);
    let mut server = Server::start_in_words(command);
    let said = server.words_until(LAST_WORDS);
    let made = site.path("work/sandbox");
    assert!(said.contains(&format!(
        "Sandkeep serves {} (made just now) at http://127.0.0.1:",
        made.display()
    )));
    assert!(made.is_dir());
    let curls: Vec<&str> = said.lines().filter(|line| line.trim().starts_with("curl ")).collect();
    assert_eq!(curls.len(), 3, "{said}");
    assert!(paste(&site, curls[0], "").contains("\"bytesWritten\":5"));
    assert!(paste(&site, curls[1], "").contains("\"name\":\"hello.txt\""));
    assert_eq!(paste(&site, curls[2], ""), "hello");
    assert_eq!(fs::read(made.join("hello.txt")).unwrap(), b"hello");
}

#[test]
fn a_given_token_is_not_printed_and_the_lines_to_try_take_it_from_the_environment() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0"]).env("SANDKEEP_TOKEN", TOKEN);
    let mut server = Server::start_in_words(command);
    let said = server.words_until(LAST_WORDS);
    assert!(!said.contains(TOKEN), "{said}");
    let list = said.lines().find(|line| line.contains("/v1/fs/entries")).unwrap();
    assert_eq!(paste(&site, list, TOKEN), "[]");
}

#[test]
fn without_a_token_the_lines_to_try_need_none() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0", "--no-token"]);
    let mut server = Server::start_in_words(command);
    let said = server.words_until(LAST_WORDS);
    assert!(said.contains("whoever reaches this port may do everything"), "{said}");
    let list = said.lines().find(|line| line.contains("/v1/fs/entries")).unwrap();
    assert_eq!(paste(&site, list, ""), "[]");
}

#[test]
fn the_start_line_for_scripts_holds_all_they_need() {
    let site = Site::new();
    let server = site.serve(&[]);
    assert_eq!(server.started["root"], site.path("sandbox").to_str().unwrap());
    assert_eq!(server.started["pid"], server.pid());
    assert!(!server.url().ends_with(":0"));
    let health = format!("{}/v1/health", server.url());
    assert_eq!(status(&health, &["-H", &format!("Authorization: Bearer {TOKEN}")]), "200");
    assert_eq!(status(&health, &[]), "401");
}

#[test]
fn the_start_line_never_repeats_a_token_that_was_given() {
    let site = Site::new();
    let server = site.serve(&[]);
    assert!(server.started["token"].is_null() && !server.started.to_string().contains(TOKEN));
}

#[test]
fn a_made_token_guards_the_server() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0", "--json"]);
    let server = Server::start(command);
    let token = server.started["token"].as_str().unwrap();
    assert_eq!(token.len(), 64);
    let health = format!("{}/v1/health", server.url());
    assert_eq!(status(&health, &["-H", &format!("Authorization: Bearer {token}")]), "200");
    assert_eq!(status(&health, &["-H", "Authorization: Bearer 0"]), "401");
}

#[test]
fn sigterm_and_sigint_stop_it_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Site::new().serve(&[]);
        server.signal(signal);
        let (status, log) = server.end();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(log.contains("stopped"), "{log}");
    }
}

#[test]
fn a_second_signal_stops_it_at_once_while_a_request_hangs() {
    let site = Site::new();
    let mut server = site.serve(&[]);
    // A body that never ends keeps the server waiting after the first signal; it has begun when the
    // server asks for it.
    let address = server.url().trim_start_matches("http://").to_owned();
    let mut client = TcpStream::connect(&address).unwrap();
    write!(
        client,
        "PUT /v1/fs/file?path=slow HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9\r\n\
         Expect: 100-continue\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    BufReader::new(client.try_clone().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 100"), "{answer}");
    server.signal(Signal::TERM);
    server.log_until("stopping");
    server.signal(Signal::TERM);
    let (status, _) = server.end();
    assert_eq!(status.code(), Some(143));
}

#[test]
fn without_a_token_serve_insists_on_loopback() {
    let site = Site::new();
    let assert = site.run(&["serve", "--no-token", "--host", "0.0.0.0", "--port", "0"]).code(1);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("without a token the server listens on this machine only"), "{said}");
    assert!(said.contains("hint: leave out --no-token, or --host 0.0.0.0"), "{said}");
    assert!(!site.path("work/sandbox").exists(), "a refused start leaves nothing behind");
}

#[test]
fn without_a_token_a_foreign_host_name_is_refused() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["serve", "--port", "0", "--no-token", "--json"]);
    let server = Server::start(command);
    let health = format!("{}/v1/health", server.url());
    assert_eq!(status(&health, &[]), "200");
    assert_eq!(status(&health, &["-H", "Host: rebound.example.org"]), "403");
}

#[test]
fn a_taken_port_is_told_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let assert = Site::new().run(&["serve", "--port", &port]).code(1);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains(&format!("cannot listen on 127.0.0.1:{port}: Address already in use")));
    assert!(said.contains("hint: choose another port"), "{said}");
}

#[test]
fn clients_see_the_directory_at_its_own_path_or_at_the_prefix() {
    let site = Site::new();
    fs::write(site.inner("a"), "").unwrap();
    let bearer = format!("-H 'Authorization: Bearer {TOKEN}'");
    let own = site.path("sandbox");
    let mut command = site.sandkeep();
    command.arg("serve").arg(&own).args(["--port", "0", "--json", "--token", TOKEN]);
    let server = Server::start(command);
    let stat = |server: &Server, path: &str| {
        paste(&site, &format!("curl {bearer} '{}/v1/fs/stat?path={path}'", server.url()), "")
    };
    let path = format!("\"path\":\"{}/a\"", own.display());
    assert!(stat(&server, &format!("{}/a", own.display())).contains(&path));
    drop(server);
    let mut command = site.sandkeep();
    command.arg("serve").arg(&own).args(["--port", "0", "--json", "--token", TOKEN]);
    let server = Server::start({
        command.args(["--root-prefix", "/workspace"]);
        command
    });
    assert!(stat(&server, "/workspace/a").contains("\"path\":\"/workspace/a\""));
}

#[test]
fn relative_paths_begin_at_home_and_sessions_at_the_current_directory_when_these_are_inside() {
    let site = Site::new();
    fs::create_dir_all(site.inner("home/cwd")).unwrap();
    let mut command = site.sandkeep();
    command.current_dir(site.inner("home/cwd")).env("HOME", site.inner("home"));
    command.arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--json", "--token", TOKEN, "--root-prefix", "/"]);
    let server = Server::start(command);
    let (url, bearer) = (server.url(), format!("-H 'Authorization: Bearer {TOKEN}'"));
    let put = paste(&site, &format!("curl {bearer} -X PUT -d x '{url}/v1/fs/file?path=f'"), "");
    assert!(put.contains("\"path\":\"/home/f\""), "{put}");
    paste(
        &site,
        &format!("curl {bearer} -X POST --json '{{\"agent\":\"mock\"}}' '{url}/v1/sessions/s1'"),
        "",
    );
    let put = paste(
        &site,
        &format!("curl {bearer} -X PUT -d x '{url}/v1/fs/file?path=f&sessionId=s1'"),
        "",
    );
    assert!(put.contains("\"path\":\"/home/cwd/f\""), "{put}");
}

#[test]
fn limits_of_the_directory_are_kept() {
    let site = Site::new();
    let server = site.serve(&["--max-file-size", "4", "--max-total-size", "6", "--max-nodes", "3"]);
    let (url, bearer) = (server.url().to_owned(), format!("Authorization: Bearer {TOKEN}"));
    let put = |name: &str, body: &str| {
        let target = format!("{url}/v1/fs/file?path={name}");
        status(&target, &["-X", "PUT", "-H", &bearer, "--data-binary", body])
    };
    assert_eq!(put("a", "1234"), "200");
    assert_ne!(put("a", "12345"), "200");
    assert_ne!(put("b", "123"), "200");
    assert_eq!(put("b", "12"), "200");
    assert_ne!(put("c", ""), "200");
    assert_eq!(fs::read(site.inner("a")).unwrap(), b"1234");
}

#[test]
fn staging_inside_the_served_directory_is_refused() {
    let site = Site::new();
    let staging = site.inner("staging");
    let dir = site.path("sandbox");
    let words =
        ["serve", dir.to_str().unwrap(), "--port", "0", "--staging", staging.to_str().unwrap()];
    let assert = site.run(&words).code(1);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("lies inside the served directory"), "{said}");
}

#[test]
fn the_process_limits_itself() {
    let site = Site::new();
    let server = site.serve(&[]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let limit = |name: &str| -> Vec<String> {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(limit("Max core file size")[..2], ["0", "0"]);
    let files = limit("Max open files");
    assert_eq!(files[0], files[1]);
    assert!(status_of_process(server.pid()).contains("Umask:\t0022"));
}

#[test]
fn the_second_wall_stands_unless_it_is_switched_off() {
    let site = Site::new();
    let server = site.serve(&[]);
    let status = status_of_process(server.pid());
    let log = server.stop();
    if !machine_has("a kernel with Landlock", !log.contains("no usable Landlock")) {
        return;
    }
    assert!(log.contains("second wall stands"), "{log}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let log = site.serve(&["--no-landlock"]).stop();
    assert!(log.contains("no wall around files"), "{log}");
    let server = site.serve(&["--confine=false"]);
    // Both walls insist on this bit, and nothing else here sets it.
    assert!(status_of_process(server.pid()).contains("NoNewPrivs:\t0"));
    let log = server.stop();
    assert!(log.contains("no second wall"), "{log}");
}

#[test]
fn calls_that_a_file_server_never_makes_are_refused_unless_that_is_switched_off() {
    let site = Site::new();
    let refuses = |flags: &[&str]| {
        let server = site.serve(flags);
        let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
        let status = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("status"));
        let every = threads.map(|thread| status(thread.unwrap()).unwrap());
        every.map(|status| status.contains("Seccomp:\t2")).collect::<Vec<_>>()
    };
    for flags in [&[][..], &["--no-landlock"], &["--confine"]] {
        let threads = refuses(flags);
        assert!(threads.len() > 1 && threads.iter().all(|refused| *refused), "{flags:?}");
    }
    assert!(refuses(&["--confine=false"]).iter().all(|refused| !refused));
}

#[test]
fn behind_the_second_wall_a_directory_in_the_place_of_the_served_one_is_out_of_reach() {
    let site = Site::new();
    // Landlock knows the served directory itself, not its name.
    let replace = || {
        fs::remove_dir_all(site.path("sandbox")).unwrap();
        fs::create_dir(site.path("sandbox")).unwrap();
        fs::write(site.inner("f"), "another").unwrap();
    };
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let read =
        |server: &Server| status(&format!("{}/v1/fs/file?path=/f", server.url()), &["-H", &bearer]);
    let open = site.serve(&["--no-landlock"]);
    replace();
    assert_eq!(read(&open), "200");
    drop(open);
    let walled = site.serve(&[]);
    replace();
    let answer = read(&walled);
    let log = walled.stop();
    if machine_has("a kernel with Landlock", !log.contains("no usable Landlock")) {
        assert_eq!(answer, "503", "{log}");
    }
}

#[test]
fn logs_are_plain_on_a_pipe_and_json_on_demand() {
    let site = Site::new();
    let log = site.serve(&[]).stop();
    assert!(log.contains("serving") && !log.contains('\u{1b}'), "{log:?}");
    let log = site.serve(&["--log-format", "json"]).stop();
    for line in log.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(event["level"].is_string() && event["message"].is_string(), "{line}");
    }
    assert_eq!(site.serve(&["--log", "off"]).stop(), "");
}

#[test]
fn a_wrong_log_filter_is_refused() {
    let assert = Site::new().run(&["serve", "--log", "sandkeep=loud"]).code(1);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("is no filter") && said.contains("hint: try info"), "{said}");
}

#[test]
fn new_files_do_not_depend_on_the_umask_of_the_caller() {
    let site = Site::new();
    let mut command = site.program(Path::new("/bin/sh"));
    let script = format!(
        "umask 077; exec '{}' serve '{}' --port 0 --json --token {TOKEN} --root-prefix /",
        env!("CARGO_BIN_EXE_sandkeep"),
        site.path("sandbox").display()
    );
    command.args(["-c", &script]);
    let server = Server::start(command);
    let target = format!("{}/v1/fs/file?path=/dir/file", server.url());
    let bearer = format!("Authorization: Bearer {TOKEN}");
    assert_eq!(status(&target, &["-X", "PUT", "-H", &bearer, "-d", "x"]), "200");
    let mode = |name: &str| fs::metadata(site.inner(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("dir"), mode("dir/file")), (0o755, 0o644));
}

#[test]
fn server_takes_the_flags_of_the_reference_before_and_after_the_word() {
    let site = Site::new();
    for words in [
        ["--token", TOKEN, "server", "--port", "0", "--json", "--no-telemetry"].as_slice(),
        &[
            "server",
            "-t",
            TOKEN,
            "-p",
            "0",
            "-H",
            "127.0.0.1",
            "--json",
            "-C",
            "-O",
            "https://a.example",
        ],
        &["-t", TOKEN, "server", "--port=0", "--json", "-M", "GET", "-M", "PUT", "-A", "x-a"],
    ] {
        let mut command = site.sandkeep();
        command.args(words);
        let server = Server::start(command);
        assert_eq!(server.started["root"], "/");
        let health = format!("{}/v1/health", server.url());
        assert_eq!(status(&health, &["-H", &format!("Authorization: Bearer {TOKEN}")]), "200");
        assert_eq!(status(&health, &[]), "401");
        server.stop();
    }
}

#[test]
fn server_serves_the_whole_machine_and_says_so() {
    let site = Site::new();
    fs::write(site.path("home/at-home"), "h").unwrap();
    let mut command = site.sandkeep();
    command.args(["-n", "server", "--port", "0"]);
    let mut server = Server::start_in_words(command);
    let said = server.words_until(LAST_WORDS);
    assert!(said.contains("serves the whole file system of this machine"), "{said}");
    assert!(said.contains("To confine clients to one directory: sandkeep serve DIR"), "{said}");
    let list = said.lines().find(|line| line.contains("/v1/fs/entries")).unwrap();
    assert!(
        paste(&site, list, "").contains("\"name\":\"at-home\""),
        "relative paths begin at home"
    );
    let hostname = list.replace("/v1/fs/entries", "/v1/fs/file?path=/etc/hostname");
    assert_eq!(paste(&site, &hostname, ""), fs::read_to_string("/etc/hostname").unwrap());
}

#[test]
fn server_without_a_token_warns_when_others_can_reach_it() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["server", "--no-token", "--port", "0", "--host", "0.0.0.0", "--json"]);
    let server = Server::start(command);
    assert!(server.started["token"].is_null());
    assert!(server.url().starts_with("http://127.0.0.1:"), "a url that works here");
    let log = server.stop();
    assert!(
        log.contains("the whole machine is the sandbox; `sandkeep serve DIR` confines"),
        "{log}"
    );
    assert!(log.contains("anybody who reaches this port can change this machine's files"), "{log}");
}

#[test]
fn server_makes_a_token_when_nobody_speaks_of_one() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["server", "--port", "0", "--json"]);
    let server = Server::start(command);
    assert_eq!(server.started["token"].as_str().unwrap().len(), 64);
    assert_eq!(status(&format!("{}/v1/health", server.url()), &[]), "401");
}
