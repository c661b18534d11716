//! A model's answer as a variable.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::template::{Missing, render};
use super::tries::{Failed, Trouble, tries};
use crate::{Changes, Envelope, RetryPolicy};
use petalflow::{BoxError, Context, node};
use petalflow_llm::nodes::{ask_model, model_of_node};
use petalflow_llm::{Budget, ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse};

/// Asks a model, and sets a variable to the answer.
///
/// The prompt is a template (Jinja: `{{ name }}` is a variable, `{{ input }}` what the flow was given), or else some variables
/// with a line for each. Beside the answer stands what it took, in `<output>_usage`.
///
/// ```
/// use petalflow_envelope::Envelope;
/// use petalflow_llm::ScriptedModel;
/// use petalflow_envelope::LlmNode;
/// use petalflow_llm::nodes::Model;
/// use petalflow::prelude::*;
///
/// flow! {
///     Describe(Envelope) {
///         describe;
///         node describe: LlmNode = LlmNode::new().template("Describe {{ what }} in one sentence.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = Model::new(ScriptedModel::new(["It is red."]));
/// let envelope = Describe::new().manage(model).run(Envelope::new().with_var("what", "a rose")).await?;
/// assert_eq!(envelope.get_var_string("describe_output"), "It is red.");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// When the run is dropped or cancelled, the call is, with its connection.
#[derive(Clone)]
pub struct LlmNode {
    client: Option<Arc<dyn LlmClient>>,
    request: LlmRequest,
    template: Option<String>,
    missing: Missing,
    input_vars: Vec<String>,
    output: Option<String>,
    retry: RetryPolicy,
    timeout: Duration,
    budget: Budget,
    record_messages: bool,
}

impl fmt::Debug for LlmNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmNode")
            .field("template", &self.template)
            .field("input_vars", &self.input_vars)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}

impl Default for LlmNode {
    fn default() -> Self {
        Self::new()
    }
}

impl LlmNode {
    /// A node that asks the run's model, tries three times, and takes a minute at most.
    pub fn new() -> Self {
        LlmNode {
            client: None,
            request: LlmRequest::default(),
            template: None,
            missing: Missing::default(),
            input_vars: Vec::new(),
            output: None,
            retry: RetryPolicy::default(),
            timeout: Duration::from_mins(1),
            budget: Budget::UNLIMITED,
            record_messages: false,
        }
    }

    /// Asks this model rather than the run's.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// let node = LlmNode::new().model(ScriptedModel::new(["It is red."]));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn model(mut self, client: impl LlmClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// What the model is told to be.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().system("You answer in one word.");
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.request.system = Some(text.into());
        self
    }

    /// The prompt.
    #[must_use]
    pub fn template(mut self, text: impl Into<String>) -> Self {
        self.template = Some(text.into());
        self
    }

    /// What stands in the prompt for a variable that is missing; an error unless said otherwise.
    ///
    /// ```
    /// use petalflow_envelope::{LlmNode, Missing};
    ///
    /// let node = LlmNode::new().template("Describe {{ what }}.").missing(Missing::Empty);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// The variables that the prompt is made of if there is no template: a line for each that is there.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().input_vars(["title", "text"]);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn input_vars<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.input_vars = names.into_iter().map(Into::into).collect();
        self
    }

    /// The variable that gets the answer; `<node>_output` unless said otherwise.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().output("summary");
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn output(mut self, name: impl Into<String>) -> Self {
        self.output = Some(name.into());
        self
    }

    /// How often it tries when the provider cannot be reached, is busy or fails.
    ///
    /// ```
    /// use petalflow_envelope::RetryPolicy;
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().retry(RetryPolicy::default());
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The longest that all tries may take together; zero is no limit.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    /// use std::time::Duration;
    ///
    /// let node = LlmNode::new().timeout(Duration::from_secs(20));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How much the answer may take. What took more is an error, and nothing is written.
    ///
    /// ```
    /// use petalflow_llm::Budget;
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().budget(Budget { cost: 0.05, ..Budget::UNLIMITED });
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Adds prompt and answer to the envelope's messages, under the node's name.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().template("{{ question }}").record_messages();
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn record_messages(mut self) -> Self {
        self.record_messages = true;
        self
    }

    /// The answer must be a JSON object that conforms to this schema, and becomes the variable as such.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    /// use serde_json::json;
    ///
    /// let node = LlmNode::new().json_schema(json!({ "type": "object", "required": ["title"] }));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn json_schema(mut self, schema: impl Into<Value>) -> Self {
        self.request.json_schema = Some(Arc::new(schema.into()));
        self
    }

    /// Changes what is asked: temperature, the most tokens, which model. The prompt takes the place of its `input_text`.
    ///
    /// ```
    /// use petalflow_envelope::LlmNode;
    ///
    /// let node = LlmNode::new().request(|request| request.temperature = Some(0.0));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn request(mut self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        edit(&mut self.request);
        self
    }

    fn prompt(&self, envelope: &Envelope) -> Result<String, BoxError> {
        if let Some(template) = &self.template {
            return render(template, self.missing, envelope);
        }
        let values = self
            .input_vars
            .iter()
            .filter_map(|name| envelope.get_var(name));
        let lines: Vec<String> = values.map(text_or_json).collect();
        Ok(lines.join("\n"))
    }

    /// What becomes the variable.
    fn value(&self, response: &LlmResponse) -> Result<Value, BoxError> {
        match &self.request.json_schema {
            None => Ok(Value::from(response.text())),
            Some(schema) => conforming(schema, response),
        }
    }
}

