//! What encrypts the connections of HTTP clients.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};

/// TLS with `ring` and the certificates of the machine, which are read once.
pub(crate) fn tls() -> Result<ClientConfig, String> {
    static READ: OnceLock<Result<ClientConfig, String>> = OnceLock::new();
    READ.get_or_init(read_tls).clone()
}

fn read_tls() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    // Machines have certificates that cannot be read, and need not have any: an address may be a plain one.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
