//! Decodes a checkpoint.

use std::sync::Arc;

use super::{
    AnswerEntry, Cause, DecisionKind, DecisionRecord, FAR, Header, KEY_CODES, KeyKind, MAX_NUMBER,
    NEAR_DISTANCES, Outline, OwnedKey, Record, SHORT_KINDS, TaskEntry, VERSION, flag,
};
use crate::codec::{CodecError, Unpack, unpack};

impl Record {
    /// Decodes the checkpoint with this number. `base` is the header of its base; `None` if it is its own base.
    ///
    /// # Errors
    ///
    /// If the bytes are not a checkpoint of this layout, or it needs another base.
    pub fn decode(seq: u64, bytes: &[u8], base: Option<&Header>) -> Result<Self, CodecError> {
        let body = match bytes.split_first() {
            Some((&VERSION, body)) => body,
            Some((version, _)) => {
                return Err(CodecError::Unknown(format!(
                    "it has layout {version} of checkpoints, and this version of petalflow reads layout {VERSION}: resume the thread with the version that stored it"
                )));
            }
            None => return Err(CodecError::Unknown("a checkpoint has no bytes".into())),
        };
        let (header, keys) = unpack(body, |from| {
            let flags = from.marker("flags")?;
            let mut header = Header::decode_program(from, flags, base)?;
            // Taken out, so that names can be read from it while the header is filled.
            let own = header.outline.take();
            let names = Names(own.as_ref().or_else(|| base?.outline.as_ref()));
            header.decode_rest(from, seq, flags, &names)?;
            header.check_numbers(seq)?;
            let one = flags & flag::ONE_KEY != 0;
            let keys = decode_keys(from, one.then_some(1), &names)?;
            header.outline = own;
            Ok((header, keys))
        })?;
        Ok(Record { header, keys })
    }
}

impl Header {
    /// The program: in a base its own, otherwise that of the base.
    fn decode_program(
        from: &mut Unpack<'_>,
        flags: u8,
        base: Option<&Header>,
    ) -> Result<Self, CodecError> {
        let mut header = Header {
            cause: Cause::decode(flags & flag::CAUSE)?,
            ..Header::default()
        };
        if flags & flag::PROGRAM != 0 {
            if from.is_array() {
                from.tuple(2)?;
                header.incarnation = from.number()?;
            }
            (header.flow, header.graph) = (from.str()?.into(), from.number()?);
            (header.version, header.schema) = (from.number()?, from.number()?);
            header.outline = from.option(Outline::decode)?;
        } else if let Some(base) = base {
            (header.flow, header.graph) = (Arc::clone(&base.flow), base.graph);
            (header.version, header.schema) = (base.version, base.schema);
            header.incarnation = base.incarnation;
        } else {
            return Err(CodecError::Unknown(
                "it builds on another checkpoint, which is missing".into(),
            ));
        }
        Ok(header)
    }

    /// Everything else before the keys.
    fn decode_rest(
        &mut self,
        from: &mut Unpack<'_>,
        seq: u64,
        flags: u8,
        names: &Names<'_>,
    ) -> Result<(), CodecError> {
        let number = varint(from)?;
        let low = number % NEAR_DISTANCES;
        self.turn = number / NEAR_DISTANCES;
        self.superstep = match flags & flag::NEAR {
            0 if low == FAR => varint(from)?,
            0 => low,
            _ => seq.checked_sub(low).ok_or_else(|| {
                CodecError::Unknown("its superstep is before the first one".into())
            })?,
        };
        if flags & flag::PLAIN != 0 {
            (self.parent, self.origin) = (seq.checked_sub(1), seq);
        } else {
            self.parent = from.option(Unpack::number)?;
            self.origin = from.number()?;
            let owner = from.option(Unpack::bytes)?.map(TryInto::try_into);
            self.owner = owner.transpose().map_err(|_| {
                CodecError::Unknown("the id of the parent task does not have 16 bytes".into())
            })?;
            self.deferred = names.tasks(from)?;
            self.joins = from.list(|from| {
                from.tuple(2)?;
                Ok((from.text()?, from.list(Unpack::text)?))
            })?;
            self.interrupt_points = from.list(Unpack::text)?;
            self.answers = from.list(AnswerEntry::decode)?;
            self.notes = from.list(DecisionRecord::decode)?;
        }
        self.frontier = if flags & flag::ONE_TASK == 0 {
            names.tasks(from)?
        } else {
            vec![TaskEntry {
                node: names.node(from)?,
                send: None,
                item: None,
            }]
        };
        Ok(())
    }
}

