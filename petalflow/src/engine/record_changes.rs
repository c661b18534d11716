//! What has changed in the records of a thread.

use super::records_error::RecordsError;
use crate::checkpoint::CodecError;
use petalflow_store::codec::{Unpack, pack, unpack};

/// What has changed in [`ThreadRecords`](super::ThreadRecords): the new value of each key, or `None` if the key was removed.
///
/// ```
/// use petalflow::engine::{RecordChanges, ThreadRecords};
///
/// let mut records = ThreadRecords::default();
/// records.apply(&RecordChanges(vec![("key".into(), Some(vec![1]))]));
/// assert_eq!(records.iter().count(), 1);
/// records.apply(&RecordChanges(vec![("key".into(), None)]));
/// assert!(records.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordChanges(pub Vec<(String, Option<Vec<u8>>)>);

impl RecordChanges {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        pack::list(self.0.iter(), out, |(key, value), out| {
            pack::array(2, out);
            pack::text(key, out);
            pack::option(value.as_deref(), out, pack::bytes);
        });
    }

    pub(super) fn unpack(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let changes = from.list(|from| {
            from.tuple(2)?;
            let key = from.text()?;
            Ok((key, from.option(Unpack::bytes)?.map(<[u8]>::to_vec)))
        })?;
        Ok(RecordChanges(changes))
    }

    /// The changes as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack(&mut out);
        out
    }

    /// The changes with these bytes.
    ///
    /// # Errors
    ///
    /// These are not bytes of changes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordsError> {
        Ok(unpack(bytes, Self::unpack)?)
    }
}
