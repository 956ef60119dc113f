//! Where a server lives: its directory, its ports, its secret.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::certificates::Certificates;
use crate::{leftovers, port};

/// The place of one server, removed with it.
pub(crate) struct Place {
    directory: TempDir,
    /// Held as long as the directory is used.
    _lock: File,
    ports: Vec<u16>,
    /// The password or secret key of the server.
    pub(crate) secret: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        leftovers::sweep();
        let directory = tempfile::Builder::new().prefix(leftovers::PREFIX).tempdir();
        let directory = directory.expect("a directory for the server");
        let lock = leftovers::claim(directory.path()).expect("the directory is claimed");
        let secret = format!("{:032x}", rand::random::<u128>());
        Self { directory, _lock: lock, ports: Vec::new(), secret }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// The path of a file as text, for a configuration or a URL.
    pub(crate) fn text_path(&self, name: &str) -> String {
        let path = self.path(name).into_os_string().into_string();
        path.expect("the directory for temporary files has a name in UTF-8")
    }

    /// Writes a file that only its owner can read: Postgres wants that of keys.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let written =
            file.open(self.path(name)).and_then(|mut file| file.write_all(content.as_bytes()));
        written.expect("a file of the server is written");
    }

    /// Writes a file that others may be reading.
    pub(crate) fn replace(&self, name: &str, content: &str) {
        let unfinished = format!("{name}.{:016x}", rand::random::<u64>());
        self.write(&unfinished, content);
        fs::rename(self.path(&unfinished), self.path(name)).expect("a file of the server is kept");
    }

    /// Keeps a fresh certificate for this machine here, and the authority that vouches for it.
    pub(crate) fn certify(&self) {
        let certificates = Certificates::for_loopback();
        self.write("ca.pem", &certificates.authority);
        self.write("server.pem", &certificates.certificate);
        self.write("server.key", &certificates.key);
    }

    /// Takes ports that nobody listens on, instead of those taken before.
    pub(crate) fn take_ports(&mut self, count: usize) {
        self.ports = port::free(count);
    }

    pub(crate) fn port(&self, index: usize) -> u16 {
        *self.ports.get(index).expect("the ports were taken")
    }

    /// Where clients reach the server.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port(0)))
    }
}
