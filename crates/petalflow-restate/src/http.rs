//! Requests to the Restate server.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use rustls::{ClientConfig, RootCertStore};

use crate::error::RestateError;

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// An address of the Restate server, with the headers of each request to it.
#[derive(Clone)]
pub(crate) struct Http {
    base: String,
    headers: HeaderMap,
    client: reqwest::Client,
}

impl std::fmt::Debug for Http {
    /// Without the values of headers, which may be credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Http")
            .field("base", &self.base)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

impl Http {
    pub(crate) fn new(base: impl Into<String>) -> Self {
        let base: String = base.into();
        Http {
            base: base.trim_end_matches('/').into(),
            headers: HeaderMap::new(),
            client: client(),
        }
    }

    /// Adds a header to each request.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Result<Self, RestateError> {
        let refused = |problem: String| RestateError::Header {
            name: name.into(),
            problem,
        };
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|error| refused(error.to_string()))?;
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|error| refused(error.to_string()))?;
        value.set_sensitive(true);
        self.headers.insert(parsed, value);
        Ok(self)
    }

    /// Sends bytes, and returns those of the answer.
    pub(crate) async fn send(&self, path: &str, body: Vec<u8>) -> Result<Vec<u8>, RestateError> {
        let request = self.request(Method::POST, path);
        // Restate refuses a type of content without content.
        let request = if body.is_empty() {
            request
        } else {
            let bytes = "application/octet-stream";
            let request = request
                .header("content-type", bytes)
                .header("accept", bytes);
            request.body(body)
        };
        self.answer(path, request).await
    }

    /// Sends JSON, and returns the bytes of the answer.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<Vec<u8>, RestateError> {
        let json = "application/json";
        let request = self
            .request(method, path)
            .header("content-type", json)
            .header("accept", json)
            .body(body.to_string());
        self.answer(path, request).await
    }

    /// Asks for a change that needs no words.
    pub(crate) async fn patch(&self, path: &str) -> Result<(), RestateError> {
        let request = self.request(Method::PATCH, path);
        self.answer(path, request).await.map(drop)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        request.headers(self.headers.clone())
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    async fn answer(&self, path: &str, request: RequestBuilder) -> Result<Vec<u8>, RestateError> {
        let unreachable = |source| RestateError::Unreachable {
            url: self.url(path),
            source,
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = response.bytes().await.map_err(unreachable)?;
        if status.is_success() {
            return Ok(body.to_vec());
        }
        Err(RestateError::Refused {
            url: self.url(path),
            status: status.as_u16(),
            message: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}

/// A client that waits as long as a thread runs, and trusts the certificates of the machine.
fn client() -> reqwest::Client {
    let mut builder = reqwest::Client::builder().connect_timeout(CONNECT);
    if let Ok(tls) = tls() {
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder.build().unwrap_or_default()
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        // A machine may have none: the address may use plain HTTP.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    });
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = config
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// A part of a path.
pub(crate) fn encoded(part: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    part.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f42_the_value_of_a_header_is_in_no_output() {
        let http = Http::new("https://example.com/").header("authorization", "Bearer secret");
        let http = http.expect("a header");
        assert_eq!(
            format!("{http:?}"),
            r#"Http { base: "https://example.com", headers: ["authorization"], .. }"#
        );
        let refused = Http::new("https://example.com").header("a header", "secret");
        let refused = refused.expect_err("it has a space").to_string();
        assert!(
            refused.contains("`a header`") && !refused.contains("secret"),
            "{refused}"
        );
    }
}
