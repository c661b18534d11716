//! The capabilities of a model.

use serde::{Deserialize, Serialize};

use crate::request::{Effort, TypedOutput};

/// When a model takes something.
///
/// ```
/// use petalflow_llm::{Allowed, LlmClient, ProviderModel};
///
/// // Claude takes no temperature while it reasons.
/// assert_eq!(ProviderModel::new("claude-sonnet-4-6")?.capabilities().sampling, Allowed::WithoutReasoning);
/// # Ok::<(), petalflow_llm::LlmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Allowed {
    /// Never: it is not sent.
    Never,
    /// In requests without an effort, or with [`Effort::None`].
    WithoutReasoning,
    /// Always.
    Always,
}

impl Allowed {
    /// Whether it is allowed in a request that makes the model reason, or not.
    pub const fn when(self, reasons: bool) -> bool {
        match self {
            Allowed::Never => false,
            Allowed::WithoutReasoning => !reasons,
            Allowed::Always => true,
        }
    }

    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Allowed::Never, _) | (_, Allowed::Never) => Allowed::Never,
            (Allowed::Always, Allowed::Always) => Allowed::Always,
            _ => Allowed::WithoutReasoning,
        }
    }
}

/// Whether a model writes its reasoning into the text of its answer, between `<think>` and `</think>`. Servers of open
/// models send it so if they do not separate it themselves.
///
/// ```
/// use petalflow_llm::{LlmClient, ProviderModel, ThinkTags};
///
/// let model = ProviderModel::new("vllm::deepseek-r1")?;
/// assert_eq!(model.capabilities().think_tags, ThinkTags::Present);
/// let mut of_r1 = model.capabilities();
/// of_r1.think_tags = ThinkTags::OpenedByPrompt;
/// let model = model.with_capabilities_of("deepseek-r1", of_r1);
/// # assert_eq!(model.capabilities().think_tags, ThinkTags::OpenedByPrompt);
/// # Ok::<(), petalflow_llm::LlmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkTags {
    /// No: such tags are text.
    Absent,
    /// An answer may begin with `<think>`. What follows is a thought, up to `</think>`.
    Present,
    /// The template of the model's prompt ends with `<think>`: each answer begins with reasoning, up to `</think>`. An
    /// answer without `</think>` is a thought alone.
    OpenedByPrompt,
}

/// The capabilities of a client: what its model takes and does.
///
/// `ProviderModel` knows those of its model. It refuses a request that needs another one before it sends anything. What
/// is not known counts as present, except the first two: the provider then decides.
///
/// `ProviderModel` has them in a table, by the start of the model's name;
/// `ProviderModel::with_capabilities_of` adds entries to it. The fields are for a model that is newer than this table, or a server that differs from it:
///
/// ```
/// use petalflow_llm::Capabilities;
///
/// let mut text_only = Capabilities::default();
/// text_only.images = false;
/// assert!(!text_only.schema_with_tools && text_only.tools);
/// ```
///
/// As JSON, they are without `efforts`, and a field that is missing has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Capabilities {
    /// The model follows a `json_schema` even if it has tools.
    pub schema_with_tools: bool,
    /// The provider enforces schemas that have a strict form ([`schema::strict`](crate::schema::strict)).
    pub strict_schemas: bool,
    /// How the model is best asked for an answer that follows a schema.
    pub typed_output: TypedOutput,
    /// The provider has a mode in which every answer is a JSON object. It is used for [`TypedOutput::Prompt`].
    pub json_mode: bool,
    /// The model calls tools.
    pub tools: bool,
    /// When the model can be made to call a tool ([`ToolChoice`](crate::request::ToolChoice)). Otherwise it decides.
    pub forced_tools: Allowed,
    /// A request can name the tool that the model must call ([`ToolChoice::Tool`](crate::request::ToolChoice::Tool)).
    /// Without it, the request is sent with this tool alone, and asks for a call of any tool.
    pub named_tools: bool,
    /// The model may call several tools at once. Without it, the provider is asked for one call at a time.
    pub parallel_calls: bool,
    /// The provider streams answers to requests with tools. Without it, such an answer arrives complete.
    pub streaming_with_tools: bool,
    /// The provider has a tool search: the model finds
    /// [`searchable_tools`](crate::LlmRequest::searchable_tools) when it needs them.
    pub tool_search: bool,
    /// The model takes pictures.
    pub images: bool,
    /// The model takes audio.
    pub audio: bool,
    /// The model takes videos.
    pub video: bool,
    /// The model takes documents, such as PDF.
    pub files: bool,
    /// The model reasons, and takes an [`Effort`](crate::request::Effort).
    pub reasoning: bool,
    /// The levels of reasoning that the model takes, lowest first. Empty: it takes a number of tokens.
    #[serde(skip, default = "all_efforts")]
    pub efforts: &'static [Effort],
    /// Whether the model writes its reasoning into the text, which makes it a thought.
    pub think_tags: ThinkTags,
    /// When the model takes a temperature and a probability mass. Otherwise they are not sent.
    pub sampling: Allowed,
    /// The provider has vectors of texts.
    pub embeddings: bool,
    /// The provider caches the start of a request on demand ([`PromptCache`](crate::request::PromptCache)). Without it,
    /// the demand is not sent.
    pub prompt_cache: bool,
}

