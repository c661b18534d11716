//! The computer use of a provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The computer use of a provider: the model reads screenshots, and says where to click and what to type. The program acts.
///
/// OpenAI has it over the Responses interface, Anthropic for its models from Claude 3.7 on, and for Claude 3.5 Sonnet of October
/// 2024, and Gemini for the models that Google names. The model calls the tool [`NAME`](Self::NAME), which the program must have;
/// `petalflow_agent::Agent::computer` adds both.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::native::ComputerUse;
///
/// let computer = ComputerUse::new().display(1280, 800);
/// let request = LlmRequest::prompt("Open the calculator.").with_native_tools([computer]);
/// assert_eq!(request.native_tools.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ComputerUse {
    /// The width of the screenshots, in pixels. Models of Anthropic before Opus 4.8 and of Gemini need it. Others read it from the
    /// screenshots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_width: Option<u32>,
    /// Their height, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_height: Option<u32>,
    /// What the computer is. Models of Gemini have other actions in each. `None` is a browser there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<ComputerEnvironment>,
    /// The actions of Gemini that the model must not use, such as `drag_and_drop`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_actions: Vec<String>,
    /// Whether Gemini checks screenshots for instructions to the model. From Gemini 3.5 on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injection_detection: bool,
}

/// What a computer is: see [`ComputerUse::environment()`].
///
/// ```
/// use petalflow_llm::native::{ComputerEnvironment, ComputerUse};
///
/// let phone = ComputerUse::new().environment(ComputerEnvironment::Mobile);
/// assert_eq!(phone.environment, Some(ComputerEnvironment::Mobile));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ComputerEnvironment {
    /// A browser.
    Browser,
    /// A desktop. Gemini has it from version 3.5 on.
    Desktop,
    /// A phone with Android. Gemini has it from version 3.5 on.
    Mobile,
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

    /// Sets what the computer is.
    #[must_use]
    pub fn environment(mut self, environment: ComputerEnvironment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets the actions of Gemini that the model must not use, by the names that Gemini gives them.
    ///
    /// ```
    /// use petalflow_llm::native::ComputerUse;
    ///
    /// let computer = ComputerUse::new().excluded_actions(["drag_and_drop"]);
    /// assert_eq!(computer.excluded_actions, ["drag_and_drop"]);
    /// ```
    #[must_use]
    pub fn excluded_actions<T: Into<String>>(
        mut self,
        actions: impl IntoIterator<Item = T>,
    ) -> Self {
        self.excluded_actions = actions.into_iter().map(Into::into).collect();
        self
    }

    /// Lets Gemini check screenshots for instructions to the model.
    #[must_use]
    pub fn injection_detection(mut self) -> Self {
        self.injection_detection = true;
        self
    }

    /// What the provider warns of in the arguments of a call: a person must confirm the call before it is made.
    ///
    /// ```
    /// use petalflow_llm::native::ComputerUse;
    /// use serde_json::json;
    ///
    /// let decision = json!({ "decision": "require_confirmation", "explanation": "This buys a ticket." });
    /// let click = json!({ "name": "click", "args": { "x": 1, "y": 2, "safety_decision": decision } });
    /// assert_eq!(ComputerUse::warnings(&json!({ "calls": [click] })), ["This buys a ticket."]);
    /// ```
    pub fn warnings(arguments: &Value) -> Vec<String> {
        let checks = arguments["pending_safety_checks"].as_array();
        let checks = checks.into_iter().flatten().map(|check| {
            let words = check["message"].as_str().or(check["code"].as_str());
            words.unwrap_or("a safety check without words").to_string()
        });
        let calls = arguments["calls"].as_array().into_iter().flatten();
        checks.chain(calls.filter_map(Self::warning_of)).collect()
    }

    /// What Gemini warns of in the call of one of its functions. A decision that is not known is a warning too.
    pub(crate) fn warning_of(call: &Value) -> Option<String> {
        let safety = call["args"].get("safety_decision")?;
        let is_allowed = |decision: &str| ["allowed", "regular"].contains(&decision);
        if safety.is_null() || safety["decision"].as_str().is_some_and(is_allowed) {
            return None;
        }
        let words = safety["explanation"].as_str();
        let words = words.unwrap_or("a safety decision without words");
        Some(words.to_string())
    }
}
