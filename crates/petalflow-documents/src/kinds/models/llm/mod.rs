//! A node that stores the answer of a model in a variable.

mod config;
mod tool_loop;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::call_settings::{CallSettings, Retryable, call_settings};
use super::noted::noted;
use crate::kinds::{Call, EnvelopeNode};
use crate::template::{MissingVariable, Template, Variables};
use crate::values::text;
use crate::{Changes, ConfigError, Envelope, NodeKind};
pub use config::{BudgetConfig, LlmConfig};
use petalflow::tool::ToolSet;
use petalflow::{BoxError, async_trait};
use petalflow_llm::nodes::{model_of_node, stream_model};
use petalflow_llm::usage::Budget;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse};

/// How many times the model is asked, if it has tools.
const MAX_ROUNDS: usize = 10;

/// A node that calls a model and sets a variable to the answer.
///
/// The prompt is a template of Go: `{{.name}}` is a variable, `{{.input}}` the input of the flow. Without a
/// template the prompt is a list of variables, one per line. The variable `<output>_usage` receives the usage.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::LlmNode;
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::nodes::Model;
/// use petalflow::prelude::*;
///
/// flow! {
///     Describe(Envelope) {
///         describe;
///         node describe: LlmNode = LlmNode::new().template("Describe {{.what}} in one sentence.");
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
/// Dropping or cancelling the run also drops the call and its connection.
#[derive(Clone)]
pub struct LlmNode {
    client: Option<Arc<dyn LlmClient>>,
    request: LlmRequest,
    /// The parsed template, or what is wrong with it.
    template: Option<Result<Template, String>>,
    missing: MissingVariable,
    input_vars: Vec<String>,
    call: CallSettings,
    budget: Budget,
    record_messages: bool,
    tools: ToolSet,
    max_rounds: usize,
    /// The compiled schema of the answer, or what is wrong with it. Empty before the first answer.
    validator: OnceLock<Arc<Result<Validator, String>>>,
}

impl fmt::Debug for LlmNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmNode")
            .field("template", &self.template)
            .field("input_vars", &self.input_vars)
            .field("output", &self.call.output)
            .finish_non_exhaustive()
    }
}

impl Default for LlmNode {
    fn default() -> Self {
        Self::new()
    }
}

impl LlmNode {
    /// Creates a node that calls the run's model, with three attempts and a timeout of one minute.
    pub fn new() -> Self {
        LlmNode {
            client: None,
            request: LlmRequest::default(),
            template: None,
            missing: MissingVariable::default(),
            input_vars: Vec::new(),
            call: CallSettings::with_timeout(Duration::from_mins(1)),
            budget: Budget::UNLIMITED,
            record_messages: false,
            tools: ToolSet::new(),
            max_rounds: MAX_ROUNDS,
            validator: OnceLock::new(),
        }
    }

    /// Creates a node from settings. It calls the run's model, unless [`model`](Self::model) sets one.
    ///
    /// ```
    /// use petalflow_documents::kinds::{LlmConfig, LlmNode};
    ///
    /// let config: LlmConfig = serde_json::from_str(r#"{ "prompt_template": "Describe {{.what}}.", "timeout": "20s" }"#)?;
    /// let node = LlmNode::from_config(config)?;
    /// # let _ = node;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the template cannot be parsed, or the schema is not a JSON Schema.
    pub fn from_config(config: LlmConfig) -> Result<Self, ConfigError> {
        let template = config.prompt_template.as_deref();
        let template = template.map(Template::parse).transpose();
        let template = template.map_err(|problem| ConfigError::new("prompt_template", problem))?;
        let schema = config.json_schema.map(Value::Object);
        let validator = OnceLock::new();
        if let Some(schema) = &schema {
            let compiled = jsonschema::validator_for(schema)
                .map_err(|error| ConfigError::new("json_schema", error))?;
            validator.set(Arc::new(Ok(compiled))).ok();
        }
        let timeout = config.timeout.map_or(Duration::from_mins(1), |it| it.0);
        let BudgetConfig {
            input,
            output,
            total,
            cost,
        } = config.budget;
        Ok(LlmNode {
            client: None,
            request: LlmRequest {
                model: config.model.as_deref().map(Into::into),
                system: config.system_prompt,
                temperature: config.temperature,
                max_tokens: config.max_tokens,
                json_schema: schema.map(Arc::new),
                ..LlmRequest::default()
            },
            template: template.map(Ok),
            missing: config.missing,
            input_vars: config.input_vars,
            call: CallSettings {
                output: config.output_key,
                ..CallSettings::with_timeout(timeout).with_retry(config.retry)
            },
            budget: Budget {
                input,
                output,
                total,
                cost,
            },
            record_messages: config.record_messages,
            validator,
            ..Self::new()
        })
    }

