//! The MCP server over HTTP.

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{McpError, McpServer};

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
                .map_err(|error| McpError::Serve(error.into()))?;
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
