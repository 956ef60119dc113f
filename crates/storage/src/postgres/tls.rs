//! How far the server is trusted: `sslmode` and `sslrootcert`, which mean what they mean to every
//! other client of the database.
//!
//! | sslmode | spoken | whose certificate is accepted |
//! |---|---|---|
//! | `disable` | in the open | |
//! | `prefer`, the default | encrypted if the server can | anybody's |
//! | `require` | encrypted | anybody's, or as `verify-ca` with `sslrootcert` |
//! | `verify-ca` | encrypted | of anybody whom a trusted authority knows |
//! | `verify-full` | encrypted | of the host that the URL names |
//!
//! Trusted are the authorities in the file `sslrootcert`, or those that the system trusts. With
//! `sslrootcert=system` the default is `verify-full`, and nothing else is taken: anybody gets a
//! certificate for a name of his own.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::Verifier;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, invalid};
use crate::{Error, Result, blocking};

/// Takes out of the URL how the server is spoken to.
pub(super) async fn of(address: &mut Address) -> Result<(SslMode, MakeRustlsConnect)> {
    let (authorities, mode) = (address.take("sslrootcert")?, address.take("sslmode")?);
    let is_system = authorities.as_deref() == Some("system");
    if is_system && mode.as_deref().is_some_and(|mode| mode != "verify-full") {
        return Err(invalid("sslrootcert=system needs sslmode=verify-full, which is its default"));
    }
    let mode = mode.or_else(|| is_system.then(|| "verify-full".to_owned()));
    let authorities = authorities.filter(|_| !is_system);
    let (mode, trust) = match (mode.as_deref(), &authorities) {
        (Some("disable"), _) => (SslMode::Disable, Trust::Anybody),
        (Some("prefer") | None, _) => (SslMode::Prefer, Trust::Anybody),
        (Some("require"), None) => (SslMode::Require, Trust::Anybody),
        (Some("require"), Some(_)) | (Some("verify-ca"), _) => (SslMode::Require, Trust::Known),
        (Some("verify-full"), _) => (SslMode::Require, Trust::Host),
        (Some(_), _) => {
            let message = "sslmode is disable, prefer, require, verify-ca or verify-full";
            return Err(invalid(message));
        }
    };
    let config = blocking::run(move || config(trust, authorities.as_deref())).await?;
    Ok((mode, MakeRustlsConnect::new(config)))
}

/// Whose certificate is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Anybody,
    /// Of anybody whom a trusted authority knows.
    Known,
    /// Of the host that was wanted.
    Host,
}

fn config(trust: Trust, authorities: Option<&str>) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anybody => Arc::new(Lenient { provider: Arc::clone(&provider), strict: None }),
        Trust::Known => {
            let strict = Some(strict(&provider, authorities)?);
            Arc::new(Lenient { provider: Arc::clone(&provider), strict })
        }
        Trust::Host => strict(&provider, authorities)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}

/// Accepts the certificate of the host, if one of the authorities vouches for it.
fn strict(
    provider: &Arc<CryptoProvider>,
    authorities: Option<&str>,
) -> Result<Arc<dyn ServerCertVerifier>> {
    let provider = Arc::clone(provider);
    let Some(path) = authorities else {
        return Ok(Arc::new(Verifier::new(provider).map_err(unusable)?));
    };
    let unreadable = |err| invalid("sslrootcert has no certificates that can be read").because(err);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        roots.add(certificate.map_err(unreadable)?).map_err(unusable)?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build();
    Ok(verifier.map_err(|err| invalid("sslrootcert has no certificates").because(err))?)
}

fn unusable(err: rustls::Error) -> Error {
    invalid("the certificates of authorities cannot be used").because(err)
}

/// Accepts the certificate of any host, if it is known to an authority, where there are any. That
/// the server has the key of its certificate is always checked.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    strict: Option<Arc<dyn ServerCertVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(strict) = &self.strict else { return Ok(ServerCertVerified::assertion()) };
        let verified =
            strict.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is the last that is looked at: everything else was right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
