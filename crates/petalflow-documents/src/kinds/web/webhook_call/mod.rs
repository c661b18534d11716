//! A node that calls a webhook.

mod address;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::credentials::Credentials;
use super::header::is_token;
use crate::kinds::{Call, EnvelopeNode};
use crate::template::{MissingVariable, Template, Variables};
use crate::wire::{WireTrace, artifact_to_wire, message_to_wire};
use crate::{Changes, ConfigError, Envelope, NodeKind, Period};
use address::{PublicOnly, is_public_host};
use petalflow::{BoxError, async_trait};

/// The settings of a [`WebhookCallNode`].
///
/// ```
/// use petalflow_documents::kinds::WebhookCallConfig;
/// use serde_json::json;
///
/// let config: WebhookCallConfig = serde_json::from_value(json!({ "url": "https://example.com/hook" }))?;
/// assert_eq!(config.method, "POST");
/// assert!(!config.allow_private);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the settings of documents"
)]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookCallConfig {
    /// The address: `http` or `https`.
    pub url: String,
    /// The method. The default is `POST`.
    #[serde(default = "post")]
    pub method: String,
    /// Headers. They override `Content-Type: application/json`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The longest time of the call. The default is 30 seconds. Zero is the default too.
    #[serde(default)]
    pub timeout: Period,
    /// The largest body of the response, in bytes. The default is 10 MiB. Zero is the default too.
    #[serde(default)]
    pub max_response_bytes: usize,
    /// The variables in the body. An empty list means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_vars: Vec<String>,
    /// Whether the artifacts are in the body.
    #[serde(default)]
    pub include_artifacts: bool,
    /// Whether the messages are in the body.
    #[serde(default)]
    pub include_messages: bool,
    /// Whether the trace is in the body.
    #[serde(default)]
    pub include_trace: bool,
    /// A template for the body: `{{.name}}` or `{{.vars.name}}`, `{{.input}}`, `{{.vars | json}}`. Without it, the body
    /// is a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// How the template handles a missing variable.
    #[serde(default)]
    pub missing: MissingVariable,
    /// The variable for `{ "ok": .., "status_code": .., "headers": .., "body": .., "url": .., "method": .. }`. The address is
    /// there without credentials, and the headers without `Set-Cookie` and other credentials, because variables are stored and sent as
    /// events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_var: Option<String>,
    /// Whether addresses in private networks may be called, such as `localhost`. The default is false.
    #[serde(default)]
    pub allow_private: bool,
}

/// Neither the values of the headers nor credentials in the address are shown.
impl fmt::Debug for WebhookCallConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookCallConfig")
            .field("url", &Url::parse(&self.url).ok().map(redacted))
            .field("method", &self.method)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

fn post() -> String {
    "POST".into()
}

const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_RESPONSE: usize = 10 << 20;

/// A node that sends the envelope to a web server.
///
/// A response that is not a success, or is too large, is an error. Redirects are not followed. Addresses in private
/// networks are refused unless the settings allow them, so that a document cannot reach servers that only its host can
/// reach. This is checked for the addresses that a name has at the time of the call.
///
/// ```
/// use petalflow_documents::kinds::{WebhookCallConfig, WebhookCallNode};
///
/// let config: WebhookCallConfig = serde_json::from_str(r#"{ "url": "https://example.com/hook", "result_var": "sent" }"#)?;
/// let node = WebhookCallNode::new(config)?;
/// # let _ = node;
/// # Ok::<(), petalflow::BoxError>(())
/// ```
///
/// # Cancel safety
///
/// Dropping or cancelling the run closes the connection. The server may have received the request.
#[derive(Clone)]
pub struct WebhookCallNode {
    config: WebhookCallConfig,
    template: Option<Template>,
    url: Url,
    method: Method,
    headers: HeaderMap,
    client: Client,
}

impl fmt::Debug for WebhookCallNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebhookCallNode")
            .field(&self.config)
            .finish()
    }
}

impl WebhookCallNode {
    /// Creates a node. The method is changed to upper case.
    ///
    /// # Errors
    ///
    /// If the address, the method, a header or the template is wrong, or the address is that of a private network.
    pub fn new(mut config: WebhookCallConfig) -> Result<Self, ConfigError> {
        let text = config.url.trim();
        if text.is_empty() {
            return Err(ConfigError::new("url", "it is required"));
        }
        let url = Url::parse(text).map_err(|error| ConfigError::new("url", error))?;
        if !matches!(url.scheme(), "http" | "https") {
            let problem = format!("`{}` is not `http` or `https`", url.scheme());
            return Err(ConfigError::new("url", problem));
        }
        if !config.allow_private && !is_public_host(&url) {
            let problem = "it is in a private network: set `allow_private` to call it";
            return Err(ConfigError::new("url", problem));
        }
        config.method = config.method.trim().to_ascii_uppercase();
        let method = Some(&config.method).filter(|method| is_token(method));
        let method = method.and_then(|method| Method::from_bytes(method.as_bytes()).ok());
        let method = method.ok_or_else(|| {
            let problem = format!("`{}` is not an HTTP method", config.method);
            ConfigError::new("method", problem)
        })?;
        let template = config.template.as_deref();
        let template = template.map(Template::parse).transpose();
        let template = template.map_err(|problem| ConfigError::new("template", problem))?;
        let headers = headers(&config.headers)?;
        let client = client(&config).map_err(|error| ConfigError::new("url", error))?;
        Ok(WebhookCallNode {
            config,
            template,
            url,
            method,
            headers,
            client,
        })
    }