#[node(Envelope)]
impl LlmNode {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<Changes> {
        let client = model_of_node(self.client.as_ref(), &cx)?;
        let prompt = self.prompt(envelope)?;
        let request = LlmRequest {
            input_text: Some(prompt.clone()),
            ..self.request.clone()
        };
        let answered = tries(self.retry, self.timeout, |attempt| {
            ask_model(&*client, &request, &cx, attempt)
        })
        .await;
        let response = answered.map_err(|failed| self.explain(failed))?;
        self.budget.check(&response.usage)?;
        let value = self.value(&response)?;
        let output = self
            .output
            .clone()
            .unwrap_or_else(|| format!("{}_output", cx.node()));
        let mut changes = Changes::new()
            .var(format!("{output}_usage"), json!(response.usage))
            .var(output, value);
        if self.record_messages {
            for message in recorded(prompt, &response, cx.node()) {
                changes = changes.message(message);
            }
        }
        Ok(changes)
    }
}

impl LlmNode {
    fn explain(&self, failed: Failed<LlmError>) -> BoxError {
        match failed {
            Failed::Late => format!(
                "LLM call timed out after {:?}: raise `timeout`, or ask for less",
                self.timeout
            )
            .into(),
            Failed::Error(error, tries) => Box::new(CallFailed { tries, error }),
        }
    }
}

/// A model did not answer, however often it was asked.
#[derive(Debug, thiserror::Error)]
#[error("LLM call failed after {tries} attempts: {error}")]
struct CallFailed {
    tries: u32,
    #[source]
    error: LlmError,
}

impl Trouble for LlmError {
    fn may_pass(&self) -> bool {
        self.is_transient()
    }

    fn wait(&self) -> Option<Duration> {
        self.retry_after()
    }
}

/// The prompt and the answer as messages.
fn recorded(prompt: String, response: &LlmResponse, node: &str) -> [ChatMessage; 2] {
    let mut answer = ChatMessage::assistant(response.text()).with_name(node);
    answer
        .meta
        .insert("model".into(), response.model.clone().into());
    answer
        .meta
        .insert("provider".into(), response.provider.clone().into());
    [ChatMessage::user(prompt).with_name(node), answer]
}

/// Text as it is, anything else as JSON.
fn text_or_json(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The JSON object of an answer, if it is one that conforms.
fn conforming(schema: &Value, response: &LlmResponse) -> Result<Value, BoxError> {
    let json = match &response.json {
        Some(json) => json.clone(),
        None => serde_json::from_str(&response.text()).map_err(|error| {
            format!("the model was asked for JSON and answered with something else: {error}")
        })?,
    };
    if !json.is_object() {
        return Err("the model was asked for a JSON object and answered with another value".into());
    }
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| format!("`json_schema` is no JSON Schema: {error}"))?;
    if let Some(error) = validator.iter_errors(&json).next() {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() {
            "the top".into()
        } else {
            format!("`{place}`")
        };
        return Err(format!(
            "the model's answer does not conform to the schema at {place}: {error}"
        )
        .into());
    }
    Ok(json)
}
