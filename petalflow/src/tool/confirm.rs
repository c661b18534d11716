//! Confirmation of calls by a person.

/// The result types of the function in `confirm = path`.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` does not say whether a person must agree",
    label = "returns neither `bool` nor an `Option` of a text",
    note = "return `true` where they must, or `Some(..)` with what they are told"
)]
pub trait ToolConfirm {
    /// The question for the person, if one must agree.
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

/// The default question.
pub fn question(tool: &str) -> String {
    format!("the tool `{tool}` needs your approval")
}
