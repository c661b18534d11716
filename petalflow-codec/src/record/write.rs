//! Encodes a checkpoint.

use super::{AnswerEntry, DecisionRecord, Header, KeyEntry, Outline, TaskEntry, VERSION};
use crate::pack;

impl Header {
    /// The first bytes of every checkpoint of this program.
    #[inline]
    pub fn begin(&self) -> Vec<u8> {
        let out = &mut vec![VERSION];
        pack::array(10, out);
        pack::array(4, out);
        pack::text(&self.flow, out);
        pack::number(self.graph, out);
        pack::number(self.version.into(), out);
        pack::number(self.schema, out);
        std::mem::take(out)
    }

    /// Encodes the rest of the header, and the keys.
    #[inline]
    pub fn encode<'k>(&self, keys: impl ExactSizeIterator<Item = KeyEntry<'k>>, out: &mut Vec<u8>) {
        pack::array(6, out);
        pack::number(self.cause.code().into(), out);
        pack::option(self.parent, out, pack::number);
        pack::number(self.origin, out);
        pack::number(self.turn, out);
        pack::number(self.superstep, out);
        pack::option(self.owner.as_ref(), out, |owner, out| {
            pack::bytes(owner, out);
        });
        pack::list(self.frontier.iter(), out, TaskEntry::encode);
        self.encode_rest(out);
        pack::list(keys, out, |key, out| {
            pack::array(3, out);
            pack::text(key.id, out);
            pack::number(key.kind.code().into(), out);
            pack::bytes(key.bytes, out);
        });
    }

    /// Encodes the lists that are empty in most checkpoints.
    #[inline]
    fn encode_rest(&self, out: &mut Vec<u8>) {
        let none = self.deferred.is_empty()
            && self.joins.is_empty()
            && self.gates.is_empty()
            && self.answers.is_empty()
            && self.notes.is_empty()
            && self.outline.is_none();
        if none {
            // Five empty lists, and no outline.
            out.extend_from_slice(&[0x90, 0x90, 0x90, 0x90, 0x90, 0xc0]);
            return;
        }
        pack::list(self.deferred.iter(), out, TaskEntry::encode);
        pack::list(self.joins.iter(), out, |(join, sides), out| {
            pack::array(2, out);
            pack::text(join, out);
            texts(sides, out);
        });
        texts(&self.gates, out);
        pack::list(self.answers.iter(), out, AnswerEntry::encode);
        pack::list(self.notes.iter(), out, DecisionRecord::encode);
        pack::option(self.outline.as_ref(), out, Outline::encode);
    }
}

#[inline]
fn texts(texts: &[String], out: &mut Vec<u8>) {
    pack::list(texts.iter(), out, |text, out| pack::text(text, out));
}

impl TaskEntry {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        pack::array(3, out);
        pack::text(&self.node, out);
        pack::option(self.send.map(u64::from), out, pack::number);
        pack::option(self.item.as_deref(), out, pack::bytes);
    }
}

impl AnswerEntry {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        pack::array(3, out);
        pack::bytes(&self.id, out);
        pack::text(&self.name, out);
        pack::bytes(&self.bytes, out);
    }
}

impl DecisionRecord {
    #[inline]
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
