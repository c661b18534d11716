//! The computer use of a provider.

use serde::{Deserialize, Serialize};

/// The computer use of a provider: the model reads screenshots, and says where to click and what to type. The program acts.
///
/// OpenAI has it over the Responses interface, and Anthropic for its models from Claude 3.7 on, and for Claude 3.5 Sonnet of October
/// 2024. The model calls the tool [`NAME`](Self::NAME), which the program must have; `petalflow_agent::Agent::computer` adds both.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::native::ComputerUse;
///
/// let computer = ComputerUse::new().display(1280, 800);
/// let request = LlmRequest::prompt("Open the calculator.").with_native_tools([computer]);
/// assert_eq!(request.native_tools.len(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ComputerUse {
    /// The width of the screenshots, in pixels. Models of Anthropic before Opus 4.8 need it. Others read it from the screenshots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_width: Option<u32>,
    /// Their height, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_height: Option<u32>,
}

impl ComputerUse {
    /// The name of the tool that the model calls.
    pub const NAME: &'static str = "computer";

    /// Computer use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the screenshots, in pixels.
    #[must_use]
    pub fn display(mut self, width: u32, height: u32) -> Self {
        self.display_width = Some(width);
        self.display_height = Some(height);
        self
    }
}
