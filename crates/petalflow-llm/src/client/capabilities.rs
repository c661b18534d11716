//! The capabilities of a model.

/// The capabilities of a client: what its model takes and does.
///
/// `ProviderModel` knows those of its model. It refuses a request that needs another one before it sends anything. What
/// is not known counts as present, except the first two: the provider then decides.
///
/// The fields are switches, for a model that is newer than this table, or a server that differs from it:
///
/// ```
/// use petalflow_llm::Capabilities;
///
/// let mut text_only = Capabilities::default();
/// text_only.images = false;
/// assert!(!text_only.schema_with_tools && text_only.tools);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Capabilities {
    /// The model follows a `json_schema` even if it has tools.
    pub schema_with_tools: bool,
    /// The provider enforces schemas that have a strict form ([`schema::strict`](crate::schema::strict)).
    pub strict_schemas: bool,
    /// The model calls tools.
    pub tools: bool,
    /// The model may call several tools at once. Without it, the provider is asked for one call at a time.
    pub parallel_calls: bool,
    /// The provider streams answers to requests with tools. Without it, such an answer arrives complete.
    pub streaming_with_tools: bool,
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
    /// The provider has vectors of texts.
    pub embeddings: bool,
    /// The provider caches the start of a request on demand ([`PromptCache`](crate::request::PromptCache)). Without it,
    /// the demand is not sent.
    pub prompt_cache: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Capabilities {
            schema_with_tools: false,
            strict_schemas: false,
            tools: true,
            parallel_calls: true,
            streaming_with_tools: true,
            images: true,
            audio: true,
            video: true,
            files: true,
            reasoning: true,
            embeddings: true,
            prompt_cache: true,
        }
    }
}

impl Capabilities {
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
            tools: self.tools && other.tools,
            parallel_calls: self.parallel_calls && other.parallel_calls,
            streaming_with_tools: self.streaming_with_tools && other.streaming_with_tools,
            images: self.images && other.images,
            audio: self.audio && other.audio,
            video: self.video && other.video,
            files: self.files && other.files,
            reasoning: self.reasoning && other.reasoning,
            embeddings: self.embeddings && other.embeddings,
            prompt_cache: self.prompt_cache && other.prompt_cache,
        }
    }
}
