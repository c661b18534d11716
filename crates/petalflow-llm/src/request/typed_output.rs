//! How a model is asked for an answer that follows a schema.

use serde::{Deserialize, Serialize};

/// How a model is asked for an answer that follows the schema of a request
/// ([`LlmRequest::json_schema`](crate::LlmRequest::json_schema)).
///
/// A model has a usual one ([`Capabilities::typed_output`](crate::Capabilities::typed_output)). A request can ask for another
/// ([`LlmRequest::typed_output`](crate::LlmRequest::typed_output)).
///
/// ```
/// use petalflow_llm::{LlmClient, ProviderModel};
/// use petalflow_llm::request::TypedOutput;
///
/// assert_eq!(ProviderModel::new("gpt-5-mini")?.capabilities().typed_output, TypedOutput::Schema);
/// assert_eq!(ProviderModel::new("claude-3-5-haiku-latest")?.capabilities().typed_output, TypedOutput::Tool);
/// assert_eq!(ProviderModel::new("deepseek-chat")?.capabilities().typed_output, TypedOutput::Prompt);
/// # Ok::<(), petalflow_llm::LlmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TypedOutput {
    /// The schema is in the instructions, and the answer is the text of the model.
    Prompt,
    /// The schema is that of a tool, which the model must call. The answer is the arguments of the call.
    Tool,
    /// The provider has a field for the schema, and most providers enforce it.
    Schema,
}
