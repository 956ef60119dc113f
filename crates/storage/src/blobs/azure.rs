//! Containers of Azure Blob Storage.

use async_trait::async_trait;
use http::Request;
use http::header::IF_MATCH;
use object_store::azure::{
    AzureAuthorizer, AzureConfigKey, AzureCredentialProvider, MicrosoftAzureBuilder,
};
use object_store::client::{HttpConnector as _, HttpRequest, HttpRequestBody};
use object_store::path::Path;

use super::bucket::{Bucket, Removal, unsendable};
use super::configured::{
    check_endpoint, configured, misconfigured, one_try, options, unconnected, without_credentials,
};
use super::sign::Sign;
use super::wire::Connector;
use crate::Result;
use crate::address::invalid;
use crate::settings::Settings;

const NAMES: &str =
    "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY and AZURE_STORAGE_ENDPOINT";

/// What is not for the settings to say. Emulators are reached by their endpoint.
const OURS: [AzureConfigKey; 4] = [
    AzureConfigKey::ContainerName,
    AzureConfigKey::SkipSignature,
    AzureConfigKey::UseEmulator,
    AzureConfigKey::UseFabricEndpoint,
];

/// What proves who asks, and comes from one place.
fn is_credential(key: &AzureConfigKey) -> bool {
    use AzureConfigKey as Key;
    matches!(
        key,
        Key::AccessKey
            | Key::SasKey
            | Key::Token
            | Key::ClientId
            | Key::ClientSecret
            | Key::FederatedTokenFile
    )
}

/// The container of this name.
pub(super) async fn connect(container: &str, settings: &Settings) -> Result<Bucket> {
    let (mut builder, mut options) = (MicrosoftAzureBuilder::new(), options());
    for (key, value) in configured(settings, "AZURE_", is_credential) {
        if let AzureConfigKey::Client(key) = key {
            options = options.with_config(key, value);
        } else if !OURS.contains(&key) {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(endpoint) = settings.value("IDENTITY_ENDPOINT") {
        builder = builder.with_msi_endpoint(endpoint);
    }
    let Some(account) = builder.get_config_value(&AzureConfigKey::AccountName) else {
        return Err(invalid("az:// needs AZURE_STORAGE_ACCOUNT_NAME"));
    };
    let endpoint = builder
        .get_config_value(&AzureConfigKey::Endpoint)
        .unwrap_or_else(|| format!("https://{account}.blob.core.windows.net"));
    check_endpoint(&endpoint, &options, "AZURE_ALLOW_HTTP")?;
    let requests = Connector.connect(&options).map_err(unconnected)?;
    let store = builder
        .with_container_name(container)
        .with_client_options(options)
        .with_http_connector(Connector)
        .with_retry(one_try())
        .build()
        .map_err(misconfigured(NAMES))?;
    store.credentials().get_credential().await.map_err(without_credentials(NAMES))?;
    let place = format!("{}/{container}", endpoint.trim_end_matches('/'));
    let signed = Signed { place, account, credentials: store.credentials().clone() };
    Ok(Bucket::new(store, signed, requests, Sign::Tag))
}

/// Requests signed as the account wants it.
struct Signed {
    /// The address of the container.
    place: String,
    account: String,
    credentials: AzureCredentialProvider,
}

#[async_trait]
impl Removal for Signed {
    async fn request(&self, name: &Path, condition: &str) -> object_store::Result<HttpRequest> {
        let request = Request::delete(format!("{}/{name}", self.place)).header(IF_MATCH, condition);
        let mut request = request.body(HttpRequestBody::empty()).map_err(unsendable)?;
        let credential = self.credentials.get_credential().await?;
        AzureAuthorizer::new(&credential, &self.account).try_authorize(&mut request)?;
        Ok(request)
    }
}
