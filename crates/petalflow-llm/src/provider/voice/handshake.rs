//! The request that opens a WebSocket.
//!
//! It is a request of the model's HTTP client, so that the key, the certificates and the proxies are those of other requests.

use reqwest::header::{
    CONNECTION, CONTENT_TYPE, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::socket::Socket;
use crate::provider::connection::Connection;
use crate::provider::transport::{HttpRequest, Refused, Transport};
use crate::{LlmError, LlmErrorKind};

/// Opens a session of this model.
pub(super) async fn open(connection: &Connection) -> Result<Socket, LlmError> {
    // A connection, and the answer to a request.
    let limit = connection.limits.connect * 3;
    let opened = timeout(limit, opened(connection)).await;
    opened.unwrap_or_else(|_| {
        Err(connection.endpoint.errors(&connection.name, None).error(
            LlmErrorKind::Timeout,
            &format!("it did not open a voice session within {limit:?}"),
        ))
    })
}

/// Sends the request, and once more if the server refuses its token and there is a new one.
async fn opened(connection: &Connection) -> Result<Socket, LlmError> {
    let (name, endpoint) = (&connection.name, &connection.endpoint);
    let target = connection.target(None, true);
    let mut request = endpoint.request(name, &target, "realtime", &Value::Null)?;
    request.headers.remove(CONTENT_TYPE);
    request
        .url
        .query_pairs_mut()
        .append_pair("model", target.model);
    let client = connection.http_client()?;
    let mut may_renew = true;
    loop {
        let (access, request) = endpoint.authorized(name, &target, request.clone()).await?;
        let transport = Transport {
            client: client.clone(),
            limits: connection.limits,
            errors: endpoint.errors(name, Some(&access)),
        };
        match upgraded(&transport, request).await {
            Ok(socket) => return Ok(socket),
            Err(refused) if refused.is_unauthorized && may_renew && endpoint.renews(&access) => {
                may_renew = false;
            }
            Err(refused) => return Err(refused.error),
        }
    }
}

async fn upgraded(transport: &Transport, request: HttpRequest) -> Result<Socket, Refused> {
    let key = generate_key();
    let HttpRequest { url, headers, .. } = request;
    let sent = transport
        .client
        .get(url)
        .headers(headers)
        .header(CONNECTION, HeaderValue::from_static("Upgrade"))
        .header(UPGRADE, HeaderValue::from_static("websocket"))
        .header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))
        .header(SEC_WEBSOCKET_KEY, &key)
        .send()
        .await;
    let response = sent.map_err(|error| transport.errors.transport(&error))?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        if response.status().is_success() {
            let problem = "it answered a request for a WebSocket with a page; give the address of a server with voice sessions";
            return Err(transport.errors.malformed(problem).into());
        }
        return Err(transport.refused(response, None).await);
    }
    if !is_accepted(&response, &key) {
        let problem = "it accepted a WebSocket that was not asked for: the header `Sec-WebSocket-Accept` is wrong";
        return Err(transport.errors.malformed(problem).into());
    }
    let upgraded = response.upgrade().await;
    let upgraded = upgraded.map_err(|error| transport.errors.transport(&error))?;
    let errors = transport.errors.clone();
    Ok(Socket::new(upgraded, errors, transport.limits.size).await)
}

fn is_accepted(response: &Response, key: &str) -> bool {
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    accepted
        .is_some_and(|accepted| accepted.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes())
}
