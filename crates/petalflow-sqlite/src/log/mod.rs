//! The log of an address: its checkpoints in the order of their numbers, packed into rows.
//!
//! An address is a thread and a namespace. It has a number, and its rows have the ids from that number times 2^32: the rest of an
//! id is the number of the first checkpoint that ends in the row, counted from the first checkpoint of the address. If that
//! takes more than 32 bits, the address gets another number for the checkpoints from there on, which is a new segment.
//!
//! An append changes the last row. It names the length that the row had, so another writer's append is noticed without a query.
//! Numbers of addresses are never used again, so a row with the id and length that a writer knows is the row that it knows.
//!
//! Beside its bytes, a row has what a list of threads needs: how many checkpoints end in it, their bytes, when the newest was
//! created, and the `reach`, the number of the newest less that of the first.

mod append;
mod entry;
mod prune;
mod read;
mod row;
mod segment;
mod tail;
mod tails;

pub(crate) use append::{Alone, add_after, add_to_last_row, begin};
pub(crate) use prune::{delete, prune};
pub(crate) use read::{newest, range};
pub(crate) use segment::damaged;
pub(crate) use tail::{Tail, tail};
pub(crate) use tails::Tails;
