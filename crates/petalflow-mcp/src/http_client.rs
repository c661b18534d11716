//! The HTTP transport of the client.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
#[cfg(feature = "oauth")]
use hyper::header::AUTHORIZATION;
use hyper::header::{HeaderName, HeaderValue};
use reqwest::Url;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::handler::MessageHandler;
use super::http_error::{HttpError, is_too_long, without_url};
#[cfg(feature = "oauth")]
use super::oauth::{Authorization, authorized};
use super::options::Options;
use petalflow::BoxError;

/// The URL of a server, and the headers of each request.
pub(super) struct Address {
    pub(super) url: Arc<str>,
    pub(super) headers: Vec<(String, String)>,
}

impl Address {
    /// The name of the server in messages: the host and the path. The other parts of a URL may contain secrets: the
    /// user, the password, the query and the fragment.
    pub(super) fn name(&self) -> String {
        if let Ok(url) = Url::parse(&self.url)
            && let Some(host) = url.host_str()
        {
            let port = url.port().map(|port| format!(":{port}"));
            let path = if url.path() == "/" { "" } else { url.path() };
            return format!("{host}{}{path}", port.unwrap_or_default());
        }
        // Without a host, it is not known which part is the password.
        if self.url.contains('@') {
            return "an invalid address".into();
        }
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        self.url[..end].into()
    }

    /// The transport of a new connection. It sets `exceeded` when a message is longer than allowed.
    pub(super) fn transport(
        &self,
        options: &Options,
        exceeded: Arc<AtomicBool>,
        handler: MessageHandler,
    ) -> Result<StreamableHttpClientTransport<HttpClient>, BoxError> {
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| format!("the value of header `{name}` cannot be sent"))?;
            // It may be a secret: sensitive values are not printed.
            value.set_sensitive(true);
            let name: HeaderName = name
                .parse()
                .map_err(|_| format!("`{name}` is not the name of a header"))?;
            #[cfg(feature = "oauth")]
            if name == AUTHORIZATION && options.authorization.is_some() {
                return Err("header `authorization` is set by `McpClient::oauth`; do not pass it to `McpClient::http`".into());
            }
            headers.insert(name, value);
        }
        let config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(&self.url))
            .max_sse_event_size(options.message_limit)
            .custom_headers(headers);
        let client = HttpClient {
            client: client()?,
            exceeded,
            handler,
            #[cfg(feature = "oauth")]
            authorization: options.authorization.clone(),
        };
        Ok(StreamableHttpClientTransport::with_client(client, config))
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

/// An HTTP client whose errors do not contain the URL. `rmcp` returns these errors and also logs them.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: reqwest::Client,
    /// Set when a message is longer than allowed. `rmcp` only closes the stream.
    exceeded: Arc<AtomicBool>,
    handler: MessageHandler,
    #[cfg(feature = "oauth")]
    authorization: Option<Arc<Authorization>>,
}

type EventStream = BoxStream<'static, Result<Sse, SseError>>;

impl HttpClient {
    /// Sends a request, with a token of OAuth if there is one.
    async fn send<T, F>(
        &self,
        token: Option<String>,
        request: impl Fn(Option<String>) -> F,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>>,
    {
        #[cfg(feature = "oauth")]
        if let Some(authorization) = &self.authorization {
            return authorized(authorization, request)
                .await
                .map_err(without_url);
        }
        request(token).await.map_err(without_url)
    }

    /// Notices an event that is too long, and takes log messages: see [`LogReader`](super::log_reader::LogReader). Their events
    /// stay without data, because the stream continues after the id of its last event.
    fn watch(&self, events: EventStream) -> EventStream {
        let (exceeded, handler) = (Arc::clone(&self.exceeded), self.handler.clone());
        let watch = move |mut event: Result<Sse, SseError>| {
            if event.as_ref().is_err_and(is_too_long) {
                exceeded.store(true, Ordering::Relaxed);
            }
            if let Ok(event) = &mut event
                && matches!(event.event.as_deref(), None | Some("" | "message"))
            {
                event.data.take_if(|data| handler.take_log(data.as_bytes()));
            }
            event
        };
        events.map(watch).boxed()
    }

    fn watch_response(&self, response: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
        match response {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.watch(events), session)
            }
            response => response,
        }
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let post = |token| {
            let (uri, message) = (uri.clone(), message.clone());
            let (session, headers) = (session_id.clone(), headers.clone());
            self.client
                .post_message(uri, message, session, token, headers)
        };
        Ok(self.watch_response(self.send(token, post).await?))
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let post = |token| {
            let (uri, message) = (uri.clone(), message.clone());
            let (session, headers) = (session_id.clone(), headers.clone());
            self.client
                .post_message_with_max_sse_event_size(uri, message, session, token, headers, limit)
        };
        Ok(self.watch_response(self.send(token, post).await?))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let delete = |token| {
            let (uri, session, headers) = (uri.clone(), session_id.clone(), headers.clone());
            self.client.delete_session(uri, session, token, headers)
        };
        self.send(token, delete).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<EventStream, HttpError> {
        let get = |token| {
            let (uri, session, headers) = (uri.clone(), session_id.clone(), headers.clone());
            self.client
                .get_stream(uri, session, last_event_id.clone(), token, headers)
        };
        Ok(self.watch(self.send(token, get).await?))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<EventStream, HttpError> {
        let get = |token| {
            let (uri, session, headers) = (uri.clone(), session_id.clone(), headers.clone());
            let last = last_event_id.clone();
            self.client
                .get_stream_with_max_sse_event_size(uri, session, last, token, headers, limit)
        };
        Ok(self.watch(self.send(token, get).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_host_and_the_path_only() {
        for (url, name) in [
            ("https://example.com/mcp", "example.com/mcp"),
            ("https://example.com/", "example.com"),
            (
                "http://localhost:8000/mcp?api_key=secret",
                "localhost:8000/mcp",
            ),
            (
                "https://user:secret@example.com/a@b#secret",
                "example.com/a@b",
            ),
            ("https://secret@[::1]:9/mcp?a=b@secret", "[::1]:9/mcp"),
            ("localhost:8000/mcp?api_key=secret", "localhost:8000/mcp"),
            ("http://user:sec?ret@example.com/mcp", "an invalid address"),
            ("user:secret@example.com/mcp", "an invalid address"),
        ] {
            let (url, headers) = (Arc::from(url), Vec::new());
            assert_eq!(Address { url, headers }.name(), name);
        }
    }
}
