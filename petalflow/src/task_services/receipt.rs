//! The record of a task that receives a message.

use std::collections::{BTreeMap, HashMap};

use crate::checkpoint::{StoredWrite, WriteName};
use crate::ids::TaskId;
use petalflow_store::codec::{CodecError, Unpack, pack, unpack};

/// The number in place of that of a message, if the time of the task was over first.
const NOTHING: u64 = 0;

/// The record of a task that receives a message: what it waits for, and what it has got.
#[derive(Clone)]
pub(crate) struct Receipt {
    /// The name of the key in storage.
    pub(crate) key: String,
    /// When the task began to wait, in milliseconds since 1970 (UTC), by the clock of the store.
    pub(crate) since_ms: u64,
    /// When it stops to wait.
    pub(crate) until_ms: Option<u64>,
    pub(super) got: Option<Got>,
}

/// How the wait for a message has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Got {
    /// With the message of this number.
    Message(u64),
    /// The time was over.
    Nothing,
}

/// The messages of a key that tasks of the thread have got.
#[derive(Clone, Copy)]
pub(super) struct Given {
    /// The number of the last one.
    pub(super) last: u64,
    /// Messages up to this number were removed.
    pub(super) pruned: u64,
}

impl Receipt {
    /// The record, if it is one and this program can read it.
    pub(crate) fn of(write: &StoredWrite) -> Option<Self> {
        match write.contents() {
            Some(WriteName::Receive(_)) => Receipt::decode(&write.bytes).ok(),
            _ => None,
        }
    }

    /// Whether the task still waits.
    pub(crate) fn is_open(&self) -> bool {
        self.got.is_none()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack::array(4, &mut bytes);
        pack::text(&self.key, &mut bytes);
        pack::number(self.since_ms, &mut bytes);
        pack::option(self.until_ms, &mut bytes, pack::number);
        let got = self.got.map(|got| match got {
            Got::Message(number) => number,
            Got::Nothing => NOTHING,
        });
        pack::option(got, &mut bytes, pack::number);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        unpack(bytes, |from| {
            from.tuple(4)?;
            Ok(Receipt {
                key: from.text()?,
                since_ms: from.number()?,
                until_ms: from.option(Unpack::number)?,
                got: from.option(Unpack::number)?.map(|number| match number {
                    NOTHING => Got::Nothing,
                    number => Got::Message(number),
                }),
            })
        })
    }
}

/// By key, the number of the last message that was received.
pub(super) fn last_received(receipts: &HashMap<TaskId, Receipt>) -> BTreeMap<String, u64> {
    let mut last = BTreeMap::new();
    for receipt in receipts.values() {
        if let Some(Got::Message(number)) = receipt.got {
            let known = last.entry(receipt.key.clone()).or_default();
            *known = number.max(*known);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(key: &str, got: Option<Got>) -> Receipt {
        Receipt {
            key: key.into(),
            since_ms: 7,
            until_ms: Some(900_000),
            got,
        }
    }

    #[test]
    fn a_receipt_is_read_as_it_was_stored() {
        for got in [None, Some(Got::Nothing), Some(Got::Message(300))] {
            let read = Receipt::decode(&receipt("paid", got).encode()).unwrap();
            assert_eq!((&*read.key, read.since_ms), ("paid", 7));
            assert_eq!(read.until_ms, Some(900_000));
            assert!(read.got == got);
        }
    }

    #[test]
    fn the_last_message_counts_for_each_key() {
        let receipts = [
            receipt("a", Some(Got::Message(2))),
            receipt("a", Some(Got::Message(1))),
            receipt("b", Some(Got::Nothing)),
            receipt("c", None),
        ];
        let ids = (0..).map(|id: u8| TaskId::from_bytes([id; 16]));
        let last = last_received(&ids.zip(receipts).collect());
        assert_eq!(last, BTreeMap::from([("a".to_string(), 2)]));
    }
}
