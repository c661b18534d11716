//! The statements about what is listed of threads, and about many threads at once.

use std::collections::BTreeMap;

use petalflow::checkpoint::{Address, ThreadChange, ThreadCount, ThreadInfo, ThreadStatus};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{
    Connection, OptionalExtension, Row, Statement, ToSql, Transaction, TransactionBehavior, params,
};

use super::index::{Listing, latest};
use super::{attributes, claims};
use crate::error::{TransactionError, is_conversion_error};
use crate::integer::{read_integer, read_optional_integer, sql_integer};
use crate::log;

/// The number of free pages that one transaction returns to the file system. Other writes wait for the transaction.
const PAGES_AT_ONCE: i64 = 1_000;

/// The newest checkpoint of a thread's own flow. With it, a status holds until the next one.
const NEWEST: &str = "(SELECT first + (id & 0xffffffff) + reach FROM addresses JOIN log ON id BETWEEN number << 32 AND (number << 32) + 0xffffffff
    WHERE thread = ?1 AND namespace = '' ORDER BY id DESC LIMIT 1)";

pub(crate) fn describe(
    connection: &Connection,
    thread: &str,
    change: ThreadChange<'_>,
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, thread, owner)?;
    match change {
        ThreadChange::Status {
            flow,
            status,
            due_ms,
        } => {
            let set = format!(
                "INSERT INTO threads (thread, at, status, flow, due_ms, updated_ms) VALUES (?1, {NEWEST}, ?2, ?3, ?4, {})
                ON CONFLICT DO UPDATE SET at = excluded.at, status = excluded.status, flow = excluded.flow,
                    due_ms = excluded.due_ms, updated_ms = excluded.updated_ms",
                latest("?1")
            );
            let due_ms = due_ms.map(sql_integer).transpose()?;
            let parameters = params![thread, status.as_str(), flow, due_ms];
            connection.prepare_cached(&set)?.execute(parameters)?;
        }
        ThreadChange::Labels(labels) => {
            delete_from(connection, "labels", thread)?;
            let add = "INSERT INTO labels (name, value, thread) VALUES (?1, ?2, ?3)";
            let mut add = connection.prepare_cached(add)?;
            for (name, value) in labels {
                add.execute(params![name, value, thread])?;
            }
            let count = "INSERT INTO threads (thread, labels) VALUES (?1, ?2)
                ON CONFLICT DO UPDATE SET labels = excluded.labels";
            let parameters = params![thread, sql_integer(labels.len() as u64)?];
            connection.prepare_cached(count)?.execute(parameters)?;
        }
    }
    Ok(())
}

/// Stores when the first checkpoint of a thread was created, and counts its new segment. A thread that rests stays in the index with
/// the time of its newest checkpoint, unless the checkpoint ends its status; one that runs is in it with its first checkpoint only.
pub(crate) fn record_creation(
    connection: &Connection,
    address: Address<'_>,
    created_ms: u64,
) -> Result<(), TransactionError> {
    let latest = latest("?1");
    let keep = format!(
        "INSERT INTO threads (thread, created_ms, segments, updated_ms) VALUES (?1, ?2, 1, ?2)
        ON CONFLICT DO UPDATE SET created_ms = min(ifnull(created_ms, ?2), ?2), segments = ifnull(segments, 0) + 1,
            updated_ms = CASE WHEN status IS NOT NULL AND ?3 OR created_ms IS NOT NULL AND (updated_ms IS NULL OR status IS NULL)
                THEN NULL ELSE {latest} END"
    );
    let parameters = params![
        address.thread,
        sql_integer(created_ms)?,
        address.namespace.is_empty()
    ];
    connection.prepare_cached(&keep)?.execute(parameters)?;
    Ok(())
}

