//! Where stores of one kind are kept while they are tested.

use std::sync::atomic::{AtomicU32, Ordering};

use servers::{Kind, Server};
use tempfile::TempDir;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// In memory.
    Memory,
    /// In the embedded store.
    File,
    /// In one file of `SQLite`.
    Sqlite,
    /// In Postgres.
    Postgres,
    /// In Redis.
    Redis,
    /// In `SeaweedFS`, which speaks S3.
    S3,
    /// In Azurite, which speaks Azure's protocol for blobs.
    Azure,
    /// In ministack, which speaks `DynamoDB`.
    DynamoDb,
    /// What is small in Postgres, what is large in `SeaweedFS`.
    Split,
}

impl Backend {
    /// Its name in those of tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "file",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::S3 => "s3",
            Self::Azure => "az",
            Self::DynamoDb => "dynamodb",
            Self::Split => "split",
        }
    }

    /// Whether several processes may have one store open.
    pub fn is_shared(self) -> bool {
        !matches!(self, Self::Memory | Self::File)
    }

    fn servers(self) -> &'static [Kind] {
        match self {
            Self::Memory | Self::File | Self::Sqlite => &[],
            Self::Postgres => &[Kind::Postgres],
            Self::Redis => &[Kind::Redis],
            Self::S3 => &[Kind::SeaweedFs],
            Self::Azure => &[Kind::Azurite],
            Self::DynamoDb => &[Kind::Ministack],
            Self::Split => &[Kind::Postgres, Kind::SeaweedFs],
        }
    }
}

/// A place for stores of one kind: its servers run and its directory exists as long as this does.
#[derive(Debug)]
pub struct Home {
    backend: Backend,
    servers: Vec<Server>,
    dir: TempDir,
    stores: AtomicU32,
}

impl Home {
    /// Starts what the backend needs.
    pub fn of(backend: Backend) -> Self {
        let servers = backend.servers().iter().map(|&kind| Server::start(kind)).collect();
        let dir = tempfile::tempdir().unwrap();
        Self { backend, servers, dir, stores: AtomicU32::new(0) }
    }

    /// The kind of its stores.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The URL of a store that nobody else uses, for a store that only one may have open; else that
    /// of the one store here.
    pub fn url(&self) -> String {
        let number = self.stores.fetch_add(1, Ordering::Relaxed);
        let dir = self.dir.path().display();
        match (self.backend, &self.servers[..]) {
            (Backend::Memory, _) => "memory:".to_owned(),
            (Backend::File, _) => format!("file:{dir}/{number}"),
            (Backend::Split, [refs, chunks]) => {
                format!("split:refs={},chunks={}", refs.url("fleet"), chunks.url("fleet"))
            }
            (_, [server, ..]) => server.url("fleet"),
            (_, []) => format!("sqlite:{dir}/store.db"),
        }
    }

    /// What no error may tell of where the stores are.
    pub fn secret_place(&self) -> String {
        match &self.servers[..] {
            [server, ..] => server.address().to_string(),
            [] => self.dir.path().display().to_string(),
        }
    }
}
