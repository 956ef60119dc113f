//! Buckets of Google Cloud Storage.

use async_trait::async_trait;
use http::Request;
use http::header::AUTHORIZATION;
use object_store::client::{HttpConnector as _, HttpRequest, HttpRequestBody};
use object_store::gcp::{GcpCredentialProvider, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;

use super::bucket::{Bucket, Removal, unsendable};
use super::configured::{
    check_endpoint, configured, misconfigured, one_try, options, unconnected, without_credentials,
};
use super::sign::Sign;
use super::wire::Connector;
use crate::Result;
use crate::settings::Settings;

const NAMES: &str =
    "GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_SERVICE_ACCOUNT and GOOGLE_SERVICE_ACCOUNT_KEY";

const ENDPOINT: &str = "https://storage.googleapis.com";

/// The write on which a request insists.
const GENERATION: &str = "x-goog-if-generation-match";

/// What is not for the settings to say.
const OURS: [GoogleConfigKey; 2] = [GoogleConfigKey::Bucket, GoogleConfigKey::SkipSignature];

/// What proves who asks, and comes from one place.
fn is_credential(key: &GoogleConfigKey) -> bool {
    use GoogleConfigKey as Key;
    matches!(
        key,
        Key::ServiceAccount
            | Key::ServiceAccountKey
            | Key::ApplicationCredentials
            | Key::BearerToken
    )
}

/// The bucket of this name.
pub(super) async fn connect(name: &str, settings: &Settings) -> Result<Bucket> {
    let (mut builder, mut options) = (GoogleCloudStorageBuilder::new(), options());
    for (key, value) in configured(settings, "GOOGLE_", is_credential) {
        if let GoogleConfigKey::Client(key) = key {
            options = options.with_config(key, value);
        } else if !OURS.contains(&key) {
            builder = builder.with_config(key, value);
        }
    }
    let endpoint = builder.get_config_value(&GoogleConfigKey::BaseUrl);
    let endpoint = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
    let endpoint = endpoint.trim_end_matches('/');
    check_endpoint(endpoint, &options, "GOOGLE_ALLOW_HTTP")?;
    let requests = Connector.connect(&options).map_err(unconnected)?;
    let store = builder
        .with_bucket_name(name)
        .with_base_url(endpoint)
        .with_client_options(options)
        .with_http_connector(Connector)
        .with_retry(one_try())
        .build()
        .map_err(misconfigured(NAMES))?;
    store.credentials().get_credential().await.map_err(without_credentials(NAMES))?;
    let signed =
        Signed { place: format!("{endpoint}/{name}"), credentials: store.credentials().clone() };
    Ok(Bucket::new(store, signed, requests, Sign::Generation))
}

/// Requests that show a token.
struct Signed {
    /// The address of the bucket.
    place: String,
    credentials: GcpCredentialProvider,
}

#[async_trait]
impl Removal for Signed {
    async fn request(&self, name: &Path, condition: &str) -> object_store::Result<HttpRequest> {
        let credential = self.credentials.get_credential().await?;
        Request::delete(format!("{}/{name}", self.place))
            .header(GENERATION, condition)
            .header(AUTHORIZATION, format!("Bearer {}", credential.bearer))
            .body(HttpRequestBody::empty())
            .map_err(unsendable)
    }
}
