//! Decodes a checkpoint.

use super::{
    AnswerEntry, Cause, DecisionKind, DecisionRecord, Header, KeyKind, Outline, OwnedKey, Record,
    TaskEntry, VERSION,
};
use crate::{CodecError, Unpack, unpack};

impl Record {
    /// Decodes a checkpoint.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
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
            from.tuple(10)?;
            Ok((Header::decode(from)?, from.list(OwnedKey::decode)?))
        })?;
        Ok(Record { header, keys })
    }
}

impl Header {
    /// Decodes everything before the keys.
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
        let owner = owner.transpose().map_err(|_| {
            CodecError::Unknown("the id of the parent task does not have 16 bytes".into())
        })?;
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
            notes: from.list(DecisionRecord::decode)?,
            outline: from.option(Outline::decode)?,
        })
    }
}

impl Cause {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let code: u8 = from.number()?;
        let mut known = Cause::ALL.into_iter();
        known.find(|known| known.code() == code).ok_or_else(|| {
            CodecError::Unknown(format!("{code} is not a known cause of a checkpoint"))
        })
    }
}

impl KeyKind {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let code: u8 = from.number()?;
        let mut known = KeyKind::ALL.into_iter();
        known
            .find(|known| known.code() == code)
            .ok_or_else(|| CodecError::Decode(format!("{code} is not a known kind of key")))
    }
}

impl OwnedKey {
    #[inline]
    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        let id = from.text()?;
        let kind = KeyKind::decode(from)?;
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
            id: id.map_err(|_| {
                CodecError::Decode("the id of an answer does not have 16 bytes".into())
            })?,
            name: from.text()?,
            bytes: from.bytes()?.to_vec(),
        })
    }
}

impl DecisionRecord {
    #[inline]
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
