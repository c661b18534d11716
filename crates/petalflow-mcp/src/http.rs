//! MCP over HTTP: client and server.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connect::{Target, speak};
use super::connection::Ear;
use super::{McpClient, McpError, McpServer};
use petalflow::BoxError;

/// The URL of a server, and the headers of each request.
pub(super) struct Address {
    url: Arc<str>,
    headers: Vec<(String, String)>,
}

impl Address {
    pub(super) async fn connect(
        &self,
        ear: Ear,
        message_limit: usize,
    ) -> Result<RunningService<RoleClient, Ear>, BoxError> {
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
        let transport = StreamableHttpClientTransport::with_client(client()?, config);
        speak(ear, transport).await
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

impl McpClient {
    /// A server at this URL, over streamable HTTP. The headers are sent with each request.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::http("https://example.com/mcp", [("authorization", "Bearer some-token")]);
    /// let without = McpClient::http("http://localhost:8000/mcp", [] as [(&str, &str); 0]);
    /// ```
    pub fn http<H, N, V>(url: impl Into<Arc<str>>, headers: H) -> Self
    where
        H: IntoIterator<Item = (N, V)>,
        N: Into<String>,
        V: Into<String>,
    {
        let url = url.into();
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        // The URL may contain a password, and messages contain the name.
        let name = url
            .rsplit_once('@')
            .map_or(&*url, |(_, place)| place)
            .to_string();
        Self::new(name, Target::Http(Address { url, headers }))
    }
}

impl McpServer {
    /// Serves any number of clients over HTTP, at every path, while the future is polled. The `Host` header of a
    /// request must name a loopback address or one of `hosts`. Otherwise a page in a browser could reach the tools
    /// through another host name.
    ///
    /// # Errors
    ///
    /// Fails if the listener no longer accepts connections.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections and drops all calls.
    ///
    /// ```
    /// use petalflow_mcp::{self as mcp, McpClient};
    /// use petalflow::tool::ToolSet;
    /// use tokio::net::TcpListener;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let url = format!("http://{}/mcp", listener.local_addr()?);
    /// tokio::spawn(mcp::serve(ToolSet::new()).http(listener, []));
    /// assert!(McpClient::http(url, [] as [(&str, &str); 0]).tools().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn http(
        self,
        listener: TcpListener,
        hosts: impl IntoIterator<Item = String>,
    ) -> Result<(), McpError> {
        let mut config = StreamableHttpServerConfig::default();
        config.allowed_hosts.extend(hosts);
        // Dropping it with this future ends all sessions.
        let _sessions = config.cancellation_token.clone().drop_guard();
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(self.clone()), sessions, config);
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = listener
                .accept()
                .await
                .map_err(|error| McpError::McpServer(error.into()))?;
            while connections.try_join_next().is_some() {}
            let service = TowerToHyperService::new(service.clone());
            connections.spawn(async move {
                // Errors of one connection are reported to its client only.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
}
