//! The names of keys, and the encoding of numbers in sorted members.
//!
//! Threads are spread over shards. All keys of a shard have its number between braces: a Redis cluster stores keys with the same
//! text between braces on one server. A script therefore finds all keys of a thread, and the list of threads, on one server,
//! and the shards are spread over the servers.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// The number of shards. It is part of the layout: changing it means moving keys.
pub(crate) const SHARDS: u64 = 16;

/// All keys of a thread.
pub(crate) struct Keys {
    /// The ids of the shard's threads that have checkpoints, sorted by bytes.
    pub(crate) threads: String,
    /// For each thread: the number of its checkpoints, their bytes, the newest and the first time, and the newest number of
    /// its own flow, if it has one. Then `#` and the number of its writes, and `#` and whether it has a status (1) and labels (2),
    /// unless an earlier version has stored it.
    pub(crate) infos: String,
    /// For each thread: its status, with the flow and the due time.
    pub(crate) states: String,
    /// For each thread: its labels.
    pub(crate) labels: String,
    /// For each thread that has any: its search attributes.
    pub(crate) attributes: String,
    /// How many threads of the shard were deleted.
    pub(crate) deleted: String,
    /// The same number, and 1 if the shard has threads: what the other keys of the shard are compared with.
    pub(crate) totals: String,
    /// Namespace, NUL, number, base and time of each checkpoint, sorted by bytes.
    pub(crate) seqs: String,
    /// The bytes of each checkpoint, by namespace, NUL and number.
    pub(crate) bytes: String,
    /// Namespace, NUL, number, task and name of each write, sorted by bytes.
    pub(crate) marks: String,
    /// The bytes of each write.
    pub(crate) values: String,
    /// The namespaces that hold a checkpoint or a write, sorted by bytes.
    pub(crate) namespaces: String,
    /// The owner of the claim.
    pub(crate) claim: String,
}

impl Keys {
    pub(crate) fn new(prefix: &str, thread: &str) -> Self {
        let shard = shard_of(thread);
        let [threads, infos, states, labels, attributes, deleted, totals] =
            list_keys(prefix, shard);
        let key = |what: &str| format!("{prefix}{{{shard}}}:{what}:{thread}");
        Keys {
            threads,
            infos,
            states,
            labels,
            attributes,
            deleted,
            totals,
            seqs: key("seqs"),
            bytes: key("bytes"),
            marks: key("marks"),
            values: key("values"),
            namespaces: key("namespaces"),
            claim: claim_key(prefix, thread),
        }
    }

    /// All keys, in the order in which the scripts take them: those of the shard, and those of the thread.
    pub(crate) fn all(&self) -> Vec<&str> {
        let of_shard = [
            &self.threads,
            &self.infos,
            &self.states,
            &self.labels,
            &self.attributes,
            &self.deleted,
            &self.totals,
        ];
        let of_shard = of_shard.into_iter().map(String::as_str);
        of_shard.chain(self.of_thread()).collect()
    }

    /// The keys of checkpoints and writes, and that of the claim, in the order in which the scripts take them.
    pub(crate) fn of_thread(&self) -> [&str; 6] {
        [
            &self.seqs,
            &self.bytes,
            &self.marks,
            &self.values,
            &self.namespaces,
            &self.claim,
        ]
    }
}

/// The keys of a shard, in the order in which the scripts take them: the ids of its threads, what is listed of each, and the numbers
/// with which the lists are compared.
pub(crate) fn list_keys(prefix: &str, shard: u64) -> [String; 7] {
    [
        "threads",
        "infos",
        "states",
        "labels",
        "attributes",
        "deleted",
        "totals",
    ]
    .map(|what| format!("{prefix}{{{shard}}}:{what}"))
}

pub(crate) fn claim_key(prefix: &str, thread: &str) -> String {
    format!("{prefix}{{{}}}:claim:{thread}", shard_of(thread))
}

pub(crate) fn layout_key(prefix: &str) -> String {
    format!("{prefix}layout")
}

/// Uses a published hash function with fixed keys, because the result must not change between builds.
pub(crate) fn shard_of(thread: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(thread.as_bytes());
    hasher.finish() % SHARDS
}

/// The number of digits of an encoded number.
pub(crate) const DIGITS: usize = 20;

/// A number as text that sorts as the number does. Scripts only compare and cut such texts, because numbers in Lua are floats.
pub(crate) fn digits(number: u64) -> String {
    format!("{number:020}")
}

#[cfg(test)]
mod tests {
    use super::{digits, shard_of};

    #[test]
    fn shards_are_part_of_the_layout() {
        let shards = ["", "essay", "essay-42", "\u{10ffff}"].map(shard_of);
        assert_eq!(shards, EXPECTED_SHARDS, "stored threads would not be found");
    }

    const EXPECTED_SHARDS: [u64; 4] = [12, 7, 9, 4];

    #[test]
    fn numbers_sort_as_text() {
        assert!(digits(9) < digits(10) && digits(10) < digits(u64::MAX));
        assert_eq!(digits(u64::MAX).len(), super::DIGITS);
    }
}
