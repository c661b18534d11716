//! The administration of a Restate server.

use crate::error::RestateError;
use crate::http;
#[cfg(feature = "server")]
use crate::thread_state::Listed;

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

    /// A page of the threads of a service whose keys begin with this text and are greater than `after`, in the order of their keys.
    #[cfg(feature = "server")]
    pub(crate) async fn listed(
        &self,
        service: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<petalflow::checkpoint::ThreadInfo>, RestateError> {
        let after = after.map_or_else(String::new, |after| {
            format!(" AND service_key > {}", quoted(after))
        });
        let query = format!(
            "SELECT service_key, value_utf8 FROM state WHERE service_name = {} AND key = {} AND starts_with(service_key, {}){after} \
             ORDER BY service_key LIMIT {limit}",
            quoted(service),
            quoted(crate::driver::LISTED),
            quoted(prefix)
        );
        let body = serde_json::json!({ "query": query }).to_string();
        let url = format!("{}/query", self.url.trim_end_matches('/'));
        let json = "application/json";
        let answer = http::post(&self.http, &url, json, body.into_bytes()).await?;
        let damaged = |error: serde_json::Error| {
            petalflow::engine::RecordsError::Damaged(format!("the list of threads: {error}"))
        };
        let rows: Rows = serde_json::from_slice(&answer).map_err(damaged)?;
        let listed = rows.rows.into_iter().map(|row| {
            let listed: Listed = serde_json::from_str(&row.value_utf8).map_err(damaged)?;
            Ok(listed.into_info(row.service_key))
        });
        listed.collect()
    }
}

/// A text as SQL writes it.
#[cfg(feature = "server")]
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(feature = "server")]
#[derive(serde::Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[cfg(feature = "server")]
#[derive(serde::Deserialize)]
struct Row {
    service_key: String,
    value_utf8: String,
}
