//! Redis, from Debian's package.

use std::net::SocketAddr;
use std::process::Command;

use crate::installed;
use crate::place::Place;
use crate::process;
use crate::recipe::{Channel, Recipe, Way};

/// Redis with a password, which no command line shows.
pub(crate) struct Redis {
    pub(crate) channel: Channel,
    pub(crate) lines: String,
}

impl Recipe for Redis {
    fn prepare(&self, place: &Place) {
        let tls = match self.channel {
            Channel::Plain => "",
            Channel::Tls => {
                place.certify();
                "tls-cert-file server.pem\ntls-key-file server.key\ntls-ca-cert-file ca.pem\n\
                 tls-auth-clients no\n"
            }
        };
        let (secret, lines) = (&place.secret, &self.lines);
        let configuration = format!(
            "bind 127.0.0.1\nrequirepass {secret}\nappendonly yes\nsave \"\"\ndaemonize no\n\
             {tls}{lines}"
        );
        place.write("redis.conf", &configuration);
    }

    fn command(&self, place: &Place) -> Command {
        let program = installed::on_path("redis-server");
        let mut command = process::command(&[], &program, place.directory());
        let port = place.port(0).to_string();
        command.arg(place.path("redis.conf"));
        match self.channel {
            Channel::Plain => command.args(["--port", &port]),
            Channel::Tls => command.args(["--port", "0", "--tls-port", &port]),
        };
        command
    }

    fn answers(&self, place: &Place) -> bool {
        let program = installed::on_path("redis-cli");
        let mut command = process::command(&[], &program, place.directory());
        command.env("REDISCLI_AUTH", &place.secret).args(["-p", &place.port(0).to_string()]);
        if self.channel == Channel::Tls {
            command.args(["--tls", "--cacert", "ca.pem"]);
        }
        // While it reads its journal it answers with an error.
        command.arg("ping").output().is_ok_and(|output| output.stdout == b"PONG\n")
    }

    fn credentials(&self, place: &Place, _: SocketAddr) -> String {
        format!("REDIS_PASSWORD={}\n", place.secret)
    }

    fn url(&self, place: &Place, way: &Way<'_>) -> String {
        let Way { address, namespace, credentials } = way;
        let (scheme, authority) = match self.channel {
            Channel::Plain => ("redis", String::new()),
            Channel::Tls => ("rediss", format!("&cacert={}", place.text_path("ca.pem"))),
        };
        format!(
            "{scheme}://{address}/0?prefix={namespace}&credentials-file={credentials}{authority}"
        )
    }
}