/// Lets the index follow a checkpoint that is not the first of its segment. A checkpoint of the thread's own flow ends the status, and
/// so does every checkpoint of a thread that has none: the thread runs, and its time is not in the index until a status is set.
pub(crate) fn record_change(
    connection: &Connection,
    address: Address<'_>,
) -> Result<(), TransactionError> {
    let latest = latest("?1");
    let follow = format!(
        "UPDATE threads SET updated_ms = CASE WHEN ?2 OR status IS NULL THEN NULL ELSE {latest} END
        WHERE thread = ?1 AND updated_ms IS NOT NULL AND (?2 OR status IS NULL OR updated_ms IS NOT {latest})"
    );
    let parameters = params![address.thread, address.namespace.is_empty()];
    connection.prepare_cached(&follow)?.execute(parameters)?;
    Ok(())
}

/// Lets the index follow a prune, which may have removed the newest checkpoint of a sub-flow.
pub(crate) fn record_prune(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    let follow = format!(
        "UPDATE threads SET updated_ms = {} WHERE thread = ?1 AND updated_ms IS NOT NULL",
        latest("?1")
    );
    connection.prepare_cached(&follow)?.execute([thread])?;
    Ok(())
}

/// Removes what tells that a thread has checkpoints, as far as it has none any more: as many segments were `emptied`.
pub(crate) fn forget_checkpoints(
    connection: &Connection,
    thread: &str,
    emptied: usize,
) -> Result<(), TransactionError> {
    let count = "UPDATE threads SET segments = ifnull(segments, 0) - ?2 WHERE thread = ?1";
    let parameters = params![thread, sql_integer(emptied as u64)?];
    connection.prepare_cached(count)?.execute(parameters)?;
    let addresses = "SELECT 1 FROM addresses WHERE thread = ?1";
    let own = format!("{addresses} AND namespace = ''");
    for (set, without) in [
        ("created_ms = NULL", addresses),
        ("at = NULL, status = NULL, due_ms = NULL", &own),
    ] {
        let forget =
            format!("UPDATE threads SET {set} WHERE thread = ?1 AND NOT EXISTS ({without})");
        connection.prepare_cached(&forget)?.execute([thread])?;
    }
    Ok(())
}

/// Counts a thread that is deleted, in the rows without a thread of two tables, so that the loss of one is noticed.
pub(crate) fn count_deletion(connection: &Connection) -> Result<(), TransactionError> {
    let count = "INSERT INTO threads (thread, created_ms) VALUES ('', 1)
        ON CONFLICT DO UPDATE SET created_ms = created_ms + 1";
    connection.prepare_cached(count)?.execute(())?;
    let count = "UPDATE addresses SET first = first + 1 WHERE thread = ''";
    connection.prepare_cached(count)?.execute(())?;
    Ok(())
}

/// How many threads were deleted. An error names the `thread` that begins.
pub(crate) fn deletions(connection: &Connection, thread: &str) -> Result<u64, TransactionError> {
    let count = |count: &str| -> Result<_, TransactionError> {
        let mut count = connection.prepare_cached(count)?;
        Ok(count.query_row((), |row| read_integer(row, 0)).optional()?)
    };
    let found = count("SELECT created_ms FROM threads WHERE thread = ''")?.unwrap_or(0);
    let again = count("SELECT first FROM addresses WHERE thread = ''")?;
    // Without the row in the table `addresses`, no thread can begin.
    match again {
        Some(again) if again != found => Err(TransactionError::damaged(
            thread,
            &format!(
                "the rows without a thread of the tables `threads` and `addresses` count {found} and {again} threads that were deleted"
            ),
        )),
        _ => Ok(found),
    }
}

/// Removes what is listed of a thread.
pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    delete_from(connection, "threads", thread)?;
    delete_from(connection, "labels", thread)?;
    delete_from(connection, "attributes", thread)
}

fn delete_from(connection: &Connection, table: &str, thread: &str) -> Result<(), TransactionError> {
    let delete = format!("DELETE FROM {table} WHERE thread = ?1");
    connection.prepare_cached(&delete)?.execute([thread])?;
    Ok(())
}

