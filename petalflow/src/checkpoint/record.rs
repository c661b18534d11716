//! What a checkpoint's bytes hold. The layout is described in `docs/checkpoint-format.md`; change both together, and the
//! version with them.

use std::sync::Arc;

use super::{CodecError, Unpack, pack, unpack};

/// The version of the layout, in the first byte.
const VERSION: u8 = 1;

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A run began: a new thread, or a new turn of one.
    Input,
    /// A superstep was committed.
    Superstep,
    /// The state was changed from outside.
    Update,
    /// An older checkpoint became the newest again, or the thread is a copy of another.
    Fork,
    /// A person ended the run by a rejection.
    Rejected,
}

impl Cause {
    const ALL: [Self; 5] = [
        Cause::Input,
        Cause::Superstep,
        Cause::Update,
        Cause::Fork,
        Cause::Rejected,
    ];

    #[inline]
    fn code(self) -> u8 {
        match self {
            Cause::Input => 0,
            Cause::Superstep => 1,
            Cause::Update => 2,
            Cause::Fork => 3,
            Cause::Rejected => 4,
        }
    }
}

/// How a key stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// The value.
    Value,
    /// Writes that fold into the value before.
    Delta,
    /// The key has no value any more.
    Unset,
}

/// A key in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyEntry<'a> {
    pub(crate) id: &'a str,
    pub(crate) kind: KeyKind,
    pub(crate) bytes: &'a [u8],
}

/// A key as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedKey {
    pub(crate) id: String,
    pub(crate) kind: KeyKind,
    pub(crate) bytes: Vec<u8>,
}

/// A task in a record: the node by its name, its place among what was sent to it, and what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskEntry {
    pub(crate) node: String,
    pub(crate) send: Option<u32>,
    pub(crate) item: Option<Vec<u8>>,
}

/// A decision by a person, kept in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The node it was about, by the name that it had then; empty for the run as a whole.
    pub node: String,
    /// What was decided: `approved`, `rejected`, `edited`, `skipped`, `updated`.
    pub decision: String,
    /// Who decided, as far as was said.
    pub by: Option<String>,
    /// Why, as far as was said.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
}

/// What a changed program is compared with: in checkpoints that stand alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The nodes and edges, a line each.
    pub(crate) graph: Vec<String>,
    /// The keys, a line each.
    pub(crate) schema: Vec<String>,
}

/// An answer in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerEntry {
    pub(crate) id: [u8; 16],
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// All of a checkpoint but its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flow: Arc<str>,
    pub(crate) graph: u64,
    pub(crate) version: u32,
    pub(crate) schema: u64,
    pub(crate) cause: Cause,
    pub(crate) parent: Option<u64>,
    /// Names the frontier: tasks are hashed with it, and what they leave is stored beside it.
    pub(crate) origin: u64,
    pub(crate) turn: u64,
    pub(crate) superstep: u64,
    /// The task of the flow above for which this flow runs.
    pub(crate) owner: Option<[u8; 16]>,
    pub(crate) frontier: Vec<TaskEntry>,
    pub(crate) deferred: Vec<TaskEntry>,
    /// Joins that hold an arrival: the join, and the sides that have arrived.
    pub(crate) joins: Vec<(String, Vec<String>)>,
    /// Nodes of the last superstep after which a person is asked.
    pub(crate) gates: Vec<String>,
    /// What people have answered in this superstep: by question, its name and the answer.
    pub(crate) answers: Vec<AnswerEntry>,
    pub(crate) notes: Vec<Note>,
    pub(crate) outline: Option<Outline>,
}

/// A checkpoint as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) keys: Vec<OwnedKey>,
}

impl Header {
    /// How the bytes of every checkpoint of this program begin.
    #[inline]
    pub(crate) fn begin(&self) -> Vec<u8> {
        let out = &mut vec![VERSION];
        pack::array(10, out);
        pack::array(4, out);
        pack::text(&self.flow, out);
        pack::number(self.graph, out);
        pack::number(self.version.into(), out);
        pack::number(self.schema, out);
        std::mem::take(out)
    }

    /// The header and the keys as bytes, behind the beginning.
    #[inline]
    pub(crate) fn encode<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = KeyEntry<'k>>,
        out: &mut Vec<u8>,
    ) {
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

    /// What most checkpoints have nothing of.
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
        pack::list(self.notes.iter(), out, Note::encode);
        pack::option(self.outline.as_ref(), out, |outline, out| {
            pack::array(2, out);
            texts(&outline.graph, out);
            texts(&outline.schema, out);
        });
    }
}

#[inline]
fn texts(texts: &[String], out: &mut Vec<u8>) {
    pack::list(texts.iter(), out, |text, out| pack::text(text, out));
}

impl KeyKind {
    #[inline]
    fn code(self) -> u8 {
        match self {
            KeyKind::Value => 0,
            KeyKind::Delta => 1,
            KeyKind::Unset => 2,
        }
    }
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

impl Note {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        let Note {
            node,
            decision,
            by,
            reason,
            at_ms,
        } = self;
        pack::array(5, out);
        pack::text(node, out);
        pack::text(decision, out);
        pack::option(by.as_deref(), out, pack::text);
        pack::option(reason.as_deref(), out, pack::text);
        pack::number(*at_ms, out);
    }
}

