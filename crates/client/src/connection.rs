//! How connections are made: HTTP/1.1, TLS by rustls with ring, nothing from the environment.

use std::sync::Arc;
use std::time::Duration;

use engine::{Error, ErrorKind, Result};
use http::HeaderMap;
use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::hint::Hint;

/// How long a connection may take to come about. Answers may take as long as they need.
const CONNECT: Duration = Duration::from_secs(10);

/// Whether the bytes on the wire are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// A pool of connections that sends these headers with every request.
///
/// Redirects are not followed, for they would carry the token elsewhere. Proxies are not taken
/// from the environment: a file server is most often on this machine or beside it, and only the
/// command line reads the environment.
pub(crate) fn pool(scheme: Scheme, headers: HeaderMap) -> Result<Client> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls(scheme)?)
        .default_headers(headers)
        .user_agent(concat!("sandkeep/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .no_proxy()
        .build();
    client.map_err(|err| Error::new(ErrorKind::Io, "cannot set up connections").because(err))
}

/// The machine's own certificate authorities are read for https alone, so that plain HTTP also
/// works where none are installed.
fn tls(scheme: Scheme) -> Result<ClientConfig> {
    let setup = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|versions| match scheme {
            Scheme::Http => Ok(versions.with_root_certificates(RootCertStore::empty())),
            Scheme::Https => versions.with_platform_verifier(),
        });
    let config = setup.map_err(|err| {
        let advice = "install the certificate authorities of the system, such as ca-certificates";
        let hint = Hint::new(advice).about(err);
        Error::new(ErrorKind::Unavailable, "cannot check certificates here").because(hint)
    })?;
    Ok(config.with_no_client_auth())
}
