//! A bucket: bytes by name, changed on conditions.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use object_store::client::{HttpClient, HttpRequest};
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, PutMode, PutOptions, PutResult};
use tokio::sync::Semaphore;

use super::failure::{failed, of_http, refused, undecided};
use super::sign::{Sign, of_listed};
use super::wire::Refusal;
use crate::{Error, ErrorKind, Expected, Result, Token};

/// How many requests are under way at most, so that sockets do not run out.
const REQUESTS: usize = 128;

/// A bucket of S3, Azure or Google, or of a server that speaks as one of them does.
pub(super) struct Bucket {
    pub(super) pages: Arc<dyn PaginatedListStore>,
    store: Arc<dyn ObjectStore>,
    removal: Box<dyn Removal>,
    requests: HttpClient,
    sign: Sign,
    turns: Semaphore,
}

/// What the driver cannot do: remove on a condition.
#[async_trait]
pub(super) trait Removal: Send + Sync {
    /// A signed request that removes a name on the condition that its last write is this one.
    async fn request(&self, name: &Path, condition: &str) -> object_store::Result<HttpRequest>;
}

/// What lies under a name, and the write that put it there.
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) token: Token,
}

impl Bucket {
    pub(super) fn new<S>(
        store: S,
        removal: impl Removal + 'static,
        requests: HttpClient,
        sign: Sign,
    ) -> Self
    where
        S: ObjectStore + PaginatedListStore,
    {
        let store = Arc::new(store);
        let (pages, removal) = (Arc::clone(&store) as _, Box::new(removal));
        Self { pages, store, removal, requests, sign, turns: Semaphore::new(REQUESTS) }
    }

    /// What lies under a name, if anything does.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Stored>> {
        let _turn = self.turns.acquire().await;
        let found = match self.store.get_opts(&path(name)?, GetOptions::default()).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(err) => return Err(failed(&err)),
        };
        let token = self.sign.of_read(&found.meta)?;
        let bytes = found.bytes().await.map_err(|err| failed(&err))?;
        Ok(Some(Stored { bytes, token }))
    }

    /// Puts bytes under a name, whatever is there.
    pub(super) async fn put(&self, name: &str, bytes: Bytes) -> Result<Token> {
        let _turn = self.turns.acquire().await;
        match self.write(name, bytes, PutMode::Overwrite).await? {
            Ok(written) => self.sign.of_written(&written),
            Err(err) => Err(failed(&err)),
        }
    }

    /// Puts bytes under a name if what is there is as expected; says nothing if it is not.
    pub(super) async fn put_if(
        &self,
        name: &str,
        expected: &Expected,
        bytes: Bytes,
    ) -> Result<Option<Token>> {
        let mode = match expected {
            Expected::Absent => PutMode::Create,
            Expected::Token(token) => match self.sign.version(token) {
                Some(version) => PutMode::Update(version),
                None => return Ok(None),
            },
        };
        let _turn = self.turns.acquire().await;
        match self.write(name, bytes, mode).await? {
            Ok(written) => self.sign.of_written(&written).map(Some),
            Err(err) if is_otherwise(&err) => Ok(None),
            Err(err) => Err(failed(&err)),
        }
    }

    /// Removes a name if it is still what was written under this token; says whether it did.
    pub(super) async fn remove_if(&self, name: &str, token: &Token) -> Result<bool> {
        let Some(condition) = self.sign.condition(token) else { return Ok(false) };
        let _turn = self.turns.acquire().await;
        let request =
            self.removal.request(&path(name)?, &condition).await.map_err(|err| failed(&err))?;
        let answer = self.requests.execute(request).await.map_err(|err| of_http(&err))?;
        let status = answer.status();
        // What is not read to its end costs the connection.
        answer.into_body().bytes().await.ok();
        match status {
            done if done.is_success() => Ok(true),
            StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED => Ok(false),
            StatusCode::CONFLICT => Err(undecided()),
            status => Err(refused(&Refusal { status, code: String::new() })),
        }
    }

    /// Removes a name that a listing told with this token, if it is still that; says whether it did.
    pub(super) async fn remove_listed(&self, name: &str, token: &Token) -> Result<bool> {
        match self.sign {
            Sign::Tag => self.remove_if(name, token).await,
            Sign::Generation => match self.look(name).await? {
                Some(found) if of_listed(&found)? == *token => {
                    let generation = self.sign.of_read(&found)?;
                    self.remove_if(name, &generation).await
                }
                Some(_) | None => Ok(false),
            },
        }
    }

    /// Removes a name that a listing told with this token, if it just was still that.
    ///
    /// What is written at the same moment may be removed instead.
    pub(super) async fn remove_seen(&self, name: &str, token: &Token) -> Result<bool> {
        match self.look(name).await? {
            Some(found) if of_listed(&found)? == *token => {
                self.remove(name).await?;
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Removes a name, whatever is there.
    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        let _turn = self.turns.acquire().await;
        match object_store::ObjectStoreExt::delete(&*self.store, &path(name)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(err) => Err(failed(&err)),
        }
    }

    /// What is known of a name, if anything lies there.
    pub(super) async fn look(&self, name: &str) -> Result<Option<ObjectMeta>> {
        let _turn = self.turns.acquire().await;
        match object_store::ObjectStoreExt::head(&*self.store, &path(name)?).await {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(err) => Err(failed(&err)),
        }
    }

    async fn write(
        &self,
        name: &str,
        bytes: Bytes,
        mode: PutMode,
    ) -> Result<object_store::Result<PutResult>> {
        let options = PutOptions { mode, ..PutOptions::default() };
        Ok(self.store.put_opts(&path(name)?, bytes.into(), options).await)
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("sign", &self.sign).finish_non_exhaustive()
    }
}

/// Whether an error says that what is there is not as expected.
fn is_otherwise(err: &object_store::Error) -> bool {
    matches!(
        err,
        object_store::Error::AlreadyExists { .. }
            | object_store::Error::Precondition { .. }
            | object_store::Error::NotModified { .. }
            | object_store::Error::NotFound { .. }
    )
}

/// A name as the driver wants it. Ours have none of the letters that it would refuse.
fn path(name: &str) -> Result<Path> {
    Path::parse(name)
        .map_err(|_| Error::new(ErrorKind::InvalidKey, "the bucket takes no such name"))
}

/// That a request cannot be written down.
pub(super) fn unsendable(_: impl std::error::Error) -> object_store::Error {
    object_store::Error::Generic { store: "bucket", source: "the request cannot be sent".into() }
}
