//! Changes of files, for those who show them.

use petalflow::tool::ToolCall;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::path::normalized;
use super::tool_names::{EDIT, WRITE};

/// A change of a file by a call: its text before and after.
///
/// An agent with [`Workspace::folder`](super::Workspace::folder) emits one for each change that it has made, as the payload
/// of a [`CustomEvent`](petalflow::event::CustomEvent) with the name `agent_file`. No event log has it. A call that is
/// repeated after a crash, and whose change was made before, emits none.
///
/// ```
/// use petalflow::tool::ToolCall;
/// use petalflow_agent::deep::FileChange;
/// use serde_json::json;
///
/// let arguments = json!({ "path": "notes.md", "old": "four", "new": "five" });
/// let call = ToolCall { id: "c1".into(), name: "edit_file".into(), arguments, ..ToolCall::default() };
/// let change = FileChange::of_call(&call).unwrap();
/// assert_eq!((change.before.as_deref(), &*change.after), (Some("four"), "five"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileChange {
    /// The id of the call.
    pub call: String,
    /// The path of the file in the workspace.
    pub path: String,
    /// The text before. `None` if there was no file.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
}

impl FileChange {
    pub(super) fn new(call: &str, path: &str, before: Option<String>, after: String) -> Self {
        FileChange {
            call: call.into(),
            path: path.into(),
            before,
            after,
        }
    }

    /// The change of a call of `write_file` or `edit_file`, as far as the call alone says it: of an edit, the replaced part
    /// of the file before and after. `None` for other calls, and for wrong arguments.
    ///
    /// [`Workspace::preview`](super::Workspace::preview) reads the file too.
    pub fn of_call(call: &ToolCall) -> Option<Self> {
        let (path, change) = wanted(call)?;
        let (before, after) = match change {
            Change::Write(text) => (None, text),
            Change::Edit { old, new } => (Some(old), new),
        };
        Some(Self::new(&call.id, &path, before, after))
    }
}

/// The path and the change that a call asks for.
pub(super) fn wanted(call: &ToolCall) -> Option<(String, Change)> {
    let text = |name: &str| call.arguments[name].as_str().map(String::from);
    let change = match &*call.name {
        WRITE => Change::Write(text("text")?),
        EDIT => Change::Edit {
            old: text("old")?,
            new: text("new")?,
        },
        _ => return None,
    };
    Some((normalized(&text("path")?).ok()?, change))
}
