//! The statements about what is listed of threads, and about many threads at once.

use std::collections::BTreeMap;

use petalflow::checkpoint::{Address, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus};
use rusqlite::types::ValueRef;
use rusqlite::{
    Connection, OptionalExtension, Row, Statement, Transaction, TransactionBehavior, params,
};

use super::claims;
use crate::error::{TransactionError, is_conversion_error};
use crate::integer::{read_integer, read_optional_integer, sql_integer};
use crate::log;

/// The number of free pages that one transaction returns to the file system. Other writes wait for the transaction.
const PAGES_AT_ONCE: i64 = 1_000;

/// The newest checkpoint of a thread's own flow. With it, a status holds until the next one.
const NEWEST: &str = "(SELECT first + (id & 0xffffffff) + span FROM addresses JOIN log ON id BETWEEN number << 32 AND (number << 32) + 0xffffffff
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
                "INSERT INTO threads (thread, at, status, flow, due_ms) VALUES (?1, {NEWEST}, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET at = excluded.at, status = excluded.status, flow = excluded.flow, due_ms = excluded.due_ms"
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

/// Stores when the first checkpoint of a thread was created, and counts a segment of it.
pub(crate) fn record_creation(
    connection: &Connection,
    thread: &str,
    created_ms: u64,
) -> Result<(), TransactionError> {
    let keep = "INSERT INTO threads (thread, created_ms, segments) VALUES (?1, ?2, 1)
        ON CONFLICT DO UPDATE SET created_ms = min(ifnull(created_ms, ?2), ?2), segments = ifnull(segments, 0) + 1";
    connection
        .prepare_cached(keep)?
        .execute(params![thread, sql_integer(created_ms)?])?;
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
    delete_from(connection, "labels", thread)
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

pub(crate) fn threads(
    connection: &Connection,
    query: ThreadQuery<'_>,
) -> Result<Vec<ThreadInfo>, TransactionError> {
    // One transaction, so that threads and labels are of one snapshot. Dropping it ends it.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let parameters = params![
        from(&query),
        query.prefix_end(),
        query.after,
        query.flow,
        query.status.map(ThreadStatus::as_str),
        query.label.map(|(name, _)| name),
        query.label.map(|(_, value)| value),
        query
            .updated_before_ms
            .and_then(|time| i64::try_from(time).ok()),
        query.due_by_ms.map(clamp),
    ];
    let is_rare = query.status.map(|status| is_rare(&snapshot, status));
    let is_rare = is_rare.transpose()?.unwrap_or_default();
    let mut statement = snapshot.prepare_cached(&select_threads(&query, is_rare))?;
    let mut rows = statement.query(parameters)?;
    let mut labels = snapshot.prepare_cached("SELECT name, value FROM labels WHERE thread = ?1")?;
    let mut infos = Vec::new();
    let is_full = |infos: &Vec<ThreadInfo>| query.limit.is_some_and(|it| infos.len() >= it);
    while !is_full(&infos)
        && let Some(row) = rows.next()?
    {
        let id = text_of(row, 0)?;
        let listed = listed(&snapshot, row, &mut labels);
        let info = match listed.map_err(|error| names_thread(error, &id)) {
            Ok(info) => info,
            Err(TransactionError::Refused(error)) => {
                infos.push(ThreadInfo::of_damage(error).map_err(TransactionError::Refused)?);
                continue;
            }
            Err(error) => return Err(error),
        };
        // Of a thread whose status does not hold, the statement has not compared the status and the due time.
        let has_status = query.status.is_none_or(|status| status == info.status);
        let is_due = query
            .due_by_ms
            .is_none_or(|time| info.due_ms.is_some_and(|due| due <= time));
        if has_status && is_due {
            infos.push(info);
        }
    }
    let last = infos.last().filter(|_| is_full(&infos));
    let last = last.map(|last| last.id.clone());
    let lost = lost_threads(&snapshot, &query, last.as_deref(), is_rare)?;
    infos.retain(|info| !lost.iter().any(|lost| lost.id == info.id));
    infos.extend(lost);
    infos.sort_by(|one, other| one.id.cmp(&other.id));
    infos.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(infos)
}

