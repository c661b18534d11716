//! The tools that providers run themselves.

use serde::{Deserialize, Serialize};

use super::{CodeExecution, ComputerUse, FileSearch, ImageGeneration, WebSearch, XSearch};

/// A tool that the provider runs itself.
///
/// Each is a struct with settings. A provider does not have every tool, and a tool not every setting: a request that asks
/// for what its provider does not have is refused before anything is sent, with the names of both.
///
/// ```
/// use petalflow_llm::native::{NativeTool, WebSearch};
///
/// let tool = NativeTool::from(WebSearch::new());
/// assert!(matches!(tool, NativeTool::WebSearch(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NativeTool {
    /// Searches the web.
    WebSearch(WebSearch),
    /// Runs code of the model in a container of the provider.
    CodeExecution(CodeExecution),
    /// Searches files that the program has given to the provider.
    FileSearch(FileSearch),
    /// Draws pictures.
    ImageGeneration(ImageGeneration),
    /// Uses a computer. The provider trains its model for it, and the program acts.
    ComputerUse(ComputerUse),
    /// Searches posts on X.
    XSearch(XSearch),
}

impl From<XSearch> for NativeTool {
    fn from(tool: XSearch) -> Self {
        NativeTool::XSearch(tool)
    }
}

impl From<WebSearch> for NativeTool {
    fn from(tool: WebSearch) -> Self {
        NativeTool::WebSearch(tool)
    }
}

impl From<CodeExecution> for NativeTool {
    fn from(tool: CodeExecution) -> Self {
        NativeTool::CodeExecution(tool)
    }
}

impl From<FileSearch> for NativeTool {
    fn from(tool: FileSearch) -> Self {
        NativeTool::FileSearch(tool)
    }
}

impl From<ComputerUse> for NativeTool {
    fn from(tool: ComputerUse) -> Self {
        NativeTool::ComputerUse(tool)
    }
}

impl From<ImageGeneration> for NativeTool {
    fn from(tool: ImageGeneration) -> Self {
        NativeTool::ImageGeneration(tool)
    }
}
