//! `POST /v1/chat/completions`.

mod chunk;
mod completion;
mod create;
mod message;
mod request;

pub(super) use create::create;
