//! The TLS configuration of HTTP clients, for providers and for other crates that open connections.

use std::sync::{Arc, OnceLock};
#[cfg(feature = "providers")]
use std::{error::Error, io};

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// A TLS configuration with `ring`. It trusts the given certificates and the machine's root certificates, which are read
/// once. It offers HTTP/1.1 only, because the HTTP clients of petalflow are built without HTTP/2.
///
/// ```
/// let config = petalflow_llm::tls::client_config(&[])?;
/// assert_eq!(config.alpn_protocols, [b"http/1.1"]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// If one of the given certificates cannot be read.
pub fn client_config(trusted: &[CertificateDer<'static>]) -> Result<ClientConfig, String> {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    let mut roots = ROOTS.get_or_init(machine_roots).clone();
    for certificate in trusted {
        roots
            .add(certificate.clone())
            .map_err(|error| format!("a certificate to trust cannot be read: {error}"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn machine_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // A machine may have unreadable certificates, or none: the address may use plain HTTP.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// The problem with the server's certificate, if it made the request fail.
#[cfg(feature = "providers")]
pub(crate) fn certificate_problem(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(problem)) = error.downcast_ref() {
            return Some(problem.to_string());
        }
        // `source` skips the error inside an `io::Error`: take it directly.
        let inside = error.downcast_ref().and_then(io::Error::get_ref);
        cause = inside
            .map(|inside| inside as &(dyn Error + 'static))
            .or_else(|| error.source());
    }
    None
}
