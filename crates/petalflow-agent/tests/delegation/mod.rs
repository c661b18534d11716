//! Agents that give work or the conversation to others.

mod delegations;
mod transfers;
