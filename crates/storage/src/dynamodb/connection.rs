//! The way to the service.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, Region};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

use crate::Result;
use crate::address::invalid;
use crate::settings::Settings;

/// How long making a connection may take, and the answer to a request.
const CONNECT: Duration = Duration::from_secs(3);
const ANSWER: Duration = Duration::from_secs(30);

/// A client with what the settings say, and what the machine's profile or role says where they say
/// nothing.
///
/// Each request is tried once: who calls knows better how long to go on.
pub(super) async fn client(settings: &Settings) -> Result<Client> {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https();
    let times = TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(ANSWER).build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .retry_config(RetryConfig::disabled())
        .timeout_config(times);
    if let Some(region) = settings.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
        loader = loader.region(Region::new(region));
    }
    if let Some(url) = settings.first(&["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"]) {
        loader = loader.endpoint_url(url);
    }
    let config = with_credentials(loader, settings)?.load().await;
    if config.region().is_none() {
        return Err(invalid("dynamodb: needs a region; set AWS_REGION"));
    }
    Ok(Client::new(&config))
}

/// Keys that stand in the settings, or else those of a profile, a container, a machine or a role.
fn with_credentials(loader: ConfigLoader, settings: &Settings) -> Result<ConfigLoader> {
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
    let [key, secret, session] = settings.together(names);
    match (key, secret) {
        (Some(key), Some(secret)) => {
            let keys = Credentials::new(key, secret, session, None, "settings");
            Ok(loader.credentials_provider(SharedCredentialsProvider::new(keys)))
        }
        (None, None) => match settings.value("AWS_PROFILE") {
            Some(profile) => Ok(loader.profile_name(profile)),
            None => Ok(loader),
        },
        (Some(_), None) | (None, Some(_)) => {
            Err(invalid("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together"))
        }
    }
}
