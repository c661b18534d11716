//! The part of a memory that a query is about.

use petalflow_postgres::database::tokio_postgres::types::ToSql;

use crate::Query;
use crate::entry::now_ms;
use crate::stored::{end_of_prefix, path, place, signed};

/// The places from which to which a query goes, and the time at which entries must be present. The first four
/// parameters of the statements over ranges.
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
        let after = after.map(|after| place(&after.namespace, &after.key));
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

    /// Goes on after this place.
    pub(super) fn go_on_after(&mut self, place: Vec<u8>) {
        (self.from, self.includes_first) = (place, false);
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
