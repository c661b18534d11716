//! A turn of a served agent or conversation, for protocols.
//!
//! [`Turn::begin_thread`] and [`Turn::begin_on`] store the input of a turn and run it, also if the client disconnects.
//! [`Turn::items`] reads what happens in a turn: from its log, so that a reader may begin later or in another process, and, before the
//! log has them, the pieces of the answers of models from the run of this process.

mod begin;
mod cited;
mod end;
mod extent;
mod item;
mod items;
mod reader;

#[cfg(test)]
mod tests;

pub(crate) use crate::turn_parts::{PersonAnswer, TurnInput};
pub(crate) use begin::{NewThread, Turn};
pub(crate) use cited::CitedPassage;
pub(crate) use end::{TurnEnd, TurnOutcome};
pub(crate) use item::{ItemKind, MessageEnd, TurnItem};
