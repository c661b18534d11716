//! What a call of a tool can ask about where it runs.

use crate::Scope;

/// One call of a tool: which, and in which run.
#[derive(Clone, Debug, Default)]
pub struct ToolContext {
    /// The call's id.
    pub call_id: String,
    scope: Option<Scope>,
}

impl ToolContext {
    /// A call outside any run.
    pub fn new(call_id: impl Into<String>) -> Self {
        ToolContext {
            call_id: call_id.into(),
            scope: None,
        }
    }

    /// A call in a node's run.
    pub fn within(call_id: impl Into<String>, scope: Scope) -> Self {
        ToolContext {
            call_id: call_id.into(),
            scope: Some(scope),
        }
    }

    /// The node's run, if there is one.
    pub fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }
}
