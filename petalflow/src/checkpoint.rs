//! Checkpoints and the stores for them. A thread resumes from a checkpoint after a crash, a deployment or a pause.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] stores bytes and knows nothing of flows. `docs/reference/checkpoint-format.md` describes the bytes.

pub(crate) use petalflow_store::codec::{
    AnswerEntry, Header, KeyEntry, KeyKind, KeyOutline, NodeOutline, Outline, OwnedKey, Record,
    TaskEntry, encode_keys, key_lines,
};
pub use petalflow_store::codec::{Cause, CodecError, DecisionKind, DecisionRecord};
pub(crate) use petalflow_store::document_version;
pub(crate) use petalflow_store::retention::{self, Retention};
pub(crate) use petalflow_store::settings::{self, Durability, OnBusy};
#[doc(inline)]
pub use petalflow_store::{
    Address, Attribute, AttributeCondition, AttributeConditionError, AttributeKind, AttributeTest,
    AttributeValue, Claim, InMemoryStore, PendingReleases, SEALED_MARKER, Store, StoreChange,
    StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadChange, ThreadCount, ThreadFilter,
    ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};
pub(crate) use petalflow_store::{
    AwaitedMessage, EVENT_LOG, INBOX, LINKS, Moment, RunClaim, STOPS, ThreadStorage, WriteName,
    inbox_of, is_inbox,
};
