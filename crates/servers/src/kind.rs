//! Which servers there are.

use crate::azurite::Azurite;
use crate::ministack::Ministack;
use crate::postgres::Postgres;
use crate::recipe::{Channel, Recipe};
use crate::redis::Redis;
use crate::s3rver::S3rver;
use crate::seaweedfs::SeaweedFs;

/// A server that tests can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Redis, with a password and a journal synced every second.
    Redis,
    /// Postgres, with a password, syncing every commit.
    Postgres,
    /// `SeaweedFS`, for S3.
    SeaweedFs,
    /// Azurite, for Azure's blobs. What it was told in the last seconds is lost when it is killed.
    Azurite,
    /// ministack, for `DynamoDB`. Everything is lost when it is killed; a polite restart keeps it.
    Ministack,
    /// s3rver, for S3, which ignores the conditions of writes.
    S3rver,
}

impl Kind {
    /// How to run it with some lines more in its configuration.
    pub(crate) fn recipe(self, channel: Channel, lines: &[&str]) -> Box<dyn Recipe> {
        let configurable = matches!(self, Self::Redis | Self::Postgres);
        let usual = channel == Channel::Plain && lines.is_empty();
        assert!(configurable || usual, "{self:?} has neither TLS nor lines of configuration");
        let lines = lines.iter().map(|line| format!("{line}\n")).collect();
        match self {
            Self::Redis => Box::new(Redis { channel, lines }),
            Self::Postgres => Box::new(Postgres { channel, lines }),
            Self::SeaweedFs => Box::new(SeaweedFs),
            Self::Azurite => Box::new(Azurite),
            Self::Ministack => Box::new(Ministack),
            Self::S3rver => Box::new(S3rver),
        }
    }
}
