//! The requests to authorization servers.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::AUTHORIZATION;
use hyper::{Request, Response};
use reqwest::Url;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use serde_json::{Map, Value};

use petalflow::BoxError;

/// The longest answer of an authorization server, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long an authorization server may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The HTTP client for authorization servers. Its answers repeat no secret of a request.
pub(super) struct AuthorizationHttp {
    following: reqwest::Client,
    stopping: reqwest::Client,
}

impl AuthorizationHttp {
    pub(super) fn new() -> Result<Self, BoxError> {
        let client = |redirect| -> Result<_, BoxError> {
            let client = reqwest::Client::builder()
                .redirect(redirect)
                .timeout(TIMEOUT)
                // Connections belong to the runtime that opened them.
                .pool_max_idle_per_host(0)
                .tls_backend_preconfigured(petalflow_llm::tls::client_config(&[])?);
            Ok(client.build()?)
        };
        Ok(AuthorizationHttp {
            following: client(reqwest::redirect::Policy::limited(5))?,
            stopping: client(reqwest::redirect::Policy::none())?,
        })
    }

    async fn send(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<Response<Vec<u8>>, OAuthHttpClientError> {
        let client = match request.redirect_policy {
            OAuthHttpRedirectPolicy::Follow => &self.following,
            _ => &self.stopping,
        };
        let secrets = secrets_of(&request.request);
        let request = reqwest::Request::try_from(request.request)?;
        // The address of an error can have secrets.
        let sent = client.execute(request).await;
        let mut answer = sent.map_err(reqwest::Error::without_url)?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(format!("its answer is longer than {MAX_ANSWER} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        let body = if answer.status().is_success() {
            only_tokens(body)
        } else {
            without(body, &secrets)
        };
        let mut response = Response::new(body);
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }
}

impl OAuthHttpClient for AuthorizationHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request))
    }
}

/// The secrets of a request: those of a form, and those of its header.
fn secrets_of(request: &Request<Vec<u8>>) -> Vec<String> {
    let mut secrets: Vec<String> = form(&String::from_utf8_lossy(request.body()))
        .into_iter()
        .filter(|(name, _)| {
            matches!(
                &**name,
                "code" | "code_verifier" | "refresh_token" | "client_secret"
            )
        })
        .map(|(_, value)| value)
        .collect();
    let header = request.headers().get(AUTHORIZATION);
    let header = header.and_then(|value| value.to_str().ok()?.split_once(' '));
    if let Some((_, encoded)) = header {
        secrets.push(encoded.into());
        let decoded = STANDARD.decode(encoded).unwrap_or_default();
        if let Some((_, secret)) = String::from_utf8_lossy(&decoded).split_once(':') {
            secrets.push(secret.into());
            // The parts are encoded as in a form.
            secrets.extend(form(&format!("secret={secret}")).into_iter().map(|it| it.1));
        }
    }
    secrets.retain(|secret| !secret.is_empty());
    secrets
}

fn form(text: &str) -> Vec<(String, String)> {
    let url = Url::parse(&format!("http://form/?{text}"));
    url.map_or_else(
        |_| Vec::new(),
        |url| url.query_pairs().into_owned().collect(),
    )
}

/// An answer without these secrets, which errors would repeat.
fn without(body: Vec<u8>, secrets: &[String]) -> Vec<u8> {
    let Ok(mut text) = String::from_utf8(body) else {
        return Vec::new();
    };
    for secret in secrets {
        text = text.replace(secret, "(hidden)");
    }
    text.into_bytes()
}

/// An answer with tokens, without further fields, which `rmcp` would log and keep.
fn only_tokens(body: Vec<u8>) -> Vec<u8> {
    let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(&body) else {
        return body;
    };
    if !fields.contains_key("access_token") {
        return body;
    }
    fields.retain(|name, _| {
        matches!(
            &**name,
            "access_token" | "token_type" | "expires_in" | "refresh_token" | "scope"
        )
    });
    Value::Object(fields).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_a_request_are_those_of_the_form_and_of_the_header() {
        let mut request = Request::new(b"grant_type=x&refresh_token=a%2Bb&client_id=c".to_vec());
        // `me:p+q%26`, as OAuth encodes it.
        let header = STANDARD.encode("me:p%2Bq");
        let value = format!("Basic {header}").parse().unwrap();
        request.headers_mut().insert(AUTHORIZATION, value);
        let secrets = secrets_of(&request);
        assert_eq!(secrets, ["a+b", &header, "p%2Bq", "p+q"]);
        let text = b"a+b is not p+q".to_vec();
        assert_eq!(without(text, &secrets), b"(hidden) is not (hidden)");
    }

    #[test]
    fn an_answer_with_tokens_has_nothing_else() {
        let body = |text: &str| String::from_utf8(only_tokens(text.into())).unwrap();
        assert_eq!(
            body(r#"{"access_token":"a","id_token":"b","expires_in":5}"#),
            r#"{"access_token":"a","expires_in":5}"#
        );
        let metadata = r#"{"issuer":"a","token_endpoint":"b"}"#;
        assert_eq!(body(metadata), metadata);
        assert_eq!(body("no JSON"), "no JSON");
    }
}
