//! Postgres, from Debian's package.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, geteuid};

use crate::installed;
use crate::place::Place;
use crate::process;
use crate::recipe::{Channel, Recipe, Way};

/// Small, but as careful with its files as it is by default.
const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 32MB
";

/// Postgres with a password, which no command line shows.
pub(crate) struct Postgres {
    pub(crate) channel: Channel,
    pub(crate) lines: String,
}

impl Recipe for Postgres {
    fn prepare(&self, place: &Place) {
        place.write("password", &place.secret);
        if self.channel == Channel::Tls {
            place.certify();
        }
        give_away(place.directory());
        initialise(place);
        let tls = match self.channel {
            Channel::Plain => String::new(),
            Channel::Tls => format!(
                "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
                place.text_path("server.pem"),
                place.text_path("server.key")
            ),
        };
        let who = match self.channel {
            Channel::Plain => "host",
            Channel::Tls => "hostssl",
        };
        place.write("store/postgresql.conf", &format!("{SETTINGS}{tls}{}", self.lines));
        let access = format!("{who} all all 127.0.0.1/32 scram-sha-256\n");
        place.write("store/pg_hba.conf", &access);
    }

    fn command(&self, place: &Place) -> Command {
        let mut command = command("postgres", place);
        command.arg("-D").arg(place.path("store")).args(["-p", &place.port(0).to_string()]);
        command
    }

    fn answers(&self, place: &Place) -> bool {
        let mut command = command("pg_isready", place);
        command.args(["-q", "-h", "127.0.0.1", "-p", &place.port(0).to_string()]);
        command.status().is_ok_and(|status| status.success())
    }

    /// Without waiting until all clients have gone.
    fn polite_signal(&self) -> Signal {
        Signal::INT
    }

    fn credentials(&self, place: &Place, _: SocketAddr) -> String {
        format!("PGPASSWORD={}\n", place.secret)
    }

    fn url(&self, place: &Place, way: &Way<'_>) -> String {
        let Way { address, namespace, credentials } = way;
        let schema = namespace.replace('-', "_");
        let tls = match self.channel {
            Channel::Plain => String::new(),
            Channel::Tls => {
                format!("&sslmode=verify-full&sslrootcert={}", place.text_path("ca.pem"))
            }
        };
        format!(
            "postgres://sandkeep@{address}/postgres\
             ?schema={schema}&credentials-file={credentials}{tls}"
        )
    }
}

/// A program of Postgres as a user that it accepts: it refuses to run as root.
fn command(program: &str, place: &Place) -> Command {
    let become_postgres = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"];
    let options = if geteuid().is_root() { &become_postgres[..] } else { &[] };
    process::command(options, &installed::of_postgres(program), place.directory())
}

/// Without syncing: only the machine's end could lose what is written here.
fn initialise(place: &Place) {
    let mut command = command("initdb", place);
    command.args(["--no-sync", "--username", "sandkeep", "--auth", "scram-sha-256"]);
    command.args(["--encoding", "UTF8", "--no-locale", "--pwfile"]).arg(place.path("password"));
    let output = command.arg("-D").arg(place.path("store")).output().expect("initdb runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "initdb fails:\n{words}");
}

fn give_away(directory: &Path) {
    if geteuid().is_root() {
        let mut command = Command::new(installed::on_path("chown"));
        let status = command.args(["-R", "postgres:"]).arg(directory).status();
        assert!(status.is_ok_and(|status| status.success()), "chown to postgres fails");
    }
}