impl Record {
    /// Reads a checkpoint.
    #[inline]
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let body = match bytes.split_first() {
            Some((&VERSION, body)) => body,
            Some((version, _)) => {
                return Err(CodecError::Unknown(format!(
                    "layout {version} of checkpoints is not known to this program, which reads {VERSION}"
                )));
            }
            None => return Err(CodecError::Unknown("a checkpoint has no bytes".into())),
        };
        let (header, keys) = unpack(body, |from| {
            from.tuple(10)?;
            Ok((Header::decode(from)?, from.list(OwnedKey::decode)?))
        })?;
        Ok(Record { header, keys })
    }
}

impl Header {
    /// All but the keys, which follow.
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(4)?;
        let (flow, graph) = (from.str()?.into(), from.number()?);
        let (version, schema) = (from.number()?, from.number()?);
        from.tuple(6)?;
        let cause = Cause::decode(from)?;
        let parent = from.option(Unpack::number)?;
        let (origin, turn, superstep) = (from.number()?, from.number()?, from.number()?);
        let owner = from.option(Unpack::bytes)?.map(TryInto::try_into);
        let owner = owner
            .transpose()
            .map_err(|_| CodecError::Unknown("the task above has no 16 bytes".into()))?;
        Ok(Header {
            flow,
            graph,
            version,
            schema,
            cause,
            parent,
            origin,
            turn,
            superstep,
            owner,
            frontier: from.list(TaskEntry::decode)?,
            deferred: from.list(TaskEntry::decode)?,
            joins: from.list(|from| {
                from.tuple(2)?;
                Ok((from.text()?, from.list(Unpack::text)?))
            })?,
            gates: from.list(Unpack::text)?,
            answers: from.list(AnswerEntry::decode)?,
            notes: from.list(Note::decode)?,
            outline: from.option(|from| {
                from.tuple(2)?;
                let (graph, schema) = (from.list(Unpack::text)?, from.list(Unpack::text)?);
                Ok(Outline { graph, schema })
            })?,
        })
    }
}

impl Cause {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let code: u8 = from.number()?;
        let mut known = Cause::ALL.into_iter();
        known
            .find(|known| known.code() == code)
            .ok_or_else(|| CodecError::Unknown(format!("{code} is no cause of a checkpoint")))
    }
}

impl OwnedKey {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        let id = from.text()?;
        let kind = match from.number()? {
            0_u8 => KeyKind::Value,
            1 => KeyKind::Delta,
            2 => KeyKind::Unset,
            other => {
                return Err(CodecError::Decode(format!(
                    "{other} is no way in which a key is stored"
                )));
            }
        };
        let bytes = from.bytes()?.to_vec();
        Ok(OwnedKey { id, kind, bytes })
    }
}

impl TaskEntry {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        Ok(TaskEntry {
            node: from.text()?,
            send: from.option(Unpack::number)?,
            item: from.option(Unpack::bytes)?.map(Into::into),
        })
    }
}

impl AnswerEntry {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        let id = from.bytes()?.try_into();
        Ok(AnswerEntry {
            id: id.map_err(|_| CodecError::Decode("an answer's id has 16 bytes".into()))?,
            name: from.text()?,
            bytes: from.bytes()?.to_vec(),
        })
    }
}

impl Note {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(5)?;
        Ok(Note {
            node: from.text()?,
            decision: from.text()?,
            by: from.option(Unpack::text)?,
            reason: from.option(Unpack::text)?,
            at_ms: from.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            flow: "Essay".into(),
            graph: 1,
            version: 2,
            schema: 3,
            cause: Cause::Superstep,
            parent: Some(4),
            origin: 5,
            turn: 6,
            superstep: 7,
            owner: Some([8; 16]),
            frontier: vec![TaskEntry {
                node: "write".into(),
                send: Some(0),
                item: Some(vec![1, 2]),
            }],
            deferred: vec![],
            joins: vec![("a & b -> c".into(), vec!["a".into()])],
            gates: vec!["draft".into()],
            answers: vec![AnswerEntry {
                id: [1; 16],
                name: "review".into(),
                bytes: vec![4],
            }],
            notes: vec![Note {
                node: "publish".into(),
                decision: "approved".into(),
                by: Some("Ann".into()),
                reason: None,
                at_ms: 9,
            }],
            outline: Some(Outline {
                graph: vec!["a -> b".into()],
                schema: vec!["n: u64 sum".into()],
            }),
        }
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let keys = [KeyEntry {
            id: "draft",
            kind: KeyKind::Delta,
            bytes: &[1, 2, 3],
        }];
        let mut bytes = header().begin();
        header().encode(keys.into_iter(), &mut bytes);
        let record = Record::decode(&bytes).unwrap();
        assert_eq!(record.header, header());
        assert_eq!(record.keys[0].bytes, [1, 2, 3]);
        assert_eq!(record.keys[0].kind, KeyKind::Delta);
    }

    #[test]
    fn damaged_bytes_are_errors() {
        let mut bytes = header().begin();
        header().encode([].into_iter(), &mut bytes);
        for end in 0..bytes.len() {
            assert!(Record::decode(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                // It may still be a record, of other values; it must not panic.
                let _ = Record::decode(&damaged);
            }
        }
        bytes[0] = 9;
        let error = Record::decode(&bytes).unwrap_err().to_string();
        assert!(
            error.starts_with("layout 9 of checkpoints is not known"),
            "{error}"
        );
    }
}
