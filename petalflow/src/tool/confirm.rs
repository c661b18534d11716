//! Whether a person must agree to a call.

/// What the function of `confirm = path` can return.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` does not say whether a person must agree",
    label = "returns neither `bool` nor an `Option` of a text",
    note = "return `true` where they must, or `Some(..)` with what they are told"
)]
pub trait ToolConfirm {
    /// What the person is told, if they must agree.
    fn question(self, tool: &str) -> Option<String>;
}

impl ToolConfirm for bool {
    fn question(self, tool: &str) -> Option<String> {
        self.then(|| question(tool))
    }
}

impl ToolConfirm for Option<String> {
    fn question(self, _: &str) -> Option<String> {
        self
    }
}

impl ToolConfirm for Option<&str> {
    fn question(self, _: &str) -> Option<String> {
        self.map(Into::into)
    }
}

/// What a person is told who is told nothing else.
pub fn question(tool: &str) -> String {
    format!("the tool `{tool}` needs your approval")
}