fn all_efforts() -> &'static [Effort] {
    Capabilities::UNKNOWN.efforts
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Capabilities {
    /// Those of a model of which nothing is known.
    pub(crate) const UNKNOWN: Self = Capabilities {
        schema_with_tools: false,
        strict_schemas: false,
        typed_output: TypedOutput::Schema,
        json_mode: false,
        tools: true,
        forced_tools: Allowed::Always,
        named_tools: true,
        parallel_calls: true,
        streaming_with_tools: true,
        tool_search: false,
        images: true,
        audio: true,
        video: true,
        files: true,
        reasoning: true,
        efforts: &[
            Effort::None,
            Effort::Minimal,
            Effort::Low,
            Effort::Medium,
            Effort::High,
            Effort::XHigh,
        ],
        think_tags: ThinkTags::Present,
        sampling: Allowed::Always,
        embeddings: true,
        prompt_cache: true,
    };

    /// Declares that the model follows a `json_schema` even if it has tools.
    ///
    /// ```
    /// use petalflow_llm::Capabilities;
    ///
    /// assert!(Capabilities::default().with_schema_with_tools().schema_with_tools);
    /// ```
    #[must_use]
    pub const fn with_schema_with_tools(mut self) -> Self {
        self.schema_with_tools = true;
        self
    }

    /// What both have.
    pub(crate) const fn and(self, other: Self) -> Self {
        Capabilities {
            schema_with_tools: self.schema_with_tools && other.schema_with_tools,
            strict_schemas: self.strict_schemas && other.strict_schemas,
            typed_output: match (self.typed_output, other.typed_output) {
                (TypedOutput::Schema, output) | (output, TypedOutput::Schema) => output,
                (TypedOutput::Tool, TypedOutput::Tool) => TypedOutput::Tool,
                _ => TypedOutput::Prompt,
            },
            json_mode: self.json_mode && other.json_mode,
            tools: self.tools && other.tools,
            forced_tools: self.forced_tools.and(other.forced_tools),
            named_tools: self.named_tools && other.named_tools,
            parallel_calls: self.parallel_calls && other.parallel_calls,
            streaming_with_tools: self.streaming_with_tools && other.streaming_with_tools,
            tool_search: self.tool_search && other.tool_search,
            images: self.images && other.images,
            audio: self.audio && other.audio,
            video: self.video && other.video,
            files: self.files && other.files,
            reasoning: self.reasoning && other.reasoning,
            // Each client chooses among its own levels.
            efforts: if self.efforts.len() <= other.efforts.len() {
                self.efforts
            } else {
                other.efforts
            },
            // Each client reads its own answers.
            think_tags: self.think_tags,
            sampling: self.sampling.and(other.sampling),
            embeddings: self.embeddings && other.embeddings,
            prompt_cache: self.prompt_cache && other.prompt_cache,
        }
    }
}
