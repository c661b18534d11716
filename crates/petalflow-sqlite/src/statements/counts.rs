//! What the rows of an address are compared with, so that a row that was deleted is missed.
//!
//! A thread that lost the record of an effect would have the effect again, and one that lost the newest checkpoint of a sub-flow would
//! run its nodes again.

use petalflow::checkpoint::Address;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::TransactionError;
use crate::integer::{read_integer, read_optional_integer, sql_integer};
use crate::log::damaged;

/// Whether the newest checkpoint of an address is in the table. That of a thread's own flow is not, because each append would write
/// one page more: it is compared with the one of the status. The loss of a log of events repeats nothing.
pub(crate) fn covers_newest(address: Address<'_>) -> bool {
    !address.namespace.is_empty() && !address.namespace.starts_with('/')
}

pub(crate) fn set_newest(
    connection: &Connection,
    address: Address<'_>,
    newest: u64,
) -> Result<(), TransactionError> {
    let set = "INSERT INTO counts (thread, namespace, newest) VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET newest = excluded.newest";
    let parameters = params![address.thread, address.namespace, sql_integer(newest)?];
    connection.prepare_cached(set)?.execute(parameters)?;
    Ok(())
}

pub(crate) fn add_writes(
    connection: &Connection,
    address: Address<'_>,
    added: usize,
) -> Result<(), TransactionError> {
    if added == 0 {
        return Ok(());
    }
    let add = "INSERT INTO counts (thread, namespace, writes) VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET writes = ifnull(writes, 0) + excluded.writes";
    let parameters = params![
        address.thread,
        address.namespace,
        sql_integer(added as u64)?
    ];
    connection.prepare_cached(add)?.execute(parameters)?;
    Ok(())
}

pub(crate) fn remove_writes(
    connection: &Connection,
    address: Address<'_>,
    removed: usize,
) -> Result<(), TransactionError> {
    if removed == 0 {
        return Ok(());
    }
    let remove =
        "UPDATE counts SET writes = ifnull(writes, 0) - ?3 WHERE thread = ?1 AND namespace = ?2";
    let parameters = params![
        address.thread,
        address.namespace,
        sql_integer(removed as u64)?
    ];
    connection.prepare_cached(remove)?.execute(parameters)?;
    Ok(())
}

/// Removes what is counted of an address that has no checkpoint any more.
pub(crate) fn forget_checkpoints(
    connection: &Connection,
    address: Address<'_>,
) -> Result<(), TransactionError> {
    for forget in [
        "UPDATE counts SET newest = NULL WHERE thread = ?1 AND namespace = ?2
            AND NOT EXISTS (SELECT 1 FROM addresses a WHERE a.thread = ?1 AND a.namespace = ?2)",
        "DELETE FROM counts WHERE thread = ?1 AND namespace = ?2 AND ifnull(writes, 0) = 0 AND newest IS NULL",
    ] {
        let mut forget = connection.prepare_cached(forget)?;
        forget.execute([address.thread, address.namespace])?;
    }
    Ok(())
}

pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    let delete = "DELETE FROM counts WHERE thread = ?1";
    connection.prepare_cached(delete)?.execute([thread])?;
    Ok(())
}

/// Checks that no write of an address is missing.
pub(crate) fn check_writes(
    connection: &Connection,
    address: Address<'_>,
) -> Result<(), TransactionError> {
    let stored = "SELECT count(*) FROM records WHERE thread = ?1 AND namespace = ?2";
    let mut stored = connection.prepare_cached(stored)?;
    let stored = stored.query_row([address.thread, address.namespace], |row| {
        read_integer(row, 0)
    })?;
    let counted = "SELECT ifnull(writes, 0) FROM counts WHERE thread = ?1 AND namespace = ?2";
    let mut counted = connection.prepare_cached(counted)?;
    let counted = counted
        .query_row([address.thread, address.namespace], |row| {
            read_integer(row, 0)
        })
        .optional()?
        .unwrap_or(0);
    if stored == counted {
        return Ok(());
    }
    Err(damaged(
        address,
        &format!(
            "the table `counts` counts {counted} writes of it, and the table `records` has {stored}"
        ),
    ))
}

/// Checks that the newest checkpoint of a sub-flow is the last one that was appended.
pub(crate) fn check_newest(
    connection: &Connection,
    address: Address<'_>,
    found: Option<u64>,
) -> Result<(), TransactionError> {
    if !covers_newest(address) {
        return Ok(());
    }
    let newest = "SELECT newest FROM counts WHERE thread = ?1 AND namespace = ?2";
    let newest = connection
        .prepare_cached(newest)?
        .query_row([address.thread, address.namespace], |row| {
            read_optional_integer(row, 0)
        })
        .optional()?
        .flatten();
    match newest {
        // An earlier version has not stored it.
        None => Ok(()),
        newest if newest == found => Ok(()),
        Some(newest) => {
            let found = found.map_or("none".into(), |found| found.to_string());
            let problem = format!(
                "checkpoint {newest} is its newest in the table `counts`, and {found} in the table `log`"
            );
            Err(damaged(address, &problem))
        }
    }
}

/// The addresses whose writes are not as many as were counted, in words.
pub(crate) fn verify(connection: &Connection) -> Result<Vec<String>, TransactionError> {
    let differ = "SELECT thread, namespace, sum(counted), sum(stored) FROM (
            SELECT thread, namespace, ifnull(writes, 0) AS counted, 0 AS stored FROM counts
            UNION ALL SELECT thread, namespace, 0, count(*) FROM records GROUP BY thread, namespace
        ) GROUP BY thread, namespace HAVING sum(counted) <> sum(stored) ORDER BY thread, namespace";
    let mut differ = connection.prepare(differ)?;
    let problems = differ.query_map((), |row| {
        let (thread, namespace): (String, String) = (row.get(0)?, row.get(1)?);
        let (counted, stored): (i64, i64) = (row.get(2)?, row.get(3)?);
        Ok(format!(
            "thread `{thread}` had {counted} writes in the namespace `{namespace}`, and {stored} are stored; restore it from a backup"
        ))
    })?;
    Ok(problems.collect::<rusqlite::Result<_>>()?)
}
