//! The administration of a Restate server.

use crate::error::RestateError;
use crate::http;

/// The administration of a Restate server, which has no authentication: only operators may reach it.
///
/// ```no_run
/// # async fn deploy() -> Result<(), petalflow_restate::RestateError> {
/// petalflow_restate::Admin::new("http://127.0.0.1:9070").register("http://10.0.0.7:9080").await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Admin {
    url: String,
    http: reqwest::Client,
}

impl Admin {
    /// The administration at this address.
    pub fn new(url: impl Into<String>) -> Self {
        Admin {
            url: url.into(),
            http: http::client(),
        }
    }

    /// Registers an endpoint, which becomes the newest version of its services. Further supersteps run there. Each version of a
    /// program has an address of its own, because an invocation in progress ends where it has begun.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or cannot reach the endpoint.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the endpoint is registered or not. Registering it again changes nothing.
    pub async fn register(&self, endpoint: &str) -> Result<(), RestateError> {
        self.register_with(endpoint, false).await
    }

    /// Registers a changed endpoint at an address that was registered before: for tests. Invocations in progress fail until they are
    /// killed, if their steps differ.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register).
    pub async fn replace(&self, endpoint: &str) -> Result<(), RestateError> {
        self.register_with(endpoint, true).await
    }

    async fn register_with(&self, endpoint: &str, force: bool) -> Result<(), RestateError> {
        let body = serde_json::json!({ "uri": endpoint, "force": force });
        let url = format!("{}/deployments", self.url.trim_end_matches('/'));
        http::post(
            &self.http,
            &url,
            "application/json",
            body.to_string().into_bytes(),
        )
        .await?;
        Ok(())
    }
}