impl Header {
    /// Refuses numbers that no run has written, and from which a run could not count on.
    fn check_numbers(&self, seq: u64) -> Result<(), CodecError> {
        let origin = self.origin;
        let problem = if origin > seq {
            format!("its tasks were planned at checkpoint {origin}, which is a later one")
        } else if let Some(parent) = self.parent.filter(|parent| *parent >= seq) {
            format!("it follows checkpoint {parent}, which is not an earlier one")
        } else if let Some(number) = [seq, self.superstep]
            .into_iter()
            .find(|number| *number > MAX_NUMBER)
        {
            format!("it has the number {number}, and the largest is {MAX_NUMBER}")
        } else {
            return Ok(());
        };
        Err(CodecError::Decode(problem))
    }
}

/// A number of seven bits per byte.
fn varint(from: &mut Unpack<'_>) -> Result<u64, CodecError> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = from.marker("a number")?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(CodecError::Decode(
        "a number has more than ten bytes".into(),
    ))
}

/// The outline whose parts a checkpoint names by index.
struct Names<'a>(Option<&'a Outline>);

impl Names<'_> {
    fn node(&self, from: &mut Unpack<'_>) -> Result<String, CodecError> {
        if !from.is_number() {
            return from.text();
        }
        let index: usize = from.number()?;
        let node = self.0.and_then(|outline| outline.graph.nodes.get(index));
        node.map(|node| node.name.clone())
            .ok_or_else(|| CodecError::Unknown(format!("its base has no node {index}")))
    }

    fn tasks(&self, from: &mut Unpack<'_>) -> Result<Vec<TaskEntry>, CodecError> {
        from.list(|from| {
            from.tuple(3)?;
            Ok(TaskEntry {
                node: self.node(from)?,
                send: from.option(Unpack::number)?,
                item: from.option(Unpack::bytes)?.map(Into::into),
            })
        })
    }

    /// The id of a key, and the code of its kind.
    fn key(&self, from: &mut Unpack<'_>) -> Result<(String, u64), CodecError> {
        if !from.is_number() {
            return Ok((from.text()?, from.number()?));
        }
        let number: u64 = from.number()?;
        let (index, code) = (number / KEY_CODES, number % KEY_CODES);
        let keys = self.0.map_or(&[][..], |outline| &outline.keys);
        let key = usize::try_from(index)
            .ok()
            .and_then(|index| keys.get(index));
        let unknown = || CodecError::Unknown(format!("its base has no key {index}"));
        Ok((key.ok_or_else(unknown)?.id.to_string(), code))
    }
}

/// The keys. The bytes of the last one end with the checkpoint.
fn decode_keys(
    from: &mut Unpack<'_>,
    count: Option<usize>,
    names: &Names<'_>,
) -> Result<Vec<OwnedKey>, CodecError> {
    let mut left = match count {
        Some(count) => count,
        None => from.items()?,
    };
    let mut keys = Vec::with_capacity(left.min(16));
    while left > 0 {
        left -= 1;
        let (id, code) = names.key(from)?;
        let value = if left == 0 {
            std::mem::take(&mut from.rest)
        } else {
            from.bytes()?
        };
        let short = SHORT_KINDS
            .iter()
            .find(|(short, _)| u64::from(*short) == code);
        let (kind, bytes) = match short {
            Some((_, first)) => (KeyKind::Delta, [first, value].concat()),
            None => (KeyKind::decode(code)?, value.to_vec()),
        };
        keys.push(OwnedKey { id, kind, bytes });
    }
    Ok(keys)
}

impl Cause {
    fn decode(code: u8) -> Result<Self, CodecError> {
        let mut known = Cause::ALL.into_iter();
        known.find(|known| known.code() == code).ok_or_else(|| {
            CodecError::Unknown(format!("{code} is not a known cause of a checkpoint"))
        })
    }
}

impl KeyKind {
    fn decode(code: u64) -> Result<Self, CodecError> {
        let mut known = KeyKind::ALL.into_iter();
        known
            .find(|known| u64::from(known.code()) == code)
            .ok_or_else(|| CodecError::Decode(format!("{code} is not a known kind of key")))
    }
}

impl AnswerEntry {
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        let id = from.bytes()?.try_into();
        Ok(AnswerEntry {
            id: id.map_err(|_| {
                CodecError::Decode("the id of an answer does not have 16 bytes".into())
            })?,
            name: from.text()?,
            bytes: from.bytes()?.to_vec(),
        })
    }
}

impl DecisionRecord {
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(5)?;
        Ok(DecisionRecord {
            node: from.text()?,
            decision: {
                let name = from.str()?;
                let unknown = || CodecError::Unknown(format!("`{name}` is not a known decision"));
                DecisionKind::named(name).ok_or_else(unknown)?
            },
            by: from.option(Unpack::text)?,
            reason: from.option(Unpack::text)?,
            at_ms: from.number()?,
        })
    }
}
