//! Azurite, Microsoft's own stand-in for Azure's blobs.

use std::net::SocketAddr;
use std::process::Command;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;

use crate::place::Place;
use crate::recipe::{Recipe, Way};
use crate::{http, installed, process};

const ACCOUNT: &str = "devstoreaccount1";
/// The key that everybody knows: it is in Azure's documentation.
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const CONTAINER: &str = "sandkeep";

/// Azurite for blobs; it writes its index down every few seconds, and when it ends in order.
pub(crate) struct Azurite;

impl Recipe for Azurite {
    fn prepare(&self, _: &Place) {}

    fn command(&self, place: &Place) -> Command {
        let program = installed::at("node/node_modules/.bin/azurite-blob");
        let mut command = process::command(&[], &program, place.directory());
        command.args(["--silent", "--skipApiVersionCheck", "--disableTelemetry"]);
        command.args(["--location", "store", "--blobHost", "127.0.0.1", "--blobPort"]);
        command.arg(place.port(0).to_string());
        command
    }

    fn answers(&self, place: &Place) -> bool {
        http::status(place.port(0), "GET", "/", "").is_some()
    }

    fn furnish(&self, place: &Place) {
        let path = format!("/{ACCOUNT}/{CONTAINER}?restype=container");
        let made = http::status(place.port(0), "PUT", &path, &signature());
        assert_eq!(made, Some(201), "Azurite makes no container");
    }

    fn credentials(&self, _: &Place, address: SocketAddr) -> String {
        format!(
            "AZURE_STORAGE_ACCOUNT_NAME={ACCOUNT}\nAZURE_STORAGE_ACCOUNT_KEY={KEY}\n\
             AZURE_STORAGE_ENDPOINT=http://{address}/{ACCOUNT}\nAZURE_ALLOW_HTTP=true\n"
        )
    }

    fn url(&self, _: &Place, way: &Way<'_>) -> String {
        format!("az://{CONTAINER}/{}?credentials-file={}", way.namespace, way.credentials)
    }
}

/// The headers by which the request for the container is signed with the shared key.
fn signature() -> String {
    let date = httpdate::fmt_http_date(SystemTime::now());
    // The account is named twice: once as the owner, once as the first part of the path.
    let signed = format!(
        "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-12-02\n\
         /{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    );
    let key = BASE64_STANDARD.decode(KEY).expect("the key is in base64");
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
    let tag = BASE64_STANDARD.encode(tag);
    format!(
        "x-ms-date: {date}\r\nx-ms-version: 2021-12-02\r\n\
         Authorization: SharedKey {ACCOUNT}:{tag}\r\n"
    )
}
