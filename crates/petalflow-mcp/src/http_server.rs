//! The MCP server over HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::http_options::RequestHeaders;
use super::{McpError, McpServer};

impl McpServer {
    /// Serves any number of clients over HTTP, at every path, while the future is polled. The `Host` header of a
    /// request must name a loopback address or one of `hosts`. Otherwise a page in a browser could reach the tools
    /// through another host name. The `Origin` header, if there is one, must be a loopback origin or one of
    /// [`allow_origins`](Self::allow_origins). Other requests are refused with 403.
    ///
    /// Without [`authenticate`](Self::authenticate), anyone who can reach the listener can call the tools.
    ///
    /// If a connection cannot be accepted, for example because the process has too many open files, the server waits
    /// and continues.
    ///
    /// # Errors
    ///
    /// Fails if the listener cannot accept connections at all, or if a [resource](Self::resource) or a
    /// [prompt](Self::prompt) has a wrong name or address.
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
        self.check()?;
        let mut config = StreamableHttpServerConfig::default();
        config.allowed_hosts.extend(hosts);
        config.allowed_origins = allowed_origins(&self.http.origins);
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
            let authenticate = options.authenticate.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let allowed = authenticate
                    .as_ref()
                    .is_none_or(|allows| allows(RequestHeaders(request.headers())));
                let response = allowed.then(|| service.call(request));
                async move {
                    match response {
                        Some(response) => response.await,
                        None => Ok(unauthorized()),
                    }
                }
            });
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

    /// Refuses requests over HTTP with 401 if the function returns `false` for their headers. It is called once per
    /// request, before anything else, and must not block.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp as mcp;
    ///
    /// let serve = mcp::serve(ToolSet::new())
    ///     .authenticate(|headers| headers.get("authorization") == Some("Bearer some-token"));
    /// # let _ = serve;
    /// ```
    #[must_use]
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn authenticate(
        mut self,
        allows: impl Fn(RequestHeaders<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.http.authenticate = Some(Arc::new(allows));
        self
    }

    /// Accepts requests over HTTP from pages of these origins, such as `https://app.example.com`. Browsers send the
    /// origin of the page. By default only pages from loopback addresses are accepted, and requests without an origin.
    /// The port `*` stands for any port.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp as mcp;
    ///
    /// let serve = mcp::serve(ToolSet::new()).allow_origins(["https://app.example.com", "https://test.example.com:*"]);
    /// # let _ = serve;
    /// ```
    #[must_use]
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn allow_origins<O>(mut self, origins: O) -> Self
    where
        O: IntoIterator<Item: Into<String>>,
    {
        self.http
            .origins
            .extend(origins.into_iter().map(Into::into));
        self
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

/// The response to a request that is not authenticated.
fn unauthorized<B: Default>() -> Response<B> {
    let mut response = Response::new(B::default());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let scheme = HeaderValue::from_static("Bearer");
    response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    response
}

/// Loopback origins at any port, and these.
fn allowed_origins(origins: &[String]) -> Vec<String> {
    let loopback = ["localhost", "127.0.0.1", "[::1]"].into_iter();
    let loopback =
        loopback.flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    loopback
        .chain(origins.iter().map(|origin| with_port(origin)))
        .collect()
}

/// An origin with its port: for `rmcp`, an origin without a port has any port.
fn with_port(origin: &str) -> String {
    let uri = origin.parse::<Uri>().unwrap_or_default();
    match (uri.scheme_str(), uri.host(), uri.port_u16()) {
        (Some("http"), Some(host), None) if !origin.ends_with(":*") => format!("http://{host}:80"),
        (Some("https"), Some(host), None) if !origin.ends_with(":*") => {
            format!("https://{host}:443")
        }
        _ => origin.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_without_a_port_has_the_port_of_its_scheme() {
        for (origin, expected) in [
            ("https://example.com", "https://example.com:443"),
            ("http://example.com/", "http://example.com:80"),
            ("http://[::1]", "http://[::1]:80"),
            ("https://example.com:8443", "https://example.com:8443"),
            ("https://example.com:*", "https://example.com:*"),
            ("null", "null"),
        ] {
            assert_eq!(with_port(origin), expected);
        }
    }
}
