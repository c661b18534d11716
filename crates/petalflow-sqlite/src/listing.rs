//! The statements about what is listed of threads, and about many threads at once.

use petalflow::checkpoint::{ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::error::TransactionError;
use crate::integer::{read_integer, sql_integer};

/// The number of free pages that one transaction returns to the file system. Other writes wait for the transaction.
const PAGES_AT_ONCE: i64 = 1_000;

/// The newest checkpoint of a thread's own flow. With it, a status holds until the next one.
const NEWEST: &str = "(SELECT first + (id & 0xffffffff) + span FROM addresses JOIN log ON id BETWEEN number << 32 AND (number << 32) + 0xffffffff
    WHERE thread = ?1 AND namespace = '' ORDER BY id DESC LIMIT 1)";

pub(crate) fn describe(
    connection: &Connection,
    thread: &str,
    change: ThreadChange<'_>,
) -> Result<(), TransactionError> {
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
        }
    }
    Ok(())
}

/// Stores when the first checkpoint of a thread was created.
pub(crate) fn record_creation(
    connection: &Connection,
    thread: &str,
    created_ms: u64,
) -> Result<(), TransactionError> {
    let keep = "INSERT INTO threads (thread, created_ms) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET created_ms = min(ifnull(created_ms, ?2), ?2)";
    connection
        .prepare_cached(keep)?
        .execute(params![thread, sql_integer(created_ms)?])?;
    Ok(())
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
    let within = indexed_conditions(&query);
    let newest = NEWEST.replace("thread = ?1", "thread = a.thread");
    // Text compares by bytes here. A range uses the index, which a pattern would not.
    let threads = format!(
        "SELECT * FROM (
            SELECT a.thread AS id, sum(c.checkpoints), sum(c.size),
                ifnull(t.created_ms, min(c.created_ms)), max(c.created_ms) AS updated_ms,
                ifnull(t.flow, '') AS flow, t.at IS {newest} AS holds,
                t.status AS status, t.due_ms AS due_ms
            FROM addresses a JOIN log c ON c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
                LEFT JOIN threads t ON t.thread = a.thread
            WHERE a.thread >= ?1 AND a.thread <> '' AND (?2 IS NULL OR a.thread < ?2) AND (?3 IS NULL OR a.thread > ?3) {within}
            GROUP BY a.thread ORDER BY a.thread
        )
        WHERE (?5 IS NULL OR ?5 = CASE WHEN holds THEN ifnull(status, 'running') ELSE 'running' END)
            AND (?6 IS NULL OR flow = ?6)
            AND (?7 IS NULL OR EXISTS (SELECT 1 FROM labels l WHERE l.name = ?7 AND l.value = ?8 AND l.thread = id))
            AND (?9 IS NULL OR updated_ms < ?9)
            AND (?10 IS NULL OR holds AND due_ms <= ?10)
        LIMIT ?4"
    );
    // The index uses the greater of the two lower bounds.
    let from = query
        .after
        .map_or(query.prefix, |after| after.max(query.prefix));
    let clamp = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let parameters = params![
        from,
        query.prefix_end(),
        query.after,
        query.limit.map_or(i64::MAX, |limit| clamp(limit as u64)),
        query.status.map(ThreadStatus::as_str),
        query.flow,
        query.label.map(|(name, _)| name),
        query.label.map(|(_, value)| value),
        query
            .updated_before_ms
            .and_then(|time| i64::try_from(time).ok()),
        query.due_by_ms.map(clamp),
    ];
    let mut statement = snapshot.prepare_cached(&threads)?;
    let rows = statement.query_map(parameters, thread_info)?;
    let mut infos = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut labels = snapshot.prepare_cached("SELECT name, value FROM labels WHERE thread = ?1")?;
    for info in &mut infos {
        let rows = labels.query_map([&info.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        info.labels = rows.collect::<rusqlite::Result<_>>()?;
    }
    Ok(infos)
}

/// The conditions that an index can answer, so that checkpoints are counted only of the threads that fulfil them.
fn indexed_conditions(query: &ThreadQuery<'_>) -> String {
    // A thread without a row there is running.
    let status = query.status.filter(|it| *it != ThreadStatus::Running);
    let indexed = [
        status.map(|_| "SELECT thread FROM threads WHERE status = ?5"),
        query
            .label
            .map(|_| "SELECT thread FROM labels WHERE name = ?7 AND value = ?8"),
        query
            .due_by_ms
            // All of them: the index begins with the status.
            .map(|_| "SELECT thread FROM threads WHERE status IN ('running', 'waiting', 'stopped', 'failed', 'finished') AND due_ms <= ?10"),
    ];
    let candidates: Vec<_> = indexed.into_iter().flatten().collect();
    if candidates.is_empty() {
        return String::new();
    }
    format!("AND a.thread IN ({})", candidates.join(" INTERSECT "))
}

fn thread_info(row: &Row<'_>) -> rusqlite::Result<ThreadInfo> {
    let holds: bool = row.get(6)?;
    let status: Option<String> = row.get(7)?;
    let due_ms = row.get::<_, Option<i64>>(8)?.map(i64::cast_unsigned);
    let status = status.as_deref().and_then(ThreadStatus::named);
    Ok(ThreadInfo {
        id: row.get(0)?,
        checkpoints: read_integer(row, 1)?,
        bytes: read_integer(row, 2)?,
        created_ms: read_integer(row, 3)?,
        updated_ms: read_integer(row, 4)?,
        flow: row.get(5)?,
        status: status.filter(|_| holds).unwrap_or_default(),
        due_ms: due_ms.filter(|_| holds),
        ..ThreadInfo::default()
    })
}