/// The threads up to the last one of a page whose rows of the tables `addresses` or `log` are gone. The statement that lists threads
/// joins these tables, so it finds no such thread.
fn lost_threads(
    connection: &Connection,
    query: &ThreadQuery<'_>,
    last: Option<&str>,
    status_is_rare: bool,
) -> Result<Vec<ThreadInfo>, TransactionError> {
    let within = indexed_conditions(query, status_is_rare);
    let of_thread = within.replace("a.thread", "t.thread");
    let range = "{t} >= ?1 AND {t} <> '' AND (?2 IS NULL OR {t} < ?2) AND (?3 IS NULL OR {t} > ?3) AND (?10 IS NULL OR {t} <= ?10)";
    let (of_threads, of_addresses) = (
        range.replace("{t}", "t.thread"),
        range.replace("{t}", "a.thread"),
    );
    // A thread that has begun has a time of creation, also without a status.
    let lost = format!(
        "SELECT t.thread AS id, 0 FROM threads t WHERE {of_threads} {of_thread} AND t.created_ms IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM addresses a WHERE a.thread = t.thread)
        UNION ALL SELECT DISTINCT a.thread AS id, 1 FROM addresses a WHERE {of_addresses} {within}
            AND NOT EXISTS (SELECT 1 FROM log c WHERE c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff)"
    );
    let mut lost = connection.prepare_cached(&lost)?;
    let mut rows = lost.query(params![
        from(query),
        query.prefix_end(),
        query.after,
        query.flow,
        query.status.map(ThreadStatus::as_str),
        query.label.map(|(name, _)| name),
        query.label.map(|(_, value)| value),
        rusqlite::types::Null,
        query.due_by_ms.map(clamp),
        last,
    ])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let problem = if row.get(1)? {
            "a row of the table `addresses` names rows of the table `log`, which are missing"
        } else {
            "the table `threads` has a row of a thread with checkpoints, and the table `addresses` lacks a row of it"
        };
        let TransactionError::Refused(damage) =
            TransactionError::damaged(&text_of(row, 0)?, problem)
        else {
            continue;
        };
        found.push(ThreadInfo::of_damage(damage).map_err(TransactionError::Refused)?);
    }
    Ok(found)
}

/// The first id that a query may find. The index uses the greater of the two lower bounds.
fn from<'q>(query: &ThreadQuery<'q>) -> &'q str {
    query
        .after
        .map_or(query.prefix, |after| after.max(query.prefix))
}

fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The most threads of a status that are found by its index. The threads of a more frequent status are found soon in the order of
/// their ids, where the index would give all of them for each page.
const RARE: i64 = 1_000;

/// Whether few threads have the status.
fn is_rare(connection: &Connection, status: ThreadStatus) -> Result<bool, TransactionError> {
    let count = "SELECT count(*) FROM (SELECT 1 FROM threads WHERE status = ?1 LIMIT ?2 + 1)";
    let mut count = connection.prepare_cached(count)?;
    let found: i64 = count.query_row(params![status.as_str(), RARE], |row| row.get(0))?;
    Ok(found <= RARE)
}

