//! The tools that agents have for themselves: for an answer, for the end of a task, for a transfer, and for a search.

pub(super) mod answer_tool;
pub(super) mod delegation;
pub(super) mod tool_search;
pub(super) mod transfer;

/// The names of the tools.
pub(crate) mod names {
    pub(crate) use super::answer_tool::NAME as ANSWER;
    pub(crate) use super::delegation::FINISH;
    pub(crate) use super::transfer::NAME as TRANSFER;
}
