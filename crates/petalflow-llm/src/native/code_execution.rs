//! The code execution of a provider.

use serde::{Deserialize, Serialize};

/// The code execution of a provider: the model writes code and reads its output, in a container of the provider. OpenAI and
/// xAI have it over the Responses interface, Anthropic, Gemini, and Nova 2 at Bedrock.
///
/// Code that runs at the program's side has a code executor of the agent instead.
///
/// ```
/// use petalflow_llm::native::{CodeExecution, CodeMemory};
///
/// let code = CodeExecution::new().files(["file-1"]).memory(CodeMemory::Gib4);
/// assert_eq!(code.files, ["file-1"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CodeExecution {
    /// The ids of uploaded files that the code can read. OpenAI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The memory of the container. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<CodeMemory>,
}

impl CodeExecution {
    /// Code execution without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds uploaded files that the code can read.
    #[must_use]
    pub fn files(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.files.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Sets the memory of the container.
    #[must_use]
    pub fn memory(mut self, memory: CodeMemory) -> Self {
        self.memory = Some(memory);
        self
    }
}

/// The memory of a container that runs code; see [`CodeExecution::memory`].
///
/// ```
/// use petalflow_llm::native::{CodeExecution, CodeMemory};
///
/// assert_eq!(CodeExecution::new().memory(CodeMemory::Gib1).memory, Some(CodeMemory::Gib1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CodeMemory {
    /// 1 GiB.
    #[serde(rename = "1g")]
    Gib1,
    /// 4 GiB.
    #[serde(rename = "4g")]
    Gib4,
    /// 16 GiB.
    #[serde(rename = "16g")]
    Gib16,
    /// 64 GiB.
    #[serde(rename = "64g")]
    Gib64,
}
