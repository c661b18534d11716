//! The start of a flow by an HTTP request. The server is the crate `petalflow-server`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::credentials::Credentials;
use super::header::{is_token, value};
use super::{Refusal, TriggerAuth};
use crate::clock::now_ms;
use crate::kinds::{Call, EnvelopeNode};
use crate::wire::rfc3339;
use crate::{Changes, ConfigError, Envelope, NodeKind, Period};
use petalflow::{BoxError, async_trait};

/// The variable in which a server gives a request to the node.
const REQUEST: &str = "__webhook_request";

/// The settings of a [`WebhookTriggerNode`].
///
/// ```
/// use petalflow_documents::kinds::WebhookTriggerConfig;
/// use serde_json::json;
///
/// let config: WebhookTriggerConfig = serde_json::from_value(json!({
///     "methods": ["POST", "PUT"], "max_body_bytes": 4096,
/// }))?;
/// assert_eq!(config.body_var, "webhook_body");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebhookTriggerConfig {
    /// The methods that are allowed. The default is `POST`.
    pub methods: Vec<String>,
    /// How a request proves that it is allowed.
    pub auth: TriggerAuth,
    /// The variable for the request.
    pub request_var: String,
    /// The variable for the body.
    pub body_var: String,
    /// The variable for the headers.
    pub headers_var: String,
    /// The variable for the query.
    pub query_var: String,
    /// The variable for the method, the path, the address and the time.
    pub metadata_var: String,
    /// How long a run may take. Zero means without end. It is information for the server.
    pub timeout: Period,
    /// The largest body, in bytes. The default is 1 MiB.
    pub max_body_bytes: usize,
    /// Further headers and query parameters that have credentials, which are not stored. `*` stands for any text.
    pub credentials: Vec<String>,
    /// Headers and query parameters that are stored although their names look like those of credentials.
    pub no_credentials: Vec<String>,
}

impl Default for WebhookTriggerConfig {
    fn default() -> Self {
        WebhookTriggerConfig {
            methods: vec!["POST".into()],
            auth: TriggerAuth::None,
            request_var: "webhook_request".into(),
            body_var: "webhook_body".into(),
            headers_var: "webhook_headers".into(),
            query_var: "webhook_query".into(),
            metadata_var: "webhook_meta".into(),
            timeout: Period::default(),
            max_body_bytes: 1 << 20,
            credentials: Vec::new(),
            no_credentials: Vec::new(),
        }
    }
}

/// An HTTP request, as a server received it.
///
/// ```
/// use petalflow_documents::kinds::WebhookRequest;
///
/// let request = WebhookRequest { method: "POST".into(), body: b"{}".to_vec(), ..WebhookRequest::default() };
/// assert_eq!(request.body, b"{}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookRequest {
    /// The method.
    pub method: String,
    /// The path of the URL.
    pub path: String,
    /// The headers. Their names are compared without case.
    pub headers: BTreeMap<String, String>,
    /// The query of the URL.
    pub query: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
    /// The address of the client.
    pub remote_addr: String,
    /// The workflow that is started.
    pub workflow_id: String,
    /// The trigger that is called.
    pub trigger_id: String,
}

/// A node that begins a flow which an HTTP request starts. [`admit`](Self::admit) checks a request and makes the input of the
/// run. The node sets variables to the parts of the request.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: WebhookTriggerConfig = serde_json::from_value(json!({
///     "auth": { "type": "header_token", "header": "X-Token", "token": "secret" },
/// }))?;
/// let trigger = WebhookTriggerNode::new(config)?;
/// let flow = Graph::<Envelope>::builder("hook").node_as("incoming", trigger.clone()).build()?;
///
/// let mut request = WebhookRequest {
///     method: "POST".into(),
///     body: br#"{ "event": "opened" }"#.to_vec(),
///     ..WebhookRequest::default()
/// };
/// request.headers.insert("content-type".into(), "application/json".into());
/// assert_eq!(trigger.admit(&request).unwrap_err().status(), 401);
///
/// request.headers.insert("x-token".into(), "secret".into());
/// let envelope = flow.run(trigger.admit(&request)?).await?;
/// assert_eq!(envelope.get_var_nested("webhook_body.event"), Some(&json!("opened")));
/// # Ok(())
/// # }
/// ```
///
/// Credentials are not in the variables: headers and query parameters whose names say that they have one, such as `X-Api-Key` and
/// `token`. [`credentials`](WebhookTriggerConfig::credentials) adds names.
#[derive(Clone, Debug)]
pub struct WebhookTriggerNode {
    config: WebhookTriggerConfig,
}

