//! The MCP server over HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
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
    /// If a connection cannot be accepted, for example because the process has too many open files, the server waits
    /// and continues.
    ///
    /// # Errors
    ///
    /// Fails if the listener cannot accept connections at all.
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
        let options = self.http.clone();
        let service = StreamableHttpService::new(move || Ok(self.clone()), sessions, config);
        let mut connections = JoinSet::new();
        loop {
            while connections.len() >= options.max_connections {
                connections.join_next().await;
            }
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // The listener does not listen.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    return Err(McpError::Serve(error.into()));
                }
                // Other errors end with time, such as too many open files, or belong to one connection.
                Err(_) => {
                    tokio::time::sleep(ACCEPT_DELAY).await;
                    continue;
                }
            };
            while connections.try_join_next().is_some() {}
            let service = TowerToHyperService::new(service.clone());
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(options.header_timeout)
                .serve_connection(TokioIo::new(stream), service);
            connections.spawn(async move {
                // Errors of one connection are reported to its client only.
                let _ = connection.await;
            });
        }
    }

    /// The longest time in which a client over HTTP must send the headers of a request. 30 seconds by default. It also
    /// ends connections that are not used.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp as mcp;
    /// use std::time::Duration;
    ///
    /// let serve = mcp::serve(ToolSet::new()).header_timeout(Duration::from_secs(5));
    /// # let _ = serve;
    /// ```
    #[must_use]
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.http.header_timeout = timeout;
        self
    }

    /// The largest number of connections over HTTP at the same time. 512 by default. Further clients wait until a
    /// connection ends. A client has one connection for notifications, and one for each call.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp as mcp;
    ///
    /// let serve = mcp::serve(ToolSet::new()).max_connections(64);
    /// # let _ = serve;
    /// ```
    #[must_use]
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.http.max_connections = connections.max(1);
        self
    }
}

/// How long the server waits after a connection could not be accepted.
const ACCEPT_DELAY: Duration = Duration::from_millis(200);