    /// Uses this model instead of the run's model.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
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

    /// Sets the system prompt.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().system("You answer in one word.");
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.request.system = Some(text.into());
        self
    }

    /// Sets the prompt template.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_documents::Envelope;
    /// use petalflow_documents::kinds::LlmNode;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let node = LlmNode::new().model(ScriptedModel::new(["A flower."])).template("Describe {{.what}}.");
    /// let flow = Graph::<Envelope>::builder("describe").node_as("describe", node).build()?;
    /// let envelope = flow.run(Envelope::new().with_var("what", "a petal")).await?;
    /// assert_eq!(envelope.get_var_string("describe_output"), "A flower.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn template(mut self, text: impl Into<String>) -> Self {
        self.template = Some(Template::parse(&text.into()));
        self
    }

    /// Sets how the prompt handles a missing variable. The default is an error.
    ///
    /// ```
    /// use petalflow_documents::MissingVariable;
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().template("Describe {{.what}}.").missing(MissingVariable::Empty);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn missing(mut self, missing: MissingVariable) -> Self {
        self.missing = missing;
        self
    }

    /// Sets the variables for a prompt without a template. Each variable that exists becomes a line.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().input_vars(["title", "text"]);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn input_vars<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.input_vars = names.into_iter().map(Into::into).collect();
        self
    }

    /// Limits the usage of the answer. If the answer exceeds it, the node fails and writes nothing.
    ///
    /// ```
    /// use petalflow_llm::usage::Budget;
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().budget(Budget { cost: 0.05, ..Budget::UNLIMITED });
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Appends the prompt and the answer to the envelope's messages, under the node's name.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().template("{{.question}}").record_messages();
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn record_messages(mut self) -> Self {
        self.record_messages = true;
        self
    }

    /// Offers these tools to the model, and calls those that it asks for, until it answers without a call. A call that fails
    /// is a result that the model reads. The limits on the usage count all answers together.
    ///
    /// On a thread, each answer and each result is recorded: after a crash, or after a person has
    /// [confirmed](petalflow_llm::nodes::ConfirmCall) a call, none of them is repeated. For conversations, and for other
    /// agents as tools, use `petalflow-agent`.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_documents::Envelope;
    /// use petalflow_documents::kinds::LlmNode;
    /// use petalflow_llm::{Reply, ScriptedModel};
    /// use serde_json::json;
    ///
    /// /// Finds the height of a building.
    /// #[tool]
    /// async fn height(building: String) -> petalflow::Result<String> {
    ///     Ok(format!("{building}: 324 m"))
    /// }
    ///
    /// flow! {
    ///     Ask(Envelope) {
    ///         ask;
    ///         node ask: LlmNode;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let call = Reply::call("height", json!({ "building": "Eiffel Tower" }));
    /// let model = ScriptedModel::new([call, "It is 324 m high.".into()]);
    /// let node = LlmNode::new().model(model).template("{{.question}}").tools(&tools![height]);
    /// let envelope = Ask::new().ask(node).run(Envelope::new().with_var("question", "How high is it?")).await?;
    /// assert_eq!(envelope.get_var_string("ask_output"), "It is 324 m high.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tools(mut self, tools: &ToolSet) -> Self {
        self.request.tools = tools.specs();
        self.tools = tools.clone();
        self
    }

    /// Sets how many times the model is asked, if it has tools; 10 by default. Zero counts as one. If its last answer asks for
    /// another call, the node fails.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().max_rounds(3);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds.max(1);
        self
    }

    /// Requires an answer that is a JSON object and conforms to this schema. The variable receives the object.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    /// use serde_json::json;
    ///
    /// let node = LlmNode::new().json_schema(json!({ "type": "object", "required": ["title"] }));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn json_schema(mut self, schema: impl Into<Value>) -> Self {
        self.request.json_schema = Some(Arc::new(schema.into()));
        self.validator = OnceLock::new();
        self
    }

    /// Changes the request, such as the temperature, the token limit or the model. The prompt replaces `input_text`.
    ///
    /// ```
    /// use petalflow_documents::kinds::LlmNode;
    ///
    /// let node = LlmNode::new().request(|request| request.temperature = Some(0.0));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn request(mut self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        edit(&mut self.request);
        self.validator = OnceLock::new();
        self
    }

    fn prompt(&self, envelope: &Envelope) -> Result<String, BoxError> {
        if let Some(template) = &self.template {
            let template = template
                .as_ref()
                .map_err(|problem| format!("the template is wrong: {problem}"))?;
            let null = Value::Null;
            let input = envelope.input.as_deref().unwrap_or(&null);
            let values = Variables::new(&envelope.vars).with("input", input);
            return template.render(&values, self.missing);
        }
        let values = self
            .input_vars
            .iter()
            .filter_map(|name| envelope.get_var(name));
        let lines: Vec<String> = values.map(text).collect();
        Ok(lines.join("\n"))
    }

    /// The value for the output variable.
    fn value(&self, response: &LlmResponse) -> Result<Value, BoxError> {
        match &self.request.json_schema {
            None => Ok(Value::from(response.text())),
            Some(schema) => {
                let compiled = self.validator.get_or_init(|| {
                    let compiled = jsonschema::validator_for(schema);
                    Arc::new(compiled.map_err(|error| error.to_string()))
                });
                validated_json(compiled, response)
            }
        }
    }
}

