//! The proxy forwards faithfully, counts exactly, and makes the trouble it is told to make.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sandkeep_servers::{Proxy, Traffic, Trouble};

#[test]
fn what_passes_is_what_was_sent_and_is_counted() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.address);
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    for _ in 0..10 {
        assert_eq!(ask(&mut client).unwrap(), *b"a question");
    }
    let expected = Traffic { connections: 1, round_trips: 10, sent: 100, received: 100 };
    assert_eq!(proxy.traffic(), expected);
    proxy.reset_traffic();
    assert_eq!(proxy.traffic(), Traffic::default());
}

#[test]
fn many_bytes_pass_unchanged_and_the_end_is_forwarded() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.address);
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let (mut writer, sent) = (client.try_clone().unwrap(), bytes.clone());
    let writing = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    writing.join().unwrap();
    assert!(received == bytes);
    let traffic = proxy.traffic();
    assert_eq!((traffic.sent, traffic.received), (3_000_000, 3_000_000));
}

#[test]
fn a_connection_that_is_cut_sometimes_loses_only_the_answer() {
    let echo = Echo::start();
    let proxy = Proxy::seeded(echo.address, 4);
    proxy.set(Trouble { cut: 0.2, ..Trouble::default() });
    let (mut answered, mut lost) = (0, 0);
    for _ in 0..200 {
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        match ask(&mut client) {
            Ok(answer) => {
                assert_eq!(answer, *b"a question");
                answered += 1;
            }
            Err(_) => lost += 1,
        }
    }
    let heard = echo.heard.load(Ordering::SeqCst);
    assert!(answered > 100 && lost > 30, "{answered} answered, {lost} lost");
    assert!(heard > answered, "{heard} arrived, {answered} were answered");
    assert!(heard < answered + lost, "{heard} arrived, {lost} were lost");
}

#[test]
fn a_connection_that_is_refused_never_reaches_the_server() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.address);
    proxy.set(Trouble { refuse: 1.0, ..Trouble::default() });
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    assert!(ask(&mut client).is_err());
    assert_eq!(proxy.traffic(), Traffic::default());
}

#[test]
fn a_connection_that_stalls_goes_on_later() {
    let echo = Echo::start();
    let proxy = Proxy::seeded(echo.address, 1);
    let stall_time = Duration::from_millis(400);
    proxy.set(Trouble { stall: 1.0, stall_time, ..Trouble::default() });
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let begin = Instant::now();
    for _ in 0..4 {
        assert_eq!(ask(&mut client).unwrap(), *b"a question");
    }
    // Eight pauses of 200 ms on average; these dice are never far below.
    assert!(begin.elapsed() > stall_time, "it took {:?}", begin.elapsed());
}

#[test]
fn cutting_all_ends_what_is_open_and_nothing_else() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.address);
    let mut first = TcpStream::connect(proxy.address()).unwrap();
    ask(&mut first).unwrap();
    proxy.cut_all();
    assert!(ask(&mut first).is_err());
    let mut second = TcpStream::connect(proxy.address()).unwrap();
    assert_eq!(ask(&mut second).unwrap(), *b"a question");
    assert_eq!(proxy.traffic().connections, 2);
}

#[test]
fn a_proxy_that_is_dropped_listens_no_more() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.address);
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    ask(&mut client).unwrap();
    let address = proxy.address();
    drop(proxy);
    assert!(ask(&mut client).is_err());
    assert!(TcpStream::connect(address).is_err());
}

/// Sends ten bytes and waits for ten.
fn ask(client: &mut TcpStream) -> std::io::Result<[u8; 10]> {
    client.write_all(b"a question")?;
    let mut answer = [0; 10];
    client.read_exact(&mut answer)?;
    Ok(answer)
}

/// A server that says what it hears, and counts the questions that arrive whole.
struct Echo {
    address: SocketAddr,
    heard: Arc<AtomicU64>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let counter = Arc::clone(&counter);
                thread::spawn(move || echo(stream.unwrap(), &counter));
            }
        });
        Self { address, heard }
    }
}

fn echo(mut stream: TcpStream, heard: &AtomicU64) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = stream.read(&mut buffer)
        && length > 0
    {
        heard.fetch_add(u64::from(length == 10), Ordering::SeqCst);
        if stream.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
