//! A node that sends one question to a model.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ask_model::{ask_model, model_of_node};
use crate::response::FinishReason;
use crate::{LlmClient, LlmRequest, LlmResponse};
use petalflow::node::Key;
use petalflow::tool::schema;
use petalflow::{BoxError, Context, node};

/// A node that sends the value of the key `Q` to a model, and writes the answer to the key `A`: as text
/// ([`new`](Self::new)), or as a type of yours ([`structured`](Self::structured)).
///
/// ```
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::nodes::{Model, Prompt};
/// use petalflow::prelude::*;
/// use petalflow::tool::schemars;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Serialize, Deserialize, schemars::JsonSchema)]
/// # #[schemars(crate = "petalflow::tool::schemars")]
/// struct Review {
///     stars: u8,
/// }
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
///     #[key(default)]
///     review: Option<Review>,
/// }
///
/// flow! {
///     WriteAndReview(Essay) {
///         write -> review;
///         node write: Prompt<EssayTopic, EssayDraft> = Prompt::new("Write one sentence about this topic.");
///         node review: Prompt<EssayDraft, EssayReview> = Prompt::structured("Review this draft.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::new(["Petals are leaves.", r#"{ "stars": 4 }"#]);
/// let essay = WriteAndReview::new().manage(Model::new(model)).run("petals".to_string()).await?;
/// assert_eq!(essay.draft, "Petals are leaves.");
/// assert_eq!(essay.review.unwrap().stars, 4);
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// If the run is dropped or cancelled, the call is cancelled and its connection is closed.
pub struct Prompt<Q, A: Key> {
    client: Option<Arc<dyn LlmClient>>,
    request: LlmRequest,
    read: Read<A>,
    question: std::marker::PhantomData<fn() -> Q>,
}

impl<Q, A: Key> Clone for Prompt<Q, A> {
    fn clone(&self) -> Self {
        Prompt {
            client: self.client.clone(),
            request: self.request.clone(),
            read: self.read,
            question: std::marker::PhantomData,
        }
    }
}

impl<Q, A: Key> fmt::Debug for Prompt<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl<Q, A: Key<Value = String>> Prompt<Q, A> {
    /// A node that requests text. Empty instructions are omitted.
    pub fn new(instructions: impl Into<String>) -> Self {
        Self::reading(instructions.into(), |response, _| Ok(response.text()))
    }
}

impl<Q, A: Key<Value: JsonSchema + DeserializeOwned>> Prompt<Q, A> {
    /// A node that requests a value that conforms to the type's JSON Schema. Empty instructions are omitted.
    ///
    /// Any other answer is an error of the node, and so is a refusal. The node's `retry` may run it again.
    pub fn structured(instructions: impl Into<String>) -> Self {
        let mut prompt = Self::reading(instructions.into(), |response, schema| {
            let misfit = |problem: &dyn fmt::Display| {
                format!(
                    "the model's answer does not fit the key `{}`: {problem}",
                    A::NAME
                )
            };
            let text = response.text();
            if response.finish == Some(FinishReason::Refusal) {
                let reason = response.finish_message.as_ref().unwrap_or(&text);
                let refused = format!("the model refused to give the key `{}`: {reason}", A::NAME);
                return Err(refused.into());
            }
            let json: Value = match &response.json {
                Some(json) => json.clone(),
                None => serde_json::from_str(&text).map_err(|error| misfit(&error))?,
            };
            let mistakes = schema
                .map(|schema| schema::check(schema, &json))
                .unwrap_or_default();
            let read = match A::Value::deserialize(json) {
                Ok(read) => read,
                // serde stops at the first mistake.
                Err(_) if mistakes.len() > 1 => return Err(misfit(&mistakes).into()),
                Err(error) => return Err(misfit(&error).into()),
            };
            let beyond = mistakes.limits();
            if beyond.is_empty() {
                Ok(read)
            } else {
                Err(misfit(&beyond).into())
            }
        });
        let schema = schema::of::<A::Value>();
        prompt.request.json_schema = Some(Arc::new(schema));
        prompt
    }
}

impl<Q, A: Key> Prompt<Q, A> {
    fn reading(instructions: String, read: Read<A>) -> Self {
        Prompt {
            client: None,
            request: LlmRequest {
                system: (!instructions.is_empty()).then_some(instructions),
                ..LlmRequest::default()
            },
            read,
            question: std::marker::PhantomData,
        }
    }

    /// Sets the model. It replaces the run's model.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_llm::nodes::Prompt;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// let write: Prompt<EssayTopic, EssayDraft> = Prompt::new("Write.").model(ScriptedModel::new(["Petals .."]));
    /// # let _ = write;
    /// ```
    #[must_use]
    pub fn model(mut self, client: impl LlmClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Changes the request: temperature, maximum tokens, model. The question replaces the request's `input_text`.
    ///
    /// ```
    /// use petalflow_llm::nodes::Prompt;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// let write: Prompt<EssayTopic, EssayDraft> = Prompt::new("Write.").request(|request| request.max_tokens = Some(64));
    /// # let _ = write;
    /// ```
    #[must_use]
    pub fn request(mut self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        edit(&mut self.request);
        self
    }
}

#[node(A::State)]
#[diagnostic::do_not_recommend]
impl<Q, A> Prompt<Q, A>
where
    Q: Key<State = A::State, Value = String>,
    A: Key,
{
    async fn run(&self, #[key(Q)] question: &str, cx: Context) -> petalflow::Result<A> {
        let client = model_of_node(self.client.as_ref(), &cx)?;
        let request = LlmRequest {
            input_text: Some(question.to_string()),
            ..self.request.clone()
        };
        let response = ask_model(&*client, &request, &cx, cx.attempt()).await?;
        Ok(A::new((self.read)(
            &response,
            self.request.json_schema.as_deref(),
        )?))
    }
}

/// Reads the value of a key from a response, which should fit the schema.
type Read<A> = fn(&LlmResponse, Option<&Value>) -> Result<<A as Key>::Value, BoxError>;
