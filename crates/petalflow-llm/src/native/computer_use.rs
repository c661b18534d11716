//! The computer use of a provider.

use serde::{Deserialize, Serialize};

/// The computer use of a provider: the model reads screenshots, and says where to click and what to type. The program acts.
///
/// OpenAI has it over the Responses interface, and Anthropic for its models from Opus 4.8 on. The model calls the tool
/// [`NAME`](Self::NAME), which the program must have; `petalflow_agent::Agent::computer` adds both.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::native::ComputerUse;
///
/// let request = LlmRequest::prompt("Open the calculator.").with_native_tools([ComputerUse::new()]);
/// assert_eq!(request.native_tools.len(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ComputerUse {}

impl ComputerUse {
    /// The name of the tool that the model calls.
    pub const NAME: &'static str = "computer";

    /// Computer use.
    pub fn new() -> Self {
        Self::default()
    }
}