    fn body(&self, envelope: &Envelope) -> Result<String, BoxError> {
        let config = &self.config;
        let sent = |name: &String| config.input_vars.is_empty() || config.input_vars.contains(name);
        let vars = envelope.vars.iter().filter(|(name, _)| sent(name));
        let vars: Map<String, Value> = vars.map(|(a, b)| (a.clone(), b.clone())).collect();
        let mut body = Map::from_iter([("vars".to_owned(), Value::Object(vars))]);
        if config.include_artifacts {
            let artifacts = envelope.artifacts.iter().map(artifact_to_wire).collect();
            body.insert("artifacts".into(), Value::Array(artifacts));
        }
        if config.include_messages {
            let messages = envelope.messages.iter().map(message_to_wire).collect();
            body.insert("messages".into(), Value::Array(messages));
        }
        if config.include_trace {
            body.insert("trace".into(), json!(WireTrace::from(&envelope.trace)));
        }
        if let Some(input) = envelope.input.as_deref() {
            body.insert("input".into(), input.clone());
        }
        match &self.template {
            Some(template) => {
                // Those that `input_vars` chooses, as in `vars`.
                let empty = Map::new();
                let vars = body["vars"].as_object().unwrap_or(&empty);
                let mut values = Variables::new(vars);
                for name in ["vars", "artifacts", "messages", "trace", "input"] {
                    if let Some(value) = body.get(name) {
                        values = values.with(name, value);
                    }
                }
                template.render(&values, self.config.missing)
            }
            None => Ok(Value::Object(body).to_string()),
        }
    }

    async fn call(&self, body: String) -> Result<Value, BoxError> {
        let request = self
            .client
            .request(self.method.clone(), self.url.clone())
            .headers(self.headers.clone())
            .body(body);
        let mut response = request.send().await.map_err(describe)?;
        let limit = match self.config.max_response_bytes {
            0 => MAX_RESPONSE,
            limit => limit,
        };
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(describe)? {
            body.extend_from_slice(&chunk);
            if body.len() > limit {
                return Err(format!("the response is larger than {limit} bytes").into());
            }
        }
        let status = response.status();
        if status.is_redirection() {
            let status = status.as_u16();
            return Err(format!("the server answered with status {status}, a redirect, which is not followed: set `url` to the last address").into());
        }
        if !status.is_success() {
            return Err(format!("the server answered with status {}", status.as_u16()).into());
        }
        let mut headers = Map::new();
        for name in response.headers().keys() {
            let values = response.headers().get_all(name).iter();
            let values: Vec<_> = values
                .map(|it| String::from_utf8_lossy(it.as_bytes()))
                .collect();
            if let Some(value) = Credentials::USUAL.header(name.as_str(), &values.join(", ")) {
                headers.insert(name.to_string(), value.into());
            }
        }
        Ok(json!({
            "ok": true,
            "status_code": status.as_u16(),
            "headers": headers,
            "body": String::from_utf8_lossy(&body),
            "url": redacted(self.url.clone()),
            "method": self.config.method,
        }))
    }
}

#[async_trait]
impl EnvelopeNode for WebhookCallNode {
    fn kind(&self) -> NodeKind {
        NodeKind::WebhookCall
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let problem = |error| BoxError::from(format!("webhook call node `{}`: {error}", call.name));
        let body = self.body(call.envelope).map_err(problem)?;
        let result = self.call(body).await.map_err(problem)?;
        Ok(match &self.config.result_var {
            Some(variable) => Changes::new().var(variable, result),
            None => Changes::new(),
        })
    }
}

/// The address without credentials: user and password are left out, and the values of the query are `***`.
fn redacted(mut url: Url) -> String {
    // They fail for addresses without a host, which have no credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let names: Vec<String> = url
        .query_pairs()
        .map(|(name, _)| name.into_owned())
        .collect();
    if !names.is_empty() {
        let hidden = names.iter().map(|name| (name.as_str(), "***"));
        url.query_pairs_mut().clear().extend_pairs(hidden);
    }
    url.set_fragment(None);
    url.into()
}

fn headers(given: &BTreeMap<String, String>) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in given {
        let field = || format!("headers.{name}");
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| ConfigError::new(field(), "it is not a header's name"))?;
        let value = HeaderValue::from_str(value);
        let value =
            value.map_err(|_| ConfigError::new(field(), "a header cannot have this value"))?;
        headers.insert(header, value);
    }
    Ok(headers)
}

fn client(config: &WebhookCallConfig) -> Result<Client, BoxError> {
    let timeout = match config.timeout.0 {
        Duration::ZERO => TIMEOUT,
        timeout => timeout,
    };
    let mut client = Client::builder()
        .timeout(timeout)
        // A redirect could lead to a private network, and would send the headers to another host.
        .redirect(Policy::none())
        .no_proxy()
        .tls_backend_preconfigured(petalflow_llm::tls::client_config(&[])?);
    if !config.allow_private {
        client = client.dns_resolver(Arc::new(PublicOnly));
    }
    Ok(client.build()?)
}

/// The error with its causes, and without the address, which can contain a secret.
fn describe(error: reqwest::Error) -> BoxError {
    if error.is_timeout() {
        return "the call timed out: raise `timeout`".into();
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text.into()
}