/// Moves pages into free ones, and truncates the file. Returns how many free pages are left.
pub(crate) fn reclaim_pages(connection: &Connection) -> Result<i64, TransactionError> {
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut rows = vacuum.query(())?;
    while rows.next()?.is_some() {}
    // Of a file that does not record the owners of pages, none can be given back.
    let recorded: i64 = connection.query_row("PRAGMA auto_vacuum", (), |row| row.get(0))?;
    if recorded == 0 {
        return Ok(0);
    }
    Ok(connection.query_row("PRAGMA freelist_count", (), |row| row.get(0))?)
}

/// The threads of a page. What is listed of each is compared with its checkpoints.
pub(crate) fn threads(
    connection: &Connection,
    listing: &Listing,
) -> Result<Vec<ThreadInfo>, TransactionError> {
    // One transaction, so that threads and labels are of one snapshot. Dropping it ends it.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let places = listing.places(&snapshot)?;
    let mut read = snapshot.prepare_cached(&select_thread())?;
    let mut labels = snapshot.prepare_cached("SELECT name, value FROM labels WHERE thread = ?1")?;
    let have_attributes = attributes::are_used(&snapshot)?;
    let mut infos = Vec::with_capacity(places.len());
    for place in places {
        let id = String::from_utf8_lossy(&place.id).into_owned();
        let mut rows = read.query([Id(&place.id)])?;
        let listed = match rows.next()? {
            Some(row) => listed(&snapshot, row, &mut labels, have_attributes),
            None => Err(lost(&snapshot, &id)?),
        };
        infos.push(match listed.map_err(|error| names_thread(error, &id)) {
            Ok(info) => info,
            Err(TransactionError::Refused(error)) => ThreadInfo {
                // The place in the order, so that a page can begin after it.
                created_ms: place.time_ms,
                updated_ms: place.time_ms,
                ..ThreadInfo::of_damage(error).map_err(TransactionError::Refused)?
            },
            Err(error) => return Err(error),
        });
    }
    Ok(infos)
}

/// How many threads of each flow have each status.
pub(crate) fn counts(
    connection: &Connection,
    listing: &Listing,
) -> Result<Vec<ThreadCount>, TransactionError> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    listing.counts(&snapshot)
}

/// The error of a thread without rows of the table `addresses` or `log`.
fn lost(connection: &Connection, thread: &str) -> Result<TransactionError, TransactionError> {
    let mut has_addresses =
        connection.prepare_cached("SELECT 1 FROM addresses WHERE thread = ?1")?;
    let problem = if has_addresses.exists([thread])? {
        LACKS_LOG
    } else {
        "the table `threads` has a row of a thread with checkpoints, and the table `addresses` lacks a row of it"
    };
    Ok(TransactionError::damaged(thread, problem))
}

const LACKS_LOG: &str =
    "a row of the table `addresses` names rows of the table `log`, which are missing";

/// An id as it is stored, which a damaged file may have in bytes that are no text.
struct Id<'a>(&'a [u8]);

impl ToSql for Id<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// The statement that reads what is listed of a thread. Its parameter is the id.
fn select_thread() -> String {
    // `total`, because a damaged number may be too large for `sum`.
    format!(
        "SELECT a.thread, CAST(total(c.checkpoints) AS INTEGER), CAST(total(c.size) AS INTEGER),
            ifnull(t.created_ms, min(c.created_ms)), {},
            ifnull(t.flow, ''), t.at IS {NEWEST}, t.status, t.due_ms, t.at,
            min(ifnull(c.reach BETWEEN 0 AND 0xffffffff AND c.checkpoints BETWEEN 1 AND 0xffffffff
                AND c.size BETWEEN 0 AND 0xffffffff AND c.created_ms >= 0, 0)),
            ifnull(t.segments, 0) = (SELECT count(*) FROM addresses s WHERE s.thread = ?1), ifnull(t.labels, 0),
            t.updated_ms,
            EXISTS (SELECT 1 FROM addresses s WHERE s.thread = ?1
                AND NOT EXISTS (SELECT 1 FROM log r WHERE r.id BETWEEN s.number << 32 AND (s.number << 32) + 0xffffffff))
        FROM addresses a JOIN log c ON c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
            LEFT JOIN threads t ON t.thread = a.thread
        WHERE a.thread = ?1 GROUP BY a.thread",
        latest("?1")
    )
}

