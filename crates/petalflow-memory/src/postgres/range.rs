//! The part of a memory that a query is about.

use petalflow_postgres::database::tokio_postgres::types::ToSql;

use crate::Query;
use crate::entry::now_ms;
use crate::stored::{end_of_prefix, path, signed, sort_key};

/// The first and the last sort key of a query, and the time at which entries must be present: the first four parameters
/// of the statements over ranges.
pub(super) struct Range {
    from: Vec<u8>,
    includes_first: bool,
    before: Vec<u8>,
    now: i64,
}

impl Range {
    pub(super) fn of(query: &Query) -> Self {
        let prefix = path(&query.prefix);
        let before = end_of_prefix(&prefix);
        let now = signed(now_ms());
        let after = query.after.as_ref();
        let after = after.map(|after| sort_key(&after.namespace, &after.key));
        let (from, includes_first) = match after {
            Some(after) if after >= prefix => (after, false),
            _ => (prefix, true),
        };
        Range {
            from,
            includes_first,
            before,
            now,
        }
    }

    /// Continues after this sort key.
    pub(super) fn continue_after(&mut self, sort_key: Vec<u8>) {
        (self.from, self.includes_first) = (sort_key, false);
    }

    /// Its parameters, with these after them.
    pub(super) fn params<'a>(
        &'a self,
        more: &[&'a (dyn ToSql + Sync)],
    ) -> Vec<&'a (dyn ToSql + Sync)> {
        let mut params: Vec<&(dyn ToSql + Sync)> =
            vec![&self.from, &self.includes_first, &self.before, &self.now];
        params.extend(more);
        params
    }
}
