//! What the three kinds of buckets take from the settings.

use std::str::FromStr;
use std::time::Duration;

use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, HeaderValue, RetryConfig};

use crate::address::invalid;
use crate::settings::Settings;
use crate::{Error, Result};

/// The settings that a driver knows, of those whose names begin so.
///
/// In the order of their names, so that of two that mean the same it is always the same one that
/// counts. What is empty counts as not there. If the file has credentials, those of the environment
/// are left out: drivers would take a token, or a key of another kind, for part of them.
pub(super) fn configured<K: FromStr>(
    settings: &Settings,
    prefix: &str,
    is_credential: impl Fn(&K) -> bool,
) -> Vec<(K, String)> {
    let mut named: Vec<_> = settings
        .all()
        .filter(|(name, value)| name.starts_with(prefix) && !value.is_empty())
        .collect();
    named.sort();
    let known = |(name, value): (String, String)| {
        let key = name.to_ascii_lowercase().parse().ok()?;
        let (is_in_file, is_credential) = (settings.is_in_file(&name), is_credential(&key));
        Some(Known { key, value, is_in_file, is_credential })
    };
    let mut known: Vec<Known<K>> = named.into_iter().filter_map(known).collect();
    if known.iter().any(|known| known.is_in_file && known.is_credential) {
        known.retain(|known| known.is_in_file || !known.is_credential);
    }
    known.into_iter().map(|known| (known.key, known.value)).collect()
}

/// A setting that a driver knows.
struct Known<K> {
    key: K,
    value: String,
    is_in_file: bool,
    is_credential: bool,
}

/// How requests are made, as long as no setting says otherwise.
pub(super) fn options() -> ClientOptions {
    let agent = HeaderValue::from_static(concat!("sandkeep/", env!("CARGO_PKG_VERSION")));
    ClientOptions::new().with_user_agent(agent)
}

/// One try: whoever calls tries again, and knows what to make of a change whose answer got lost.
pub(super) fn one_try() -> RetryConfig {
    let backoff = BackoffConfig::default();
    RetryConfig { backoff, max_retries: 0, retry_timeout: Duration::ZERO }
}

/// Refuses an endpoint without TLS, unless the operator wants just that.
pub(super) fn check_endpoint(endpoint: &str, options: &ClientOptions, name: &str) -> Result<()> {
    let is_allowed = options.get_config_value(&ClientConfigKey::AllowHttp);
    if endpoint.starts_with("https://") {
        return Ok(());
    }
    if !endpoint.starts_with("http://") {
        return Err(invalid("the endpoint of the bucket begins with https://"));
    }
    // As the driver reads it.
    let is_allowed = is_allowed.map(|value| value.to_ascii_lowercase());
    if matches!(is_allowed.as_deref(), Some("true" | "1" | "on" | "yes" | "y")) {
        return Ok(());
    }
    Err(invalid(format!("the endpoint of the bucket is not https; {name}=true allows it")))
}

/// That connections cannot be set up.
pub(super) fn unconnected(_: object_store::Error) -> Error {
    invalid(
        "connections to the bucket cannot be set up: a setting is not valid, or this machine lacks \
         the certificate authorities (ca-certificates)",
    )
}

/// That the driver could not be made of the settings. What it says may quote one of them.
pub(super) fn misconfigured(names: &'static str) -> impl Fn(object_store::Error) -> Error {
    move |_| {
        invalid(format!("the settings of the bucket are not complete or not valid; see {names}"))
    }
}

/// That there are no credentials, wherever they are looked for.
pub(super) fn without_credentials(names: &'static str) -> impl Fn(object_store::Error) -> Error {
    move |err| {
        let cause = super::failure::failed(&err);
        invalid(format!("there are no credentials for the bucket; see {names}")).because(cause)
    }
}
