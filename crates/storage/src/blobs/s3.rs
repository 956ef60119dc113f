//! Buckets of Amazon S3, and of all servers that speak its protocol.

use std::time::Duration;

use async_trait::async_trait;
use http::header::IF_MATCH;
use http::{HeaderValue, Method, Request};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::client::{HttpConnector as _, HttpRequest, HttpRequestBody};
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer as _};

use super::bucket::{Bucket, Removal, unsendable};
use super::configured::{
    check_endpoint, configured, misconfigured, one_try, options, unconnected, without_credentials,
};
use super::sign::Sign;
use super::wire::Connector;
use crate::Result;
use crate::address::invalid;
use crate::settings::Settings;

const NAMES: &str = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL";

/// For how long a signed request holds. It is sent at once.
const SIGNED: Duration = Duration::from_secs(300);

/// What is not for the settings to say: where the store is, and what it relies on.
const OURS: [AmazonS3ConfigKey; 4] = [
    AmazonS3ConfigKey::Bucket,
    AmazonS3ConfigKey::ConditionalPut,
    AmazonS3ConfigKey::S3Express,
    AmazonS3ConfigKey::SkipSignature,
];

/// What proves who asks, and comes from one place.
fn is_credential(key: &AmazonS3ConfigKey) -> bool {
    use AmazonS3ConfigKey as Key;
    matches!(key, Key::AccessKeyId | Key::SecretAccessKey | Key::Token)
}

/// The bucket of this name.
pub(super) async fn connect(name: &str, settings: &Settings) -> Result<Bucket> {
    if name.ends_with("--x-s3") {
        let message =
            "a directory bucket does not list its keys in order; take a general purpose one";
        return Err(invalid(message));
    }
    // Some servers take a write for whole whose line was cut behind its head, and keep nothing of it in
    // the place of what was there. With a checksum they do not.
    let mut builder = AmazonS3Builder::new().with_checksum_algorithm(Checksum::SHA256);
    let mut options = options();
    for (key, value) in configured(settings, "AWS_", is_credential) {
        if let AmazonS3ConfigKey::Client(key) = key {
            options = options.with_config(key, value);
        } else if !OURS.contains(&key) {
            builder = builder.with_config(key, value);
        }
    }
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::S3Endpoint);
    let endpoint = endpoint.or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
    if let Some(endpoint) = endpoint {
        check_endpoint(&endpoint, &options, "AWS_ALLOW_HTTP")?;
    }
    let requests = Connector.connect(&options).map_err(unconnected)?;
    let store = builder
        .with_bucket_name(name)
        .with_client_options(options)
        .with_http_connector(Connector)
        .with_retry(one_try())
        .build()
        .map_err(misconfigured(NAMES))?;
    store.credentials().get_credential().await.map_err(without_credentials(NAMES))?;
    Ok(Bucket::new(store.clone(), Signed(store), requests, Sign::Tag))
}

/// Requests whose address is signed. Nobody may see it.
struct Signed(AmazonS3);

#[async_trait]
impl Removal for Signed {
    async fn request(&self, name: &Path, condition: &str) -> object_store::Result<HttpRequest> {
        let condition = HeaderValue::from_str(condition).map_err(unsendable)?;
        // It is signed too: whoever drops it on the way makes the request worthless.
        let options = SignedUrlOptions::default().with_signed_header(IF_MATCH, condition.clone());
        let url = self.0.signed_url_opts(Method::DELETE, name, SIGNED, &options).await?;
        let request = Request::delete(url.as_str()).header(IF_MATCH, condition);
        request.body(HttpRequestBody::empty()).map_err(unsendable)
    }
}
