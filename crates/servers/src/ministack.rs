//! ministack, which speaks `DynamoDB` and means its conditions and transactions.

use std::net::SocketAddr;
use std::process::Command;

use crate::place::Place;
use crate::recipe::{Recipe, Way};
use crate::{http, installed, process, s3};

/// ministack with `DynamoDB` alone; it writes its tables down only when it ends in order.
pub(crate) struct Ministack;

impl Recipe for Ministack {
    fn prepare(&self, _: &Place) {}

    fn command(&self, place: &Place) -> Command {
        let program = installed::at("ministack/bin/ministack");
        let mut command = process::command(&[], &program, place.directory());
        // Without being told it would listen on every interface, and on ports for other services.
        command.env("BIND_HOST", "127.0.0.1").env("GATEWAY_PORT", place.port(0).to_string());
        command.env("SERVICES", "dynamodb").env("SFTP_ENABLED", "0").env("IOT_MTLS_ENABLED", "0");
        command.env("PERSIST_STATE", "1").env("STATE_DIR", place.path("store"));
        command.env("LOG_LEVEL", "WARNING").env("PYTHONUNBUFFERED", "1");
        command
    }

    fn answers(&self, place: &Place) -> bool {
        http::status(place.port(0), "GET", "/_ministack/health", "") == Some(200)
    }

    fn credentials(&self, place: &Place, address: SocketAddr) -> String {
        s3::credentials(address, "sandkeep", &place.secret)
    }

    fn url(&self, _: &Place, way: &Way<'_>) -> String {
        let Way { namespace, credentials, .. } = way;
        format!("dynamodb://sandkeep-{namespace}?create=true&credentials-file={credentials}")
    }
}