/// The statement that lists threads. Its parameters are the conditions of the query.
fn select_threads(query: &ThreadQuery<'_>, status_is_rare: bool) -> String {
    let within = indexed_conditions(query, status_is_rare);
    let newest = NEWEST.replace("thread = ?1", "thread = a.thread");
    // Text compares by bytes here. A range uses the index, which a pattern would not. `total`, because a damaged number may be too
    // large for `sum`.
    format!(
        "SELECT * FROM (
            SELECT a.thread AS id, CAST(total(c.checkpoints) AS INTEGER), CAST(total(c.size) AS INTEGER),
                ifnull(t.created_ms, min(c.created_ms)), max(c.created_ms) AS updated_ms,
                ifnull(t.flow, '') AS flow, t.at IS {newest} AS holds,
                t.status AS status, t.due_ms AS due_ms, t.at AS at,
                min(ifnull(c.span BETWEEN 0 AND 0xffffffff AND c.checkpoints BETWEEN 1 AND 0xffffffff
                    AND c.size BETWEEN 0 AND 0xffffffff AND c.created_ms >= 0, 0)),
                ifnull(t.segments, 0) = (SELECT count(*) FROM addresses s WHERE s.thread = a.thread), ifnull(t.labels, 0)
            FROM addresses a JOIN log c ON c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
                LEFT JOIN threads t ON t.thread = a.thread
            WHERE a.thread >= ?1 AND a.thread <> '' AND (?2 IS NULL OR a.thread < ?2) AND (?3 IS NULL OR a.thread > ?3) {within}
            GROUP BY a.thread ORDER BY a.thread
        )
        WHERE (?4 IS NULL OR flow = ?4)
            AND (?5 IS NULL OR NOT holds OR ?5 = ifnull(status, 'running') OR {UNKNOWN_STATUS})
            AND (?6 IS NULL OR EXISTS (SELECT 1 FROM labels l WHERE l.name = ?6 AND l.value = ?7 AND l.thread = id))
            AND (?8 IS NULL OR updated_ms < ?8)
            AND (?9 IS NULL OR NOT holds OR due_ms <= ?9 OR {UNKNOWN_STATUS})"
    )
}

/// A text as far as it can be read, for an error.
fn text_of(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let bytes = match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => b"?",
    };
    Ok(String::from_utf8_lossy(bytes).into_owned())
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

/// That a status is none that this store writes. Such a thread is listed whatever its status is, as a damaged one. The ranges use the
/// index, whose order is that of the texts.
const UNKNOWN_STATUS: &str = "(status < 'failed' OR status > 'failed' AND status < 'finished'
    OR status > 'finished' AND status < 'held' OR status > 'held' AND status < 'running' OR status > 'running' AND status < 'sleeping'
    OR status > 'sleeping' AND status < 'stopped'
    OR status > 'stopped' AND status < 'waiting' OR status > 'waiting')";

fn unknown_status(thread: &str, status: &str) -> TransactionError {
    let problem = format!("its row of the table `threads` has the unknown status `{status}`");
    TransactionError::damaged(thread, &problem)
}

/// The conditions that an index can answer, so that checkpoints are counted only of the threads that fulfil them.
fn indexed_conditions(query: &ThreadQuery<'_>, status_is_rare: bool) -> String {
    // A thread without a row there is running.
    let status = query.status.filter(|it| *it != ThreadStatus::Running);
    let status = status.filter(|_| status_is_rare);
    let indexed = [
        status.map(|_| format!("SELECT thread FROM threads WHERE status = ?5 OR {UNKNOWN_STATUS}")),
        query
            .label
            .map(|_| "SELECT thread FROM labels WHERE name = ?6 AND value = ?7".into()),
        query
            .due_by_ms
            // All of them: the index begins with the status.
            .map(|_| {
                format!("SELECT thread FROM threads WHERE status IN ('running', 'sleeping', 'waiting', 'stopped', 'failed', 'finished', 'held') AND due_ms <= ?9 OR {UNKNOWN_STATUS}")
            }),
    ];
    let candidates: Vec<_> = indexed.into_iter().flatten().collect();
    if candidates.is_empty() {
        return String::new();
    }
    format!("AND a.thread IN ({})", candidates.join(" INTERSECT "))
}

/// Reads a row of the list, with the labels of its thread.
fn listed(
    connection: &Connection,
    row: &Row<'_>,
    labels: &mut Statement<'_>,
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
    let holds: bool = row.get(6)?;
    let at = read_optional_integer(row, 9)?;
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
    Ok(ThreadInfo {
        checkpoints: read_integer(row, 1)?,
        bytes: read_integer(row, 2)?,
        created_ms: read_integer(row, 3)?,
        updated_ms: read_integer(row, 4)?,
        flow: row.get(5)?,
        status: status.filter(|_| holds).unwrap_or_default(),
        due_ms: due_ms.filter(|_| holds),
        labels,
        id,
        damage: None,
    })
}
