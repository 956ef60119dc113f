//! Certificates for servers that speak TLS.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// A certificate for this machine and the authority that vouches for it, as PEM.
pub(crate) struct Certificates {
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Certificates {
    /// Makes an authority that nobody else knows, and a certificate for `127.0.0.1`.
    pub(crate) fn for_loopback() -> Self {
        Self::make().expect("a certificate is made")
    }

    fn make() -> Result<Self, rcgen::Error> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "sandkeep tests");
        let authority_pem = authority.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(authority, authority_key);

        let key = KeyPair::generate()?;
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        Ok(Self { authority: authority_pem, certificate, key })
    }
}
