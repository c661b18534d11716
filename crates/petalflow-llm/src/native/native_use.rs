//! The uses of native tools.

use serde_json::Value;

use super::Source;
use crate::message::Media;

/// A use of a native tool, read from the parts of messages ([`ChatMessage::native_uses`](crate::ChatMessage::native_uses)).
///
/// ```
/// use petalflow_llm::native::{NativeAction, NativeOutcome};
/// use petalflow_llm::{ChatMessage, Part, Role};
/// use serde_json::json;
///
/// let call = json!({
///     "type": "web_search_call", "id": "ws_1", "status": "completed",
///     "action": { "type": "search", "query": "tokio", "sources": [{ "type": "url", "url": "https://tokio.rs" }] }
/// });
/// let search = Part::Provider { provider: "openai_resp".into(), value: call };
/// let message = ChatMessage::new(Role::Assistant, vec![search]);
/// let used = message.native_uses().remove(0);
/// assert_eq!(used.action, NativeAction::SearchWeb { queries: vec!["tokio".into()] });
/// assert!(matches!(used.outcome, Some(NativeOutcome::Sources(found)) if found[0].url() == Some("https://tokio.rs")));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NativeUse {
    /// The id that the provider gave. Empty if it gave none.
    pub id: String,
    /// What was done.
    pub action: NativeAction,
    /// What came of it. `None` if it is not known: the answer ended before, or the provider does not say.
    pub outcome: Option<NativeOutcome>,
}

/// What a native tool did; see [`NativeUse`].
///
/// ```
/// use petalflow_llm::native::NativeAction;
///
/// let search = NativeAction::SearchWeb { queries: vec!["tokio".into()] };
/// assert_ne!(search, NativeAction::SearchFiles { queries: vec!["tokio".into()] });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NativeAction {
    /// A search of the web.
    SearchWeb {
        /// The words that were searched for.
        queries: Vec<String>,
    },
    /// A search of posts on X.
    SearchPosts {
        /// The words that were searched for.
        queries: Vec<String>,
    },
    /// A page was read.
    OpenPage {
        /// Its address.
        url: String,
    },
    /// A text was searched in a page.
    FindInPage {
        /// The address of the page.
        url: String,
        /// The text.
        pattern: String,
    },
    /// Code ran.
    RunCode {
        /// The programming language, as the provider names it: `bash` for commands of a shell.
        language: String,
        /// The code.
        code: String,
    },
    /// A file in the container was shown, written or changed.
    EditFile {
        /// `view`, `create`, or `str_replace`.
        command: String,
        /// The path.
        path: String,
    },
    /// A search of files.
    SearchFiles {
        /// The words that were searched for.
        queries: Vec<String>,
    },
    /// A picture was drawn.
    DrawImage {
        /// The prompt that the model has written, if the provider gives it.
        prompt: Option<String>,
    },
    /// Something else.
    Other {
        /// The tool's name.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// What came of the use of a native tool; see [`NativeUse`].
///
/// ```
/// use petalflow_llm::native::NativeOutcome;
///
/// assert_ne!(NativeOutcome::Failed("unavailable".into()), NativeOutcome::Sources(Vec::new()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NativeOutcome {
    /// The pages that were found.
    Sources(Vec<Source>),
    /// What the code printed and wrote.
    Code(CodeOutput),
    /// The passages that were found in files.
    Files(Vec<FoundFile>),
    /// The picture that was drawn.
    Image(Media),
    /// It failed: the provider's name for the reason.
    Failed(String),
    /// Something else, as the provider sent it.
    Other(Value),
}

/// What code printed and wrote at the provider; see [`NativeOutcome::Code`].
///
/// ```
/// use petalflow_llm::native::CodeOutput;
///
/// assert_eq!(CodeOutput::default().return_code, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeOutput {
    /// What it printed.
    pub stdout: String,
    /// What it printed to the standard error output.
    pub stderr: String,
    /// Its return code, if the provider gives it.
    pub return_code: Option<i64>,
    /// The ids of the files that it wrote.
    pub files: Vec<String>,
    /// The pictures that it drew.
    pub images: Vec<Media>,
}

/// A passage that was found in a file; see [`NativeOutcome::Files`].
///
/// ```
/// use petalflow_llm::native::FoundFile;
///
/// assert_eq!(FoundFile::default().score, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FoundFile {
    /// The id of the file, if the provider gives it.
    pub id: Option<String>,
    /// The name of the file, if the provider gives it.
    pub name: Option<String>,
    /// The passage.
    pub text: String,
    /// How well it fits, from 0 to 1, if the provider says so.
    pub score: Option<f64>,
}
