//! As much of HTTP as it takes to see that a server is there.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// Longer than any of the servers takes for what it is asked here.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends one request to a port of this machine, and tells the status of the answer, if one comes.
pub(crate) fn status(port: u16, method: &str, path: &str, headers: &str) -> Option<u16> {
    answer(port, method, path, headers)?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

/// The same with the whole answer.
pub(crate) fn answer(port: u16, method: &str, path: &str, headers: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\n\
         Connection: close\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}
