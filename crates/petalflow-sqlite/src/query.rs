//! What is read of checkpoints, writes and threads.

use std::ops::Range;

use petalflow::TaskId;
use petalflow::checkpoint::{
    Address, Stored, StoredCheckpoint, StoredWrite, ThreadInfo, ThreadQuery,
};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::number::{loaded, span};
use crate::problem::Failure;

pub(crate) fn read(
    connection: &Connection,
    address: Address<'_>,
    seq: Option<u64>,
) -> Result<Option<Stored>, Failure> {
    let Some((_, most)) = span(&(0..seq.map_or(u64::MAX, |seq| seq.saturating_add(1)))) else {
        return Ok(None);
    };
    // One transaction, so that checkpoint and writes are of one moment. Dropping it ends it.
    let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let last = "SELECT seq, base FROM checkpoints WHERE thread = ?1 AND namespace = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT 1";
    let last = one(&moment, last, address, most, |row| {
        Ok((loaded(row, 0)?, loaded(row, 1)?))
    })?;
    let Some((found, base)) = last.filter(|(found, _)| seq.is_none_or(|seq| seq == *found)) else {
        return Ok(None);
    };
    let Some((first, last)) = span(&(base..found.saturating_add(1))) else {
        return Ok(None);
    };
    let chain = "SELECT seq, base, created_ms, bytes FROM checkpoints
        WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq";
    let chain = all(
        &moment,
        chain,
        params![address.thread, address.namespace, first, last],
        checkpoint,
    )?;
    let writes = writes(&moment, address, &(found..found.saturating_add(1)))?;
    Ok(Some(Stored {
        chain,
        writes: writes.into_iter().map(|(_, write)| write).collect(),
    }))
}

pub(crate) fn writes(
    connection: &Connection,
    address: Address<'_>,
    seqs: &Range<u64>,
) -> Result<Vec<(u64, StoredWrite)>, Failure> {
    let Some((first, last)) = span(seqs) else {
        return Ok(Vec::new());
    };
    let writes = "SELECT seq, task, name, bytes FROM writes
        WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq, task, name";
    all(
        connection,
        writes,
        params![address.thread, address.namespace, first, last],
        |row| {
            let write = StoredWrite {
                task: TaskId::from_bytes(row.get(1)?),
                name: row.get(2)?,
                bytes: row.get(3)?,
            };
            Ok((loaded(row, 0)?, write))
        },
    )
}

pub(crate) fn history(
    connection: &Connection,
    address: Address<'_>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<StoredCheckpoint>, Failure> {
    let Some((_, last)) = span(&(0..before.unwrap_or(u64::MAX))) else {
        return Ok(Vec::new());
    };
    let history = "SELECT seq, base, created_ms, bytes FROM checkpoints
        WHERE thread = ?1 AND namespace = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT ?4";
    all(
        connection,
        history,
        params![
            address.thread,
            address.namespace,
            last,
            at_most(Some(limit))
        ],
        checkpoint,
    )
}

pub(crate) fn namespaces(connection: &Connection, thread: &str) -> Result<Vec<String>, Failure> {
    // From one namespace to the next by the key: a thread of a million checkpoints in one namespace is two look-ups.
    let namespaces = "
        WITH RECURSIVE
            beside (namespace) AS (
                SELECT min(namespace) FROM checkpoints WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(c.namespace) FROM checkpoints c WHERE c.thread = ?1 AND c.namespace > beside.namespace)
                FROM beside WHERE beside.namespace IS NOT NULL
            ),
            waiting (namespace) AS (
                SELECT min(namespace) FROM writes WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(w.namespace) FROM writes w WHERE w.thread = ?1 AND w.namespace > waiting.namespace)
                FROM waiting WHERE waiting.namespace IS NOT NULL
            )
        SELECT namespace FROM beside WHERE namespace IS NOT NULL
        UNION
        SELECT namespace FROM waiting WHERE namespace IS NOT NULL
        ORDER BY namespace";
    all(connection, namespaces, [thread], |row| row.get(0))
}

pub(crate) fn threads(
    connection: &Connection,
    query: ThreadQuery<'_>,
) -> Result<Vec<ThreadInfo>, Failure> {
    // Text compares by bytes here; a range is served by the key, which no pattern would be.
    let threads = "SELECT thread, count(*), sum(length(bytes)), max(created_ms) FROM checkpoints
        WHERE thread >= ?1 AND (?2 IS NULL OR thread < ?2) AND (?3 IS NULL OR thread > ?3)
        GROUP BY thread ORDER BY thread LIMIT ?4";
    // The later of the two bounds goes into the one that the key serves.
    let from = query
        .after
        .map_or(query.prefix, |after| after.max(query.prefix));
    let parameters = params![
        from,
        beyond(query.prefix),
        query.after,
        at_most(query.limit)
    ];
    all(connection, threads, parameters, |row| {
        Ok(ThreadInfo {
            id: row.get(0)?,
            checkpoints: loaded(row, 1)?,
            bytes: loaded(row, 2)?,
            updated_ms: loaded(row, 3)?,
        })
    })
}

/// The first text after all that begin with the prefix, in the order of bytes, if there is one.
fn beyond(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        // The next character; a range of `char` steps over the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

fn at_most(limit: Option<usize>) -> i64 {
    limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<StoredCheckpoint> {
    Ok(StoredCheckpoint {
        seq: loaded(row, 0)?,
        base: loaded(row, 1)?,
        created_ms: loaded(row, 2)?,
        bytes: row.get(3)?,
    })
}

fn one<T>(
    connection: &Connection,
    sql: &str,
    address: Address<'_>,
    most: i64,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, Failure> {
    let rows = all(
        connection,
        sql,
        params![address.thread, address.namespace, most],
        read,
    )?;
    Ok(rows.into_iter().next())
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(parameters, |row| read(row))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn what_lies_beyond_a_prefix() {
        let max = char::MAX;
        for (prefix, expected) in [
            ("", None),
            ("a", Some("b")),
            ("az", Some("a{")),
            ("a\u{d7ff}", Some("a\u{e000}")),
            (&format!("a{max}{max}"), Some("b")),
            (&format!("{max}"), None),
        ] {
            assert_eq!(beyond(prefix).as_deref(), expected, "beyond {prefix:?}");
        }
    }
}
