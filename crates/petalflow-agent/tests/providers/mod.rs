//! Agents with the clients of real providers: against servers of the tests, and against recordings.

mod delegation_replays;
mod families;
mod native_tools;
mod replays;
mod streamed_replays;
mod whole;
mod wire;