call_settings!(LlmNode, "LlmNode::new()");

#[async_trait]
impl EnvelopeNode for LlmNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Llm
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let client = model_of_node(self.client.as_ref(), call.cx)?;
        let prompt = self.prompt(call.envelope)?;
        let (response, messages) = if self.tools.is_empty() {
            let request = LlmRequest {
                input_text: Some(prompt.clone()),
                ..self.request.clone()
            };
            let attempt = |attempt| stream_model(&*client, &request, call.cx, attempt);
            let attempts = self.call.run("LLM call", attempt);
            let response = noted(&request, call, attempts).await?;
            self.budget.check(&response.usage)?;
            (response, vec![ChatMessage::user(prompt)])
        } else {
            self.ask_with_tools(&*client, prompt, call).await?
        };
        let value = self.value(&response)?;
        let output = self.call.output_name(call);
        let mut changes = Changes::new()
            .var(format!("{output}_usage"), json!(response.usage))
            .var(output, value);
        if self.record_messages {
            for message in messages {
                changes = changes.message(message.with_name(call.name));
            }
            changes = changes.message(answer_message(&response, call.name));
        }
        Ok(changes)
    }
}

impl Retryable for LlmError {
    fn is_transient(&self) -> bool {
        LlmError::is_transient(self)
    }

    fn retry_after(&self) -> Option<Duration> {
        LlmError::retry_after(self)
    }
}

/// The message that records an answer.
fn answer_message(response: &LlmResponse, node: &str) -> ChatMessage {
    let mut answer = ChatMessage::assistant(response.text()).with_name(node);
    answer
        .meta
        .insert("model".into(), response.model.clone().into());
    answer
        .meta
        .insert("provider".into(), response.provider.clone().into());
    answer
}

/// Returns the JSON object of an answer if it conforms to the schema.
fn validated_json(
    compiled: &Result<Validator, String>,
    response: &LlmResponse,
) -> Result<Value, BoxError> {
    let json = match &response.json {
        Some(json) => json.clone(),
        None => serde_json::from_str(&response.text()).map_err(|error| {
            format!("the model was asked for JSON and answered with something else: {error}")
        })?,
    };
    if !json.is_object() {
        return Err("the model was asked for a JSON object and answered with another value".into());
    }
    let validator = compiled
        .as_ref()
        .map_err(|error| format!("`json_schema` is not a JSON Schema: {error}"))?;
    if let Some(error) = validator.iter_errors(&json).next() {
        let path = error.instance_path().to_string();
        let path = if path.is_empty() {
            "the top".into()
        } else {
            format!("`{path}`")
        };
        return Err(format!(
            "the model's answer does not conform to the schema at {path}: {error}"
        )
        .into());
    }
    Ok(json)
}
