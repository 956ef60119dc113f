//! A server lives as long as the process that started it, not as long as the thread.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sandkeep_servers::{Kind, Server};

#[test]
fn a_server_outlives_the_thread_that_started_it() {
    let server = thread::spawn(|| Server::start(Kind::Redis)).join().unwrap();
    assert!(!ends_within(server.address(), Duration::from_millis(500)));
}

#[test]
fn postgres_dies_with_the_process_that_started_it() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "orphans::a_process_with_a_server", "--ignored", "--nocapture"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let address = address_of(child.stdout.take().unwrap());
    assert!(TcpStream::connect(address).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ends_within(address, Duration::from_secs(20)));
}

#[test]
#[ignore = "the process that is killed"]
fn a_process_with_a_server() {
    let server = Server::start(Kind::Postgres);
    println!("\nlistens on {}", server.address());
    thread::sleep(Duration::from_secs(600));
}

fn address_of(output: ChildStdout) -> SocketAddr {
    let lines = BufReader::new(output).lines().map(Result::unwrap);
    let found = lines.filter_map(|line| line.strip_prefix("listens on ")?.parse().ok()).next();
    found.unwrap()
}

fn ends_within(address: SocketAddr, time: Duration) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < time {
        if TcpStream::connect(address).is_err() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}
