//! The HTTP client of a provider's model.

use std::time::Duration;

use genai::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The timeouts of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// The timeout for connecting.
    pub(super) connect: Duration,
    /// The timeout between two reads from the server.
    pub(super) idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        }
    }
}

/// A separate client for each model. Connections belong to the runtime that opened them: a shared client would use them
/// in other runtimes, which do not poll them.
pub(super) fn client(timeouts: &Timeouts, trusted: &[String]) -> Result<Client, String> {
    let http = reqwest::Client::builder()
        .connect_timeout(timeouts.connect)
        .read_timeout(timeouts.idle)
        // A redirect would send the key and the conversation to another server.
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(crate::tls::client_config(&certificates(trusted)?)?)
        .build()
        .map_err(|error| error.to_string())?;
    let client = Client::builder().with_reqwest(http).build();
    client.map_err(|error| error.to_string())
}

fn certificates(texts: &[String]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut all = Vec::new();
    for text in texts {
        let before = all.len();
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let certificate = certificate
                .map_err(|error| format!("a certificate to trust cannot be read: {error}"))?;
            all.push(certificate);
        }
        if all.len() == before {
            return Err("there is no certificate in what is to be trusted; give it as PEM".into());
        }
    }
    Ok(all)
}
