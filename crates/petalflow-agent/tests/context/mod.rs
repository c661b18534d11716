//! What a model reads of a conversation.

mod compaction;
mod history;
mod long;
mod placeholders;
