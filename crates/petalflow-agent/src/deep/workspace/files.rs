//! Where the files of an agent are.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::change::Change;
use super::file_change::{FileChange, wanted};
use super::folder::{Folder, Made};
use super::listing::Listing;
use super::thread;
use crate::Conversation;
use crate::deep::error::DeepError;
use petalflow::BoxError;
use petalflow::tool::{ToolCall, ToolContext};

/// The files of an agent: in its thread, or in a folder. [`Agent::workspace`](crate::Agent::workspace) gives an agent the tools for them.
///
/// Paths are relative, with `/` between the names. A `/` at the start is ignored, and `..` is an error. Names that begin with a
/// dot are not part of a workspace, so no model writes into `.git`. Files are texts in UTF-8 of at most 1 MiB.
///
/// A clone is the same workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Thread,
    Folder(Arc<Folder>),
}

impl Workspace {
    /// Files in the conversation's [state](Conversation::state): `file:notes.md` is the text of `notes.md`. So they are stored,
    /// resumed and forked with the thread. [`files_in`](Self::files_in) reads them, and
    /// [`ConversationInput::with_state`](crate::ConversationInput::with_state) gives files to a conversation.
    ///
    /// A checkpoint has the texts that changed. The folder of a program is the better place for hundreds of files.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// use petalflow_agent::deep::Workspace;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let edit = Reply::call("edit_file", json!({ "path": "notes.md", "old": "four", "new": "five" }));
    /// # let model = ScriptedModel::new([edit, "Corrected.".into()]);
    /// let agent = Agent::new(model).workspace(Workspace::in_thread());
    /// let input = ConversationInput::from("Correct my notes.").with_state("file:notes.md", "A rose has four petals.");
    /// let talk = agent.run(input).await?;
    /// assert_eq!(Workspace::files_in(&talk)["notes.md"], "A rose has five petals.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_thread() -> Self {
        Workspace {
            place: Place::Thread,
        }
    }

    /// Files in a folder. Neither a path nor a symbolic link leaves it.
    ///
    /// A change is recorded before it is made, and the file is replaced as a whole: a process that is killed leaves the old
    /// text or the new one, and the repeated call does not apply an edit twice. If something else has changed the file in
    /// between, the call fails, and the model reads the file again.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::deep::Workspace;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let dir = dir.path();
    /// # let write = Reply::call("write_file", json!({ "path": "poems/rose.md", "text": "Red." }));
    /// # let model = ScriptedModel::new([write, "Written.".into()]);
    /// let agent = Agent::new(model).workspace(Workspace::folder(&dir)?);
    /// agent.run("Write a poem about a rose.").await?;
    /// assert_eq!(std::fs::read_to_string(dir.join("poems/rose.md"))?, "Red.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn folder(path: impl AsRef<Path>) -> Result<Self, DeepError> {
        let folder = Folder::open(path.as_ref())?;
        Ok(Workspace {
            place: Place::Folder(Arc::new(folder)),
        })
    }

    /// The files that a conversation has in its thread, by their paths.
    pub fn files_in(conversation: &Conversation) -> BTreeMap<&str, &str> {
        let state = conversation.state.iter();
        let files = state.filter_map(|(key, text)| Some((thread::path(key)?, text.as_str()?)));
        files.collect()
    }

    /// The folder of the files. `None` if they are in the thread.
    pub fn folder_path(&self) -> Option<&Path> {
        match &self.place {
            Place::Thread => None,
            Place::Folder(folder) => Some(folder.path()),
        }
    }

    /// What a call of `write_file` or `edit_file` would change in the folder now, for a person who decides about the call.
    ///
    /// `None` for other calls, for those that would fail, and if the files are in the thread. Dropping the future changes
    /// nothing.
    ///
    /// ```
    /// use petalflow::tool::ToolCall;
    /// use petalflow_agent::deep::Workspace;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let dir = dir.path();
    /// std::fs::write(dir.join("rose.md"), "Four petals.")?;
    /// let arguments = json!({ "path": "rose.md", "old": "Four", "new": "Five" });
    /// let call = ToolCall { name: "edit_file".into(), arguments, ..ToolCall::default() };
    /// let change = Workspace::folder(&dir)?.preview(&call).await.unwrap();
    /// assert_eq!((change.before.as_deref(), &*change.after), (Some("Four petals."), "Five petals."));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn preview(&self, call: &ToolCall) -> Option<FileChange> {
        let Place::Folder(folder) = &self.place else {
            return None;
        };
        let (path, change) = wanted(call)?;
        let Made { before, after } = folder.preview(&path, change).await.ok()?;
        Some(FileChange::new(&call.id, &path, before, after))
    }

    pub(super) async fn list(&self, cx: &ToolContext) -> Result<Listing, BoxError> {
        match &self.place {
            Place::Thread => Ok(thread::list(cx)),
            Place::Folder(folder) => folder.list().await,
        }
    }

    /// The text of a file; `None` if there is no such file.
    pub(super) async fn text(
        &self,
        cx: &ToolContext,
        path: &str,
    ) -> Result<Option<String>, BoxError> {
        match &self.place {
            Place::Thread => Ok(thread::text(cx, path)),
            Place::Folder(folder) => folder.text(path).await,
        }
    }

    /// Changes a file. In a folder, a call can do this once.
    pub(in crate::deep) async fn change(
        &self,
        cx: &ToolContext,
        path: &str,
        change: Change,
    ) -> Result<(), BoxError> {
        match &self.place {
            Place::Thread => thread::change(cx, path, &change),
            Place::Folder(folder) => folder.change(cx, path, change).await,
        }
    }
}
