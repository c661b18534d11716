//! Requests to a server of petalflow.

use std::fmt::Display;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;

use super::events::ServerEvents;
use crate::exit::{Exit, Failure, Result};

/// The header of servers that `petalflow serve` starts.
const TOKEN_HEADER: &str = "x-petalflow-token";

/// How long a connection may take. A response may take as long as the run that it waits for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server of petalflow.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    client: Client,
    base: Url,
    /// The token, in each header in which servers expect it.
    headers: HeaderMap,
}

/// The query of an address.
pub(super) type Query<'q> = &'q [(&'static str, String)];

impl Server {
    /// The server at an address.
    pub(crate) fn new(address: &str, token: Option<&str>) -> Result<Self> {
        let wrong = |error: &dyn Display| {
            let text = format_args!("`{address}` is no address of a server: {error}");
            Failure::new(Exit::Usage, text).hint("write it as `http://127.0.0.1:8080`")
        };
        let base: Url = address.parse().map_err(|error| wrong(&error))?;
        if !["http", "https"].contains(&base.scheme()) || base.cannot_be_a_base() {
            return Err(wrong(&"it does not begin with `http://` or `https://`"));
        }
        let failed = |error: &dyn Display| Failure::new(Exit::Failed, error);
        let tls = petalflow_llm::tls::client_config(&[]).map_err(|error| failed(&error))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Server {
            client,
            base,
            headers: token.map_or_else(|| Ok(HeaderMap::new()), token_headers)?,
        })
    }

    /// Reads an address: the segments of its path, and its query.
    pub(crate) async fn get(&self, path: &[&str], query: Query<'_>) -> Result<Value> {
        let mut address = self.address(path);
        if !query.is_empty() {
            address.query_pairs_mut().extend_pairs(query);
        }
        self.json(self.request(Method::GET, address)).await
    }

    /// Sends a command with a body.
    pub(crate) async fn send(&self, method: Method, path: &[&str], body: &Value) -> Result<Value> {
        let request = self.request(method, self.address(path));
        let request = match body {
            Value::Null => request,
            body => request
                .header("content-type", "application/json")
                .body(body.to_string()),
        };
        self.json(request).await
    }

    /// The events of a thread after a number, and those that follow.
    pub(crate) async fn events(&self, thread: &str, number: u64) -> Result<ServerEvents> {
        let address = self.address(&["threads", thread, "events"]);
        let request = self
            .request(Method::GET, address)
            .header(ACCEPT, "text/event-stream");
        let request = if number > 0 {
            request.header("last-event-id", number)
        } else {
            request
        };
        let response = accepted(self.respond(request).await?).await?;
        Ok(ServerEvents::new(response))
    }

    fn address(&self, path: &[&str]) -> Url {
        let mut address = self.base.clone();
        if let Ok(mut segments) = address.path_segments_mut() {
            // Segments are encoded: ids of threads may have any characters.
            segments.pop_if_empty().extend(path);
        }
        address
    }

    fn request(&self, method: Method, address: Url) -> RequestBuilder {
        let request = self.client.request(method, address);
        request.headers(self.headers.clone())
    }

    async fn respond(&self, request: RequestBuilder) -> Result<Response> {
        request.send().await.map_err(|error| {
            let (base, error) = (&self.base, plain(error));
            let text = format_args!("the server `{base}` cannot be reached: {error}");
            Failure::new(Exit::Thread, text)
        })
    }

    async fn json(&self, request: RequestBuilder) -> Result<Value> {
        let response = accepted(self.respond(request).await?).await?;
        let text = response.text().await.map_err(|error| {
            let text = format_args!("the response of the server was lost: {}", plain(error));
            Failure::new(Exit::Thread, text)
        })?;
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|_| no_server(&self.base))
    }
}

/// The token as servers expect it: in the header of `petalflow serve`, or as a bearer token.
fn token_headers(token: &str) -> Result<HeaderMap> {
    let value = |text: String| {
        let mut value = HeaderValue::try_from(text).map_err(|_| {
            Failure::new(
                Exit::Usage,
                "the token has characters that no header can have",
            )
        })?;
        value.set_sensitive(true);
        Ok(value)
    };
    let mut headers = HeaderMap::new();
    headers.insert(TOKEN_HEADER, value(token.into())?);
    headers.insert(AUTHORIZATION, value(format!("Bearer {token}"))?);
    Ok(headers)
}

/// The response, or why the server refuses the request.
async fn accepted(response: Response) -> Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let address = response.url().clone();
    let body = response.text().await.unwrap_or_default();
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    let Some(error) = body["error"].as_str() else {
        return Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => needs_token(status),
            _ => no_server(&address),
        });
    };
    Err(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => needs_token(status),
        _ => Failure::new(Exit::Thread, error),
    })
}

fn needs_token(status: StatusCode) -> Failure {
    let text = format_args!(
        "the server refuses the token, with status {}",
        status.as_u16()
    );
    Failure::new(Exit::Thread, text)
        .hint("set the variable `PETALFLOW_TOKEN` to the token of the server")
}

fn no_server(address: &Url) -> Failure {
    let text = format_args!("`{address}` is not answered by a server of petalflow");
    Failure::new(Exit::Thread, text)
        .hint("name the address that has `/threads`, such as `http://127.0.0.1:8080`")
}

/// An error of the connection, without the address, which is named already, and with its cause.
fn plain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
