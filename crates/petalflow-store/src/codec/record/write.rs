//! Encodes a checkpoint.

use super::{
    AnswerEntry, DecisionRecord, FAR, Header, KEY_CODES, KeyEntry, KeyKind, NEAR_DISTANCES,
    Outline, SHORT_KINDS, TaskEntry, VERSION, flag,
};
use crate::codec::{KeyOutline, NodeOutline, pack};

impl Header {
    /// Encodes a checkpoint with this number. `names` is the outline in the base of a checkpoint that builds on another. With
    /// `None` the checkpoint contains the program and all names, as a base does.
    pub fn encode<'k>(
        &self,
        seq: u64,
        names: Option<&Outline>,
        keys: impl ExactSizeIterator<Item = KeyEntry<'k>>,
        out: &mut Vec<u8>,
    ) {
        let plain = self.is_plain(seq);
        let one = self.frontier.len() == 1 && self.frontier[0].is_bare();
        let near = seq.checked_sub(self.superstep);
        let near = near.filter(|distance| *distance < NEAR_DISTANCES);
        let flags = [
            (flag::PROGRAM, names.is_none()),
            (flag::PLAIN, plain),
            (flag::ONE_TASK, one),
            (flag::NEAR, near.is_some()),
            (flag::ONE_KEY, keys.len() == 1),
        ];
        let set = flags.iter().filter(|(_, set)| *set);
        let cause = self.cause.code();
        out.extend_from_slice(&[VERSION, set.fold(cause, |sum, (flag, _)| sum | flag)]);
        if names.is_none() {
            if self.incarnation != 0 {
                pack::array(2, out);
                pack::number(self.incarnation, out);
            }
            pack::text(&self.flow, out);
            pack::number(self.graph, out);
            pack::number(self.version.into(), out);
            pack::number(self.schema, out);
            pack::option(self.outline.as_ref(), out, Outline::encode);
        }
        // In the same number as the turn there is room for this.
        let low = near.unwrap_or(self.superstep.min(FAR));
        varint(self.turn.wrapping_mul(NEAR_DISTANCES) | low, out);
        if near.is_none() && low == FAR {
            varint(self.superstep, out);
        }
        if !plain {
            self.encode_rest(names, out);
        }
        if one {
            node(&self.frontier[0].node, names, out);
        } else {
            tasks(&self.frontier, names, out);
        }
        encode_keys(names, keys, out);
    }

    /// Whether the fields that most checkpoints have in common have their usual values.
    fn is_plain(&self, seq: u64) -> bool {
        self.parent == seq.checked_sub(1)
            && self.origin == seq
            && self.owner.is_none()
            && self.deferred.is_empty()
            && self.joins.is_empty()
            && self.interrupt_points.is_empty()
            && self.answers.is_empty()
            && self.notes.is_empty()
    }

    /// Encodes the fields that most checkpoints have in common.
    fn encode_rest(&self, names: Option<&Outline>, out: &mut Vec<u8>) {
        pack::option(self.parent, out, pack::number);
        pack::number(self.origin, out);
        pack::option(self.owner.as_ref(), out, |owner, out| {
            pack::bytes(owner, out);
        });
        tasks(&self.deferred, names, out);
        pack::list(self.joins.iter(), out, |(join, sides), out| {
            pack::array(2, out);
            pack::text(join, out);
            texts(sides, out);
        });
        texts(&self.interrupt_points, out);
        pack::list(self.answers.iter(), out, AnswerEntry::encode);
        pack::list(self.notes.iter(), out, DecisionRecord::encode);
    }
}

/// Seven bits per byte, the lowest first. All bytes but the last have the highest bit.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// The keys, without the length of the last one: its bytes end with the checkpoint.
fn encode_keys<'k>(
    names: Option<&Outline>,
    keys: impl ExactSizeIterator<Item = KeyEntry<'k>>,
    out: &mut Vec<u8>,
) {
    let last = keys.len().wrapping_sub(1);
    if last != 0 {
        pack::array(keys.len(), out);
    }
    for (index, key) in keys.enumerate() {
        let short = match key.kind {
            KeyKind::Delta => SHORT_KINDS
                .iter()
                .find_map(|(code, first)| Some((*code, key.bytes.strip_prefix(*first)?))),
            _ => None,
        };
        let (code, bytes) = short.unwrap_or((key.kind.code(), key.bytes));
        let position = names.and_then(|names| KeyOutline::position(&names.keys, key.id));
        if let Some(position) = position {
            pack::number(position as u64 * KEY_CODES + u64::from(code), out);
        } else {
            pack::text(key.id, out);
            pack::number(code.into(), out);
        }
        if index == last {
            out.extend_from_slice(bytes);
        } else {
            pack::bytes(bytes, out);
        }
    }
}

/// The stored name of a node: its index in the outline, or the name if it is not there.
fn node(node: &str, names: Option<&Outline>, out: &mut Vec<u8>) {
    match names.and_then(|names| NodeOutline::position(&names.graph.nodes, node)) {
        Some(position) => pack::number(position as u64, out),
        None => pack::text(node, out),
    }
}

fn tasks(tasks: &[TaskEntry], names: Option<&Outline>, out: &mut Vec<u8>) {
    pack::list(tasks.iter(), out, |task, out| {
        pack::array(3, out);
        node(&task.node, names, out);
        pack::option(task.send.map(u64::from), out, pack::number);
        pack::option(task.item.as_deref(), out, pack::bytes);
    });
}

fn texts(texts: &[String], out: &mut Vec<u8>) {
    pack::list(texts.iter(), out, |text, out| pack::text(text, out));
}

impl AnswerEntry {
    fn encode(&self, out: &mut Vec<u8>) {
        pack::array(3, out);
        pack::bytes(&self.id, out);
        pack::text(&self.name, out);
        pack::bytes(&self.bytes, out);
    }
}

impl DecisionRecord {
    fn encode(&self, out: &mut Vec<u8>) {
        let DecisionRecord {
            node,
            decision,
            by,
            reason,
            at_ms,
        } = self;
        pack::array(5, out);
        pack::text(node, out);
        pack::text(decision.name(), out);
        pack::option(by.as_deref(), out, pack::text);
        pack::option(reason.as_deref(), out, pack::text);
        pack::number(*at_ms, out);
    }
}
