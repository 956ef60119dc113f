//! `SeaweedFS`, which speaks S3 and means its conditional writes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::place::Place;
use crate::recipe::{Recipe, Way};
use crate::s3::{self, BUCKET};
use crate::{http, installed, process};

const KEY: &str = "sandkeep";

/// All of its parts in one process: master, volume, filer and S3.
pub(crate) struct SeaweedFs;

/// The parts that listen, in the order of their ports: each on one for HTTP and one for gRPC.
const PARTS: [&str; 4] = ["s3", "master", "volume", "filer"];
const MASTER: usize = 2;
const VOLUME: usize = 4;
const FILER: usize = 6;

impl Recipe for SeaweedFs {
    fn ports(&self) -> usize {
        2 * PARTS.len()
    }

    fn prepare(&self, place: &Place) {
        let secret = &place.secret;
        let configuration = format!(
            r#"{{"identities": [{{"name": "{KEY}",
                "credentials": [{{"accessKey": "{KEY}", "secretKey": "{secret}"}}],
                "actions": ["Admin", "Read", "Write", "List", "Tagging"]}}]}}"#
        );
        place.write("s3.json", &configuration);
    }

    fn command(&self, place: &Place) -> Command {
        let program = installed::at("seaweedfs/bin/weed");
        let mut command = process::command(&[], &program, place.directory());
        command.args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-dir=.", "-filer", "-s3"]);
        command.args(["-s3.config=s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0"]);
        // Every bucket takes volumes of its own, which grow as they fill.
        command.args(["-volume.max=100", "-master.volumeSizeLimitMB=256"]);
        // With nobody else to elect, and nobody to take leave of, there is no need to wait: a volume
        // that finds no master elected comes again after five seconds.
        command.args(["-master.electionTimeout=200ms", "-volume.preStopSeconds=0"]);
        command.arg("-master.telemetry=false");
        command.args(["-s3.localSocket=s3.sock", "-filer.localSocket=filer.sock"]);
        for (index, part) in PARTS.iter().enumerate() {
            let (http, grpc) = (place.port(2 * index), place.port(2 * index + 1));
            command.arg(format!("-{part}.port={http}")).arg(format!("-{part}.port.grpc={grpc}"));
        }
        command
    }

    /// The master knows the volume server, the filer takes a file and thereby makes the bucket, and
    /// S3 refuses whoever is nobody.
    ///
    /// The filer answers late when it is asked before there is a volume server.
    fn answers(&self, place: &Place) -> bool {
        let volume = format!("127.0.0.1:{}", place.port(VOLUME));
        let known = http::answer(place.port(MASTER), "GET", "/dir/status", "");
        let file = format!("/buckets/{BUCKET}/ready");
        known.is_some_and(|known| known.contains(&volume))
            && http::status(place.port(FILER), "PUT", &file, "") == Some(201)
            && http::status(place.port(0), "GET", "/", "") == Some(403)
    }

    /// Its volumes are closed at once, but its filer waits for clients of its own that never leave.
    fn time_to_end(&self) -> Duration {
        Duration::from_secs(3)
    }

    /// Its sockets for gRPC lie where no option moves them.
    fn litter(&self, place: &Place) -> Vec<PathBuf> {
        let socket = |(index, part)| {
            PathBuf::from(format!("/tmp/seaweedfs-{part}-grpc-{}.sock", place.port(2 * index + 1)))
        };
        PARTS.iter().enumerate().map(socket).collect()
    }

    fn credentials(&self, place: &Place, address: SocketAddr) -> String {
        s3::credentials(address, KEY, &place.secret)
    }

    fn url(&self, _: &Place, way: &Way<'_>) -> String {
        s3::url(way)
    }
}
