//! What servers ask of us while they work: questions to people, and answers of a model.

// The protocol means to give up sampling; servers that sample are still there.
#![allow(deprecated)]

use std::future::Future;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, InputRequest, InputRequests, InputResponses,
    UrlElicitationCapability,
};
use serde_json::Value;

use super::McpClient;
use petalflow::BoxError;
use petalflow::error::{catch_panic, message_with_sources};
use petalflow::middleware::BoxFuture;

/// A question of an MCP server to the people who use this program ("elicitation", in the words of the protocol).
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
    /// The server that asks. Show it: people should know whom they answer.
    pub server: String,
    /// The question.
    pub message: String,
    /// The JSON Schema of the answer: an object of plain values. None where people answer elsewhere.
    pub schema: Option<Value>,
    /// The address at which people answer, where the server takes the answer there.
    pub url: Option<String>,
}

/// What became of an [`Elicitation`].
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
    /// The answer: an object that fits the schema. Where people answer elsewhere, that they went there; the value is left out.
    Accept(Value),
    /// Somebody was asked, and does not want to say.
    Decline,
    /// Nobody decided: the question was closed.
    Cancel,
}

type Elicit = dyn Fn(Elicitation) -> BoxFuture<'static, Elicited> + Send + Sync;

/// Who answers a server.
#[derive(Clone, Default)]
pub(super) struct Answers {
    elicit: Option<Arc<Elicit>>,
    model: Option<Arc<dyn petalflow_llm::LlmClient>>,
}

impl McpClient {
    /// Asks people what the server wants to know from them: the function shows a question, and returns what became of it.
    /// Without one the server is told that nobody can be asked.
    ///
    /// The call that waits for the answer counts as silent meanwhile: give people time with [`timeout`](Self::timeout).
    ///
    /// ```
    /// use petalflow_mcp::{Elicited, McpClient};
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).elicit(|question| async move {
    ///     eprintln!("{} asks: {}", question.server, question.message);
    ///     Elicited::Decline
    /// });
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn elicit<F>(self, ask: impl Fn(Elicitation) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Elicited> + Send + 'static,
    {
        let ask: Arc<Elicit> = Arc::new(move |question| Box::pin(ask(question)));
        self.with(|options| options.answers.elicit = Some(ask))
    }

    /// Lets the server ask this model ("sampling", in the words of the protocol), at the expense of whoever pays for it. Without
    /// one the server is told that there is none. It says how many tokens an answer may have; the model is this one, whatever it
    /// would prefer.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).sample(ScriptedModel::new(["In short: yes."]));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn sample(self, model: impl petalflow_llm::LlmClient) -> Self {
        self.with(|options| options.answers.model = Some(Arc::new(model)))
    }
}

impl Answers {
    /// What the server may ask for.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        if self.elicit.is_some() {
            let elicitation = ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new());
            capabilities.elicitation = Some(elicitation);
        }
        if self.model.is_some() {
            capabilities.sampling = Some(rmcp::model::SamplingCapability::default());
        }
        capabilities
    }

    /// Asks people.
    pub(super) async fn elicit(
        &self,
        server: &str,
        question: ElicitRequestParams,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(ask) = &self.elicit else {
            let message = "nobody can be asked: the client has no `elicit`";
            return Err(ErrorData::invalid_request(message, None));
        };
        let question = asked(server, question)?;
        let has_form = question.schema.is_some();
        let elicited = guarded(async { Ok(ask(question).await) }).await?;
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

    /// Asks the model.
    pub(super) async fn sample(
        &self,
        params: rmcp::model::CreateMessageRequestParams,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        if let Some(model) = &self.model {
            let request = super::sampling::request(params)?;
            let answer = guarded(async { Ok(model.complete(&request).await?) }).await?;
            return Ok(super::sampling::result(&answer));
        }
        let message = "no model can be asked: the client has no `sample`";
        Err(ErrorData::invalid_request(message, None))
    }

    /// Answers everything that a result asks for, by name.
    pub(super) async fn all(
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

/// A panic in a function of the user's must not leave the server waiting.
async fn guarded<T>(work: impl Future<Output = Result<T, BoxError>>) -> Result<T, ErrorData> {
    let result = catch_panic(work).await;
    result
        .unwrap_or_else(|panicked| Err(panicked.into()))
        .map_err(|error| ErrorData::internal_error(message_with_sources(&*error), None))
}

fn asked(server: &str, question: ElicitRequestParams) -> Result<Elicitation, ErrorData> {
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
