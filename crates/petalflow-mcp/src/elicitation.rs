//! Requests from servers during a call: elicitation, sampling and roots.

// Sampling and roots are deprecated in the protocol, but servers still use them.
#![allow(deprecated)]

use std::future::Future;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, InputRequest, InputRequests, InputResponses,
    ListRootsResult, Root, RootsCapabilities, UrlElicitationCapability,
};
use serde_json::Value;

use super::changes::ChangeHandler;
use super::logs::Logs;

use petalflow::BoxError;
use petalflow::error::{catch_panic, message_with_sources};
use petalflow::middleware::BoxFuture;

/// A request of an MCP server for input from the user of this program.
///
/// ```
/// use petalflow_mcp::{Elicited, McpClient};
/// use serde_json::json;
///
/// let server = McpClient::stdio("some-server", [] as [&str; 0]).elicit(|question| async move {
///     // Show `question.message`, and ask for what `question.schema` describes.
///     if question.schema.is_some() {
///         Elicited::Accept(json!({ "name": "Ada" }))
///     } else {
///         Elicited::Decline
///     }
/// });
/// # let _ = server;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The name of the server. Show it to the user.
    pub server: String,
    /// The question to show.
    pub message: String,
    /// The JSON Schema of the answer: an object of plain values. `None` if the user answers at `url`.
    pub schema: Option<Value>,
    /// The URL at which the user answers, if the server takes the answer there.
    pub url: Option<String>,
}

/// The result of an [`Elicitation`].
///
/// ```
/// use petalflow_mcp::Elicited;
/// use serde_json::json;
///
/// assert_ne!(Elicited::Accept(json!({ "name": "Ada" })), Elicited::Decline);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Elicited {
    /// The user answered. The value is an object that matches the schema. For a request with a `url` it is ignored.
    Accept(Value),
    /// The user refused to answer.
    Decline,
    /// The user closed the question without a decision.
    Cancel,
}

pub(super) type Elicit = dyn Fn(Elicitation) -> BoxFuture<'static, Elicited> + Send + Sync;

/// The handlers for requests from a server.
#[derive(Clone, Default)]
pub(super) struct RequestHandlers {
    pub(super) elicit: Option<Arc<Elicit>>,
    pub(super) model: Option<Arc<dyn petalflow_llm::LlmClient>>,
    /// The folders on which the server works.
    pub(super) roots: Option<Vec<(String, String)>>,
    pub(super) logs: Option<Logs>,
    pub(super) changes: Option<ChangeHandler>,
}

impl RequestHandlers {
    /// The client capabilities to announce.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::builder().enable_tasks().build();
        if self.elicit.is_some() {
            let elicitation = ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new());
            capabilities.elicitation = Some(elicitation);
        }
        if self.model.is_some() {
            capabilities.sampling = Some(rmcp::model::SamplingCapability::default());
        }
        if self.roots.is_some() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        capabilities
    }

    /// Answers a request for the folders.
    pub(super) fn list_roots(&self) -> Result<ListRootsResult, ErrorData> {
        let Some(roots) = &self.roots else {
            return Err(ErrorData::invalid_request("the client has no roots", None));
        };
        let roots = roots.iter();
        let roots = roots.map(|(uri, name)| Root::new(uri).with_name(name));
        Ok(ListRootsResult::new(roots.collect()))
    }

    /// Answers an elicitation request.
    pub(super) async fn elicit(
        &self,
        server: &str,
        question: ElicitRequestParams,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(ask) = &self.elicit else {
            let message = "the client has no handler for elicitation";
            return Err(ErrorData::invalid_request(message, None));
        };
        let question = elicitation(server, question)?;
        let has_form = question.schema.is_some();
        let elicited = catch_failures(async { Ok(ask(question).await) }).await?;
        Ok(match elicited {
            Elicited::Accept(content) if has_form => {
                if !content.is_object() {
                    let message = "the answer is not an object";
                    return Err(ErrorData::internal_error(message, None));
                }
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Elicited::Accept(_) => ElicitResult::new(ElicitationAction::Accept),
            Elicited::Decline => ElicitResult::new(ElicitationAction::Decline),
            Elicited::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    /// Answers a sampling request.
    pub(super) async fn sample(
        &self,
        params: rmcp::model::CreateMessageRequestParams,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        if let Some(model) = &self.model {
            let request = super::sampling::request(params)?;
            let answer = catch_failures(async { Ok(model.complete(&request).await?) }).await?;
            return Ok(super::sampling::result(&answer));
        }
        let message = "the client has no model for sampling";
        Err(ErrorData::invalid_request(message, None))
    }

    /// Answers all input requests of a result, by name.
    pub(super) async fn answer_all(
        &self,
        server: &str,
        requests: InputRequests,
    ) -> Result<InputResponses, ErrorData> {
        let mut responses = InputResponses::new();
        for (name, request) in requests {
            let response = match request {
                InputRequest::Elicitation(request) => {
                    serde_json::to_value(self.elicit(server, request.params).await?)
                }
                InputRequest::CreateMessage(request) => {
                    serde_json::to_value(self.sample(request.params).await?)
                }
                InputRequest::ListRoots(_) => serde_json::to_value(self.list_roots()?),
                _ => {
                    return Err(ErrorData::invalid_request(
                        "it asks for something else",
                        None,
                    ));
                }
            };
            let unwritten =
                |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
            responses.insert(name, response.map_err(unwritten)?);
        }
        Ok(responses)
    }
}

/// Turns a panic in a user's function into an error, because the server waits for an answer.
async fn catch_failures<T>(
    work: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, ErrorData> {
    let result = catch_panic(work).await;
    result
        .unwrap_or_else(|panicked| Err(panicked.into()))
        .map_err(|error| ErrorData::internal_error(message_with_sources(&*error), None))
}

fn elicitation(server: &str, question: ElicitRequestParams) -> Result<Elicitation, ErrorData> {
    let server = server.to_string();
    match question {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema)
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
            Ok(Elicitation {
                server,
                message,
                schema: Some(schema),
                url: None,
            })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => Ok(Elicitation {
            server,
            message,
            schema: None,
            url: Some(url),
        }),
        _ => Err(ErrorData::invalid_params(
            "a question of an unknown kind",
            None,
        )),
    }
}
