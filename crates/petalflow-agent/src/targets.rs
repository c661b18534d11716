//! The agents to which an agent may transfer a conversation.

use super::Mode;
use super::roster::Roster;

/// The agents to which the one at `from` may transfer: its sub-agents, its parent and its peers. Agents in mode
/// `Task` or `SingleTurn` are called instead, and cannot transfer.
pub(super) fn targets(roster: &Roster, from: usize) -> Vec<usize> {
    let entry = roster.at(from);
    let converses = |place: &usize| roster.at(*place).agent.mode == Mode::Chat;
    if !converses(&from) {
        return Vec::new();
    }
    let mut targets: Vec<usize> = entry.children.iter().copied().filter(converses).collect();
    let Some(parent) = entry.parent else {
        return targets;
    };
    if entry.agent.transfers.up {
        targets.push(parent);
    }
    // Peers need a parent that can transfer to them.
    if entry.agent.transfers.aside && converses(&parent) {
        let beside = roster.at(parent).children.iter().copied();
        targets.extend(beside.filter(|place| *place != from).filter(converses));
    }
    targets
}
