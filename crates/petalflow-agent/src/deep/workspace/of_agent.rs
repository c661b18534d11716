//! The files of an agent.

use super::files::Workspace;
use super::{same_file, tools};
use crate::Agent;

impl Agent {
    /// Gives the agent files, and the tools `ls`, `read_file`, `write_file`, `edit_file`, `glob` and `grep` for them. The
    /// agents that it calls have the same files if they have the same workspace.
    ///
    /// If a model changes one file by several calls of one answer, only the first of them is made, and the model reads that it
    /// has to repeat the others. Agents that run at once should write different files: in a thread, the text of the later call
    /// stays.
    ///
    /// See [`Workspace`] for an example.
    #[must_use]
    pub fn workspace(self, workspace: Workspace) -> Self {
        self.tools(tools::of(&workspace))
            .callbacks(same_file::OneChange)
    }
}