impl WebhookTriggerNode {
    /// Creates a node. Methods are changed to upper case.
    ///
    /// # Errors
    ///
    /// If there is no method, a method is not an HTTP token, the token or secret is empty, or a variable or
    /// a name of credentials is empty.
    pub fn new(mut config: WebhookTriggerConfig) -> Result<Self, ConfigError> {
        if config.methods.is_empty() {
            return Err(ConfigError::new("methods", "at least one is required"));
        }
        for (index, method) in config.methods.iter_mut().enumerate() {
            *method = method.trim().to_ascii_uppercase();
            if !is_token(method) {
                let problem = format!("`{method}` is not an HTTP method");
                return Err(ConfigError::new(format!("methods[{index}]"), problem));
            }
        }
        config.auth.check_settings()?;
        for (field, name) in [
            ("request_var", &config.request_var),
            ("body_var", &config.body_var),
            ("headers_var", &config.headers_var),
            ("query_var", &config.query_var),
            ("metadata_var", &config.metadata_var),
        ] {
            if name.is_empty() {
                return Err(ConfigError::new(field, "it is empty"));
            }
        }
        for (field, names) in [
            ("credentials", &config.credentials),
            ("no_credentials", &config.no_credentials),
        ] {
            if let Some(index) = names.iter().position(|name| name.trim().is_empty()) {
                return Err(ConfigError::new(format!("{field}[{index}]"), "it is empty"));
            }
        }
        Ok(WebhookTriggerNode { config })
    }

    /// The settings.
    pub fn config(&self) -> &WebhookTriggerConfig {
        &self.config
    }

    /// Checks the method and the token of a request, or that it has a signature. A server calls it before it reads the body,
    /// whose signature [`admit`](Self::admit) checks.
    ///
    /// ```
    /// use petalflow_documents::kinds::{WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode};
    ///
    /// let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// let request = WebhookRequest { method: "GET".into(), ..WebhookRequest::default() };
    /// assert_eq!(trigger.authorize(&request).unwrap_err().status(), 405);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the request is refused.
    pub fn authorize(&self, request: &WebhookRequest) -> Result<(), Refusal> {
        let method = request.method.to_ascii_uppercase();
        if !self.config.methods.contains(&method) {
            let allowed = self.config.methods.join(", ");
            return Err(Refusal::Method { method, allowed });
        }
        self.config.auth.check(&request.headers)
    }

    /// Checks a request, and returns the input of the run that it starts. The body is JSON if its content type is JSON,
    /// otherwise a text. Credentials are left out: the token or signature of the trigger, headers and query parameters whose names
    /// say that they have one, values such as `Bearer …`, and such parameters in the addresses of `Referer` and other headers.
    ///
    /// # Errors
    ///
    /// If the request is refused.
    pub fn admit(&self, request: &WebhookRequest) -> Result<Envelope, Refusal> {
        self.authorize(request)?;
        let limit = self.config.max_body_bytes;
        if request.body.len() > limit {
            return Err(Refusal::TooLarge { limit });
        }
        let auth = &self.config.auth;
        auth.check_body(&request.headers, &request.body)?;
        let credentials = Credentials {
            added: &self.config.credentials,
            removed: &self.config.no_credentials,
        };
        let mut headers = Map::new();
        for (name, value) in &request.headers {
            let name = name.to_ascii_lowercase();
            if !auth.is_secret(&name)
                && let Some(value) = credentials.header(&name, value)
            {
                headers.insert(name, value.into());
            }
        }
        let query = request.query.iter();
        let query = query.filter(|(name, _)| !credentials.has(name));
        let query: BTreeMap<&String, &String> = query.collect();
        let value = json!({
            "method": request.method.to_ascii_uppercase(),
            "path": request.path,
            "headers": headers,
            "query": query,
            "body": body(request)?,
            "remote_addr": request.remote_addr,
            "received_at": rfc3339(now_ms()),
            "workflow_id": request.workflow_id,
            "trigger_id": request.trigger_id,
        });
        Ok(Envelope::new().with_var(REQUEST, value))
    }
}

fn body(request: &WebhookRequest) -> Result<Value, Refusal> {
    let kind = value(&request.headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind.eq_ignore_ascii_case("application/json")
        || kind.to_ascii_lowercase().ends_with("+json");
    if is_json && !request.body.is_empty() {
        let value = serde_json::from_slice(&request.body);
        return value.map_err(|error| Refusal::Body(error.to_string()));
    }
    Ok(String::from_utf8_lossy(&request.body).into())
}

#[async_trait]
impl EnvelopeNode for WebhookTriggerNode {
    fn kind(&self) -> NodeKind {
        NodeKind::WebhookTrigger
    }

    fn trigger(&self) -> Option<&WebhookTriggerNode> {
        Some(self)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let problem = |what| format!("webhook trigger node `{}`: {what}", call.name);
        let request = call.envelope.get_var(REQUEST).ok_or_else(|| {
            problem("there is no variable `__webhook_request`: begin the run with the envelope of `admit`")
        })?;
        let request = request.as_object();
        let request =
            request.ok_or_else(|| problem("variable `__webhook_request` is not an object"))?;
        let config = &self.config;
        let mut changes = Changes::new().var(&config.request_var, request.clone());
        for (part, variable) in [
            ("body", &config.body_var),
            ("headers", &config.headers_var),
            ("query", &config.query_var),
        ] {
            if let Some(value) = request.get(part) {
                changes = changes.var(variable, value.clone());
            }
        }
        let known = [
            "workflow_id",
            "trigger_id",
            "method",
            "path",
            "remote_addr",
            "received_at",
        ];
        let meta = request
            .iter()
            .filter(|(name, _)| known.contains(&name.as_str()));
        let meta: Map<String, Value> = meta.map(|(a, b)| (a.clone(), b.clone())).collect();
        Ok(changes.var(&config.metadata_var, meta))
    }
}
