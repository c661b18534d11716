//! The HTTP client under a provider's model.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use genai::Client;
use rustls::{ClientConfig, RootCertStore};

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// To connect.
    pub(super) connect: Duration,
    /// Between two things that the server sends.
    pub(super) idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(600),
        }
    }
}

/// A client of its own for each model: connections belong to the runtime in which they were opened, so that a client which all share
/// would hand them to runtimes in which nobody drives them.
pub(super) fn client(timeouts: &Timeouts) -> Result<Client, String> {
    let http = reqwest::Client::builder()
        .connect_timeout(timeouts.connect)
        .read_timeout(timeouts.idle)
        // A redirect would take the key and the conversation elsewhere.
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(tls()?)
        .build()
        .map_err(|error| error.to_string())?;
    let client = Client::builder().with_reqwest(http).build();
    client.map_err(|error| error.to_string())
}

/// TLS with `ring` and the certificates of the machine, which are read once.
fn tls() -> Result<ClientConfig, String> {
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