/// The error of a value that is listed of a thread.
fn names_thread(error: TransactionError, thread: &str) -> TransactionError {
    match error {
        TransactionError::Sql(error) if is_conversion_error(&error) => TransactionError::damaged(
            thread,
            &format!("what is listed of it has a value of the wrong type ({error})"),
        ),
        error => error,
    }
}

fn unknown_status(thread: &str, status: &str) -> TransactionError {
    let problem = format!("its row of the table `threads` has the unknown status `{status}`");
    TransactionError::damaged(thread, &problem)
}

/// Reads a row of the list, with the labels and attributes of its thread.
fn listed(
    connection: &Connection,
    row: &Row<'_>,
    labels: &mut Statement<'_>,
    have_attributes: bool,
) -> Result<ThreadInfo, TransactionError> {
    let id: String = row.get(0)?;
    let is_damaged = |problem: &str| Err(TransactionError::damaged(&id, problem));
    if !row.get::<_, bool>(10)? {
        return is_damaged("a row of the table `log` has an impossible number");
    }
    if !row.get::<_, bool>(11)? {
        return is_damaged(
            "the table `threads` lacks its row, or counts another number of its rows in the table `addresses`",
        );
    }
    if row.get(14)? {
        return is_damaged(LACKS_LOG);
    }
    let updated_ms = read_integer(row, 4)?;
    let indexed_ms = read_optional_integer(row, 13)?;
    if indexed_ms.is_some_and(|indexed_ms| indexed_ms != updated_ms) {
        return is_damaged(
            "its row of the table `threads` has another time than its newest checkpoint",
        );
    }
    let is_newest: bool = row.get(6)?;
    let at = read_optional_integer(row, 9)?;
    if indexed_ms.is_some() && row.get_ref(7)? != ValueRef::Null && !is_newest {
        return is_damaged("its status is not that of its newest checkpoint");
    }
    let holds = is_newest && indexed_ms.is_some();
    if let (false, Some(at)) = (holds, at) {
        // Few threads are running. Of these the end of the log is read, because a damaged number would look the same.
        if let Some(tail) = log::tail(connection, Address::root(&id))?
            && tail.newest < at
        {
            return is_damaged(&format!(
                "its status is that of checkpoint {at}, and checkpoint {} is the newest",
                tail.newest
            ));
        }
    }
    let status = match row.get::<_, Option<String>>(7)? {
        Some(status) => {
            Some(ThreadStatus::named(&status).ok_or_else(|| unknown_status(&id, &status))?)
        }
        None if at.is_some() => return is_damaged("its row of the table `threads` has no status"),
        None => None,
    };
    let due_ms = read_optional_integer(row, 8)?;
    let labels = labels.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let labels: BTreeMap<String, String> = labels.collect::<rusqlite::Result<_>>()?;
    if row.get::<_, Option<i64>>(12)? != i64::try_from(labels.len()).ok() {
        return is_damaged("the table `threads` counts another number of its labels");
    }
    let attributes = if have_attributes {
        attributes::of_thread(connection, &id)?
    } else {
        BTreeMap::new()
    };
    Ok(ThreadInfo {
        checkpoints: read_integer(row, 1)?,
        bytes: read_integer(row, 2)?,
        created_ms: read_integer(row, 3)?,
        updated_ms,
        flow: row.get(5)?,
        status: status.filter(|_| holds).unwrap_or_default(),
        due_ms: due_ms.filter(|_| holds),
        labels,
        attributes,
        id,
        damage: None,
    })
}
