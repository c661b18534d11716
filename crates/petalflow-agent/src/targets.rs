//! To whom an agent may hand a conversation.

use super::Mode;
use super::roster::Roster;

/// The agents that the one at `from` may transfer to: those below it, the one above it, and those beside it. Agents that are
/// given tasks, or one turn, are called instead, and do not transfer themselves.
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
    // Those beside it are for the agent above to give work to: one that hands nothing on has none.
    if entry.agent.transfers.aside && converses(&parent) {
        let beside = roster.at(parent).children.iter().copied();
        targets.extend(beside.filter(|place| *place != from).filter(converses));
    }
    targets
}
