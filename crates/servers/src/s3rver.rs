//! s3rver, which speaks S3 and ignores the conditions of writes: no store may accept it.

use std::net::SocketAddr;
use std::process::Command;

use crate::place::Place;
use crate::recipe::{Recipe, Way};
use crate::s3::{self, BUCKET};
use crate::{http, installed, process};

/// The only key that it knows is also its secret.
const KEY: &str = "S3RVER";

/// s3rver with its files in a folder.
pub(crate) struct S3rver;

impl Recipe for S3rver {
    fn prepare(&self, _: &Place) {}

    fn command(&self, place: &Place) -> Command {
        let program = installed::at("node/node_modules/.bin/s3rver");
        let mut command = process::command(&[], &program, place.directory());
        command.args(["--directory", "store", "--address", "127.0.0.1"]);
        command.args(["--port", &place.port(0).to_string(), "--configure-bucket", BUCKET]);
        command
    }

    fn answers(&self, place: &Place) -> bool {
        http::status(place.port(0), "GET", "/", "").is_some()
    }

    fn credentials(&self, _: &Place, address: SocketAddr) -> String {
        s3::credentials(address, KEY, KEY)
    }

    fn url(&self, _: &Place, way: &Way<'_>) -> String {
        s3::url(way)
    }
}
