//! What turns of protocols are made of, below what is served: the input, and the pieces of answers while they are streamed.

mod input;
mod live;
mod logged;
mod streamed;

pub(crate) use input::{PersonAnswer, TurnInput};
pub(crate) use live::{Live, LiveEvent};
pub(crate) use logged::Logged;
pub(crate) use streamed::{Piece, Streamed, Voice};
