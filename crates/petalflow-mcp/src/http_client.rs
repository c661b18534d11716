//! The HTTP transport of the client.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use petalflow::BoxError;

/// The URL of a server, and the headers of each request.
pub(super) struct Address {
    pub(super) url: Arc<str>,
    pub(super) headers: Vec<(String, String)>,
}

impl Address {
    /// The transport of a new connection.
    pub(super) fn transport(
        &self,
        message_limit: usize,
    ) -> Result<StreamableHttpClientTransport<reqwest::Client>, BoxError> {
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| format!("the value of header `{name}` cannot be sent"))?;
            // It may be a secret: sensitive values are not printed.
            value.set_sensitive(true);
            let name: HeaderName = name
                .parse()
                .map_err(|_| format!("`{name}` is not the name of a header"))?;
            headers.insert(name, value);
        }
        let config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(&self.url))
            .max_sse_event_size(message_limit)
            .custom_headers(headers);
        Ok(StreamableHttpClientTransport::with_client(
            client()?,
            config,
        ))
    }
}

/// Connections belong to the runtime that opened them, so each server has its own HTTP client.
fn client() -> Result<reqwest::Client, BoxError> {
    let client = reqwest::Client::builder()
        // A redirect would send the headers to another host.
        .redirect(reqwest::redirect::Policy::none())
        // A pooled connection answers late if its last response was not read to the end.
        .pool_max_idle_per_host(0)
        .tls_backend_preconfigured(petalflow_llm::tls::client_config(&[])?);
    Ok(client.build()?)
}
