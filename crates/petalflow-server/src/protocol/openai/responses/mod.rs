//! `POST /v1/responses`, and what is done with a response.

mod begin;
mod create;
mod events;
mod forget;
mod id;
mod input;
mod object;
mod output;
mod request;
mod retrieve;

pub(super) use create::create;
pub(super) use retrieve::{cancel, delete, retrieve};
