//! The statements. Each call of the store except `apply` is one statement, and a statement is atomic.
//!
//! The isolation level is `read committed`: a statement that waited for a row that another transaction changed sees the changed
//! row. The check in [`APPEND_FIRST`] and [`APPEND_AFTER`] between processes needs this.
//!
//! Triggers on `lines` change the index of threads: see the layout.

/// Whether the owner in a parameter may write to thread `$1`: there is none, or it has the claim. The lock on the row of the claim
/// is held to the end of the statement, so no other owner can get the claim in between.
macro_rules! held {
    ($owner:literal) => {
        concat!(
            "held AS MATERIALIZED (
        SELECT FROM claims WHERE thread = $1 AND owner = ",
            $owner,
            " FOR SHARE
    ), may_write AS MATERIALIZED (
        SELECT WHERE ",
            $owner,
            "::text IS NULL OR EXISTS (SELECT FROM held)
    )"
        )
    };
}

/// Whether the owner in a parameter may change the checkpoints of thread `$1`. No status is set to the end of the transaction.
macro_rules! shared {
    ($owner:literal) => {
        concat!(
            held!($owner),
            ", may_change AS MATERIALIZED (
        SELECT pg_advisory_xact_lock_shared(thread_lock($1)) FROM may_write
    )"
        )
    };
}

/// How many of the writes of a line are removed, whose numbers are between two others. The rows that are deleted by the same
/// statement are these.
macro_rules! without {
    ($line:literal, $first:literal, $last:literal) => {
        concat!(
            $line,
            ".writes - (SELECT count(*) FROM task_writes WHERE task_writes.line = ",
            $line,
            ".id
                AND task_writes.seq BETWEEN ",
            $first,
            " AND ",
            $last,
            ")"
        )
    };
}

/// The numbers that a read compares, to notice that rows are missing. `counts` has the writes and the lines, as they were counted and
/// as they are stored; the lines are compared with the thread's own flow.
macro_rules! head {
    () => {
        "SELECT line.id, line.newest, described.status_at,
            (SELECT max(seq) FROM checkpoints WHERE checkpoints.line = line.id) AS last,
            ARRAY[
                COALESCE(line.writes, 0), (SELECT count(*) FROM task_writes WHERE task_writes.line = line.id),
                CASE WHEN $2 = '' AND described.thread IS NOT NULL
                    THEN (SELECT count(*) FROM known_lines AS own WHERE own.thread = $1) ELSE 0 END,
                CASE WHEN $2 = '' THEN (SELECT count(*) FROM lines AS own WHERE own.thread = $1) ELSE 0 END
            ] AS counts
        FROM (SELECT $1::text AS thread, $2::text AS namespace) AS wanted
            LEFT JOIN lines AS line USING (thread, namespace)
            LEFT JOIN threads AS described ON described.thread = $1 AND $2 = ''"
    };
}

/// `$1` thread, `$2` namespace, `$3` number, `$4` base, `$5` time, `$6` bytes, `$7` to `$8` settled numbers, `$9` null or the owner.
/// No row means that the claim is lost, a conflict, or that the line is damaged.
pub(crate) const APPEND_FIRST: &str = concat!(
    "WITH ", shared!("$9"), ", head AS (
        INSERT INTO lines AS line (thread, namespace, newest, updated_ms) SELECT $1, $2, $3, $5 FROM may_change
        ON CONFLICT (thread, namespace) DO UPDATE SET newest = excluded.newest, updated_ms = excluded.updated_ms,
            writes = ", without!("line", "$7", "$8"), "
        WHERE line.newest IS NULL AND NOT EXISTS (SELECT FROM checkpoints WHERE line = line.id)
        RETURNING line.id
    ), appended AS (
        INSERT INTO checkpoints (line, seq, chain_from, created_ms, bytes) SELECT id, $3, $4, $5, $6 FROM head
    ), settled AS (
        DELETE FROM task_writes USING head WHERE task_writes.line = head.id AND task_writes.seq BETWEEN $7 AND $8
    )
    SELECT id FROM head"
);

/// Like [`APPEND_FIRST`], with `$10`, the newest number that the caller knows.
pub(crate) const APPEND_AFTER: &str = concat!(
    "WITH ", shared!("$9"), ", head AS (
        UPDATE lines SET newest = $3, updated_ms = $5, writes = ", without!("lines", "$7", "$8"), " FROM may_change WHERE thread = $1 AND namespace = $2 AND newest = $10
            AND NOT EXISTS (SELECT FROM checkpoints WHERE line = lines.id AND seq > $10)
        RETURNING id
    ), appended AS (
        INSERT INTO checkpoints (line, seq, chain_from, created_ms, bytes) SELECT id, $3, $4, $5, $6 FROM head
    ), settled AS (
        DELETE FROM task_writes USING head WHERE task_writes.line = head.id AND task_writes.seq BETWEEN $7 AND $8
    )
    SELECT id FROM head"
);

/// `$1` thread, `$2` namespace. One row: the newest checkpoint of the line, the newest that is stored, and, for the thread's own
/// flow, the one for which its status was set.
pub(crate) const HEAD: &str = concat!(
    "SELECT newest, last, status_at, counts FROM (",
    head!(),
    ") AS head"
);

/// `$1` thread, `$2` namespace, `$3` number, then one array each of `$4` tasks, `$5` names and `$6` bytes, and `$7` null or the owner.
/// No row means that the claim is lost.
pub(crate) const WRITE: &str = concat!(
    "WITH ", held!("$7"), ", known AS (
        SELECT id FROM lines, may_write WHERE thread = $1 AND namespace = $2
    ), new AS (
        INSERT INTO lines AS line (thread, namespace) SELECT $1, $2 FROM may_write WHERE NOT EXISTS (SELECT FROM known)
        -- Changes nothing, but unlike DO NOTHING it returns the id of a line that another transaction has just inserted.
        ON CONFLICT (thread, namespace) DO UPDATE SET newest = line.newest
        RETURNING line.id
    )
    INSERT INTO task_writes (line, seq, task, name, bytes)
    SELECT at.id, $3, given.task, given.name, given.bytes
    FROM (SELECT id FROM known UNION ALL SELECT id FROM new) AS at,
        unnest($4::bytea[], $5::text[], $6::bytea[]) AS given (task, name, bytes)
    ON CONFLICT (line, seq, task, name) DO UPDATE SET bytes = excluded.bytes
    RETURNING line"
);

/// `$1` thread, `$2` namespace, `$3` number, or null for the newest. The first column is 0 for the numbers of [`HEAD`], 1 for a
/// checkpoint, and 2 for a write.
///
/// `least`: a damaged base must not hide the checkpoint. The reader of the chain reports the damage.
pub(crate) const READ: &str = concat!(
    "WITH head AS (", head!(), "), wanted AS (
        SELECT line, seq, chain_from AS base FROM head JOIN checkpoints ON line = id AND seq = COALESCE($3::bigint, newest)
    )
    SELECT 0, newest, last, status_at, NULL::bytea, NULL::bytea, NULL::text, counts FROM head
    UNION ALL
    SELECT 1, link.seq, link.chain_from, link.created_ms, link.bytes, NULL, NULL, NULL
    FROM wanted JOIN checkpoints AS link USING (line) WHERE link.seq BETWEEN least(wanted.base, wanted.seq) AND wanted.seq
    UNION ALL
    SELECT 2, task_writes.seq, 0, 0, task_writes.bytes, task_writes.task, task_writes.name, NULL
    FROM wanted JOIN task_writes USING (line, seq)"
);

/// `$1` thread, `$2` namespace, `$3` to `$4` numbers.
pub(crate) const WRITES: &str = "
    SELECT seq, task, name, bytes FROM lines JOIN task_writes ON line = id
    WHERE thread = $1 AND namespace = $2 AND seq BETWEEN $3 AND $4
    ORDER BY seq, task, name";

/// `$1` thread, `$2` namespace, `$3` the last number, `$4` the limit. The first column is as in [`READ`].
pub(crate) const HISTORY: &str = concat!(
    "WITH head AS (",
    head!(),
    ")
    SELECT 0, newest, last, status_at, NULL::bytea, counts FROM head
    UNION ALL
    (SELECT 1, seq, chain_from, created_ms, bytes, NULL FROM head JOIN checkpoints ON line = id
    WHERE seq <= $3
    ORDER BY seq DESC LIMIT $4)"
);

/// `$1` thread.
pub(crate) const NAMESPACES: &str = "
    SELECT namespace FROM lines
    WHERE thread = $1 AND (newest IS NOT NULL OR EXISTS (SELECT FROM task_writes WHERE line = id)
        OR EXISTS (SELECT FROM checkpoints WHERE line = id))
    ORDER BY namespace";

/// Whether the rows of a thread that is listed fit together.
macro_rules! fits {
    () => {
        "(bool_and(checkpoints.created_ms >= 0 AND COALESCE(checkpoints.seq <= line.newest, false))
            AND (root.newest IS NULL OR bool_or(line.id = root.id AND checkpoints.seq = root.newest))
            AND COALESCE(described.status_at <= root.newest, true)
            AND described.thread IS NOT NULL
            AND (SELECT count(*) FROM known_lines AS own WHERE own.thread = line.thread)
                = (SELECT count(*) FROM lines AS own WHERE own.thread = line.thread)
            AND COALESCE(
                described.status IN ('running', 'sleeping', 'waiting', 'stopped', 'failed', 'finished', 'held'),
                described.status_at IS NULL
            ))"
    };
}

/// `$1` the ids. What is listed of each thread that has rows in the tables `lines` and `checkpoints`.
///
/// A status holds while the newest checkpoint of the thread's own flow is the one for which it was set.
pub(crate) const THREADS: &str = concat!(
    "SELECT line.thread, count(*), sum(octet_length(bytes)),
        COALESCE(described.created_ms, min(checkpoints.created_ms)),
        max(checkpoints.created_ms) FILTER (WHERE checkpoints.seq = line.newest),
        COALESCE(described.flow, ''),
        CASE WHEN described.status_at IS NOT DISTINCT FROM root.newest THEN described.status END,
        CASE WHEN described.status_at IS NOT DISTINCT FROM root.newest THEN described.due_ms END,
        described.label_names, described.label_values, ",
    fits!(),
    ",
        ARRAY(SELECT name FROM attributes AS own WHERE own.thread = line.thread ORDER BY name),
        ARRAY(SELECT value FROM attributes AS own WHERE own.thread = line.thread ORDER BY name)
    FROM lines AS line JOIN checkpoints ON line = line.id
        LEFT JOIN threads AS described ON described.thread = line.thread
        LEFT JOIN lines AS root ON root.thread = line.thread AND root.namespace = ''
    WHERE line.thread = ANY ($1)
    GROUP BY line.thread, described.thread, root.id"
);

/// `$1` thread, `$2` status, `$3` flow, `$4` null or the time at which the thread is due, `$5` null or the owner. No row means that
/// the claim is lost.
pub(crate) const SET_STATUS: &str = concat!(
    "WITH ",
    held!("$5"),
    "
    SELECT set_status($1, $2, $3, $4) FROM may_write"
);

/// `$1` thread, then one array each of `$2` names and `$3` values, and `$4` null or the owner. No row means that the claim is lost.
pub(crate) const SET_LABELS: &str = concat!(
    "WITH ", held!("$4"), "
    INSERT INTO threads (thread, label_names, label_values) SELECT $1, $2, $3 FROM may_write
    ON CONFLICT (thread) DO UPDATE SET label_names = excluded.label_names, label_values = excluded.label_values
    RETURNING thread"
);

/// `$1` thread, then one array each of `$2` names and `$3` values, and `$4` null or the owner. No row means that the claim is lost.
/// Attributes that stay as they are cost no write.
pub(crate) const SET_ATTRIBUTES: &str = concat!(
    "WITH ", held!("$4"), ", gone AS (
        DELETE FROM attributes USING may_write WHERE thread = $1 AND name <> ALL ($2::text[])
    ), changed AS (
        INSERT INTO attributes AS known (thread, name, value) SELECT $1, given.name, given.value
        FROM may_write, unnest($2::text[], $3::bytea[]) AS given (name, value)
        ON CONFLICT (thread, name) DO UPDATE SET value = excluded.value WHERE known.value <> excluded.value
    )
    SELECT FROM may_write"
);

/// `$1` thread, `$2` namespace, `$3` the last checkpoint to remove, `$4` null or the owner, `$5` the last number whose writes to remove.
/// No row means that the claim is lost.
pub(crate) const PRUNE: &str = concat!(
    "WITH ", shared!("$4"), ", at AS (
        SELECT id, newest FROM lines, may_change WHERE thread = $1 AND namespace = $2
    ), changed AS (
        UPDATE lines SET
            writes = ", without!("lines", "0", "$5"), ",
            -- Not if another transaction has appended a checkpoint in the meantime, which this statement would not see.
            newest = CASE WHEN lines.newest = at.newest AND lines.newest <= $3 THEN NULL ELSE lines.newest END,
            updated_ms = CASE WHEN lines.newest = at.newest AND lines.newest <= $3 THEN NULL ELSE lines.updated_ms END
        FROM at WHERE lines.id = at.id
    ), removed AS (
        DELETE FROM task_writes USING at WHERE line = at.id AND seq <= $5
    ), pruned AS (
        DELETE FROM checkpoints USING at WHERE line = at.id AND seq <= $3
    )
    SELECT FROM may_write"
);

/// `$1` an array of threads, `$2` null or the owner. The foreign keys delete their checkpoints and writes. The row without a thread and
/// that of the layout count the threads that were deleted. Returns the threads that remain because their claims are lost.
pub(crate) const DELETE: &str = "
    WITH held AS MATERIALIZED (
        SELECT thread FROM claims WHERE thread = ANY ($1) AND owner = $2 FOR SHARE
    ), given AS MATERIALIZED (
        SELECT DISTINCT thread, $2::text IS NULL OR thread IN (SELECT thread FROM held) AS may_delete
        FROM unnest($1::text[]) AS named (thread)
    ), described AS (
        DELETE FROM threads USING given WHERE threads.thread = given.thread AND may_delete
    ), indexed AS (
        DELETE FROM attributes USING given WHERE attributes.thread = given.thread AND may_delete
    ), known AS (
        DELETE FROM known_lines USING given WHERE known_lines.thread = given.thread AND may_delete
    ), gone AS (
        DELETE FROM lines USING given WHERE lines.thread = given.thread AND may_delete RETURNING lines.thread
    ), counted AS (
        INSERT INTO threads AS known (thread, due_ms) SELECT '', count(DISTINCT thread) FROM gone HAVING count(*) > 0
        ON CONFLICT (thread) DO UPDATE SET due_ms = known.due_ms + excluded.due_ms
    ), counted_again AS (
        UPDATE layout SET deleted = deleted + (SELECT count(DISTINCT thread) FROM gone) WHERE EXISTS (SELECT FROM gone)
    )
    SELECT thread FROM given WHERE NOT may_delete";

/// The time of the server, in milliseconds since 1970.
pub(crate) const NOW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// How many threads were deleted, as two rows say.
pub(crate) const DELETIONS: &str =
    "SELECT COALESCE((SELECT due_ms FROM threads WHERE thread = ''), 0), deleted FROM layout";

/// What is missing, in words.
pub(crate) const VERIFY: &str = "
    SELECT format('thread `%s` had %s writes in the namespace `%s`, and %s are stored', thread, lines.writes, namespace, stored)
    FROM lines, LATERAL (SELECT count(*) AS stored FROM task_writes WHERE line = lines.id) AS counted
    WHERE lines.writes <> stored
    UNION ALL
    SELECT format('thread `%s` has no checkpoint %s in the namespace `%s`, which was its newest', thread, newest, namespace)
    FROM lines WHERE newest IS NOT NULL AND NOT EXISTS (SELECT FROM checkpoints WHERE line = id AND seq = newest)
    UNION ALL
    SELECT format('thread `%s` lacks the namespace `%s` in one of the tables `lines` and `known_lines`', thread, namespace)
    FROM lines FULL JOIN known_lines USING (thread, namespace)
    WHERE lines.id IS NULL OR NOT EXISTS (
        SELECT FROM known_lines AS own WHERE own.thread = lines.thread AND own.namespace = lines.namespace
    )
    UNION ALL
    SELECT format('thread `%s` has no row in the table `threads`', thread)
    FROM (SELECT DISTINCT thread FROM lines) AS known WHERE NOT EXISTS (SELECT FROM threads WHERE threads.thread = known.thread)
    UNION ALL
    SELECT format('thread `%s` has another time or status in the table `threads` than its checkpoints have', threads.thread)
    FROM threads JOIN (
        SELECT thread, max(updated_ms) AS latest, max(newest) FILTER (WHERE namespace = '') AS newest FROM lines GROUP BY thread
    ) AS own USING (thread)
    WHERE updated_ms <> latest OR updated_ms IS NOT NULL AND status IS NOT NULL AND status_at IS DISTINCT FROM own.newest
    UNION ALL
    SELECT format('the table `%s` has rows of %s namespaces that the table `lines` lacks', name, count(DISTINCT line))
    FROM (SELECT 'checkpoints' AS name, line FROM checkpoints UNION ALL SELECT 'task_writes', line FROM task_writes) AS beside
    WHERE NOT EXISTS (SELECT FROM lines WHERE id = line) GROUP BY name
    ORDER BY 1";

/// Begins a transaction of several statements.
pub(crate) const BEGIN: &str = "BEGIN";

/// Begins a transaction of several statements that read the same.
pub(crate) const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// `$1` thread. Lets no other transaction change its checkpoints or its status.
pub(crate) const LOCK: &str = "SELECT pg_advisory_xact_lock(thread_lock($1))";

/// Commits a transaction.
pub(crate) const COMMIT: &str = "COMMIT";

/// Lets the server detect within half a minute that the machine of a session is unreachable.
pub(crate) const SESSION: &str = "SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3";

/// `$1` the key of the session.
pub(crate) const HOLD: &str = "SELECT pg_advisory_lock($1)";

/// `$1` thread, `$2` owner, `$3` the key of the session in which this runs. No row means that another owner has the claim.
///
/// An attempt to lock the key of another session shows whether that session is alive. The lock is shared, so that two attempts at
/// the same time do not block each other, and it ends with the statement. The statement must not try its own key: a session can
/// always lock again what it has locked.
pub(crate) const CLAIM: &str = "
    INSERT INTO claims AS held (thread, owner, session) VALUES ($1, $2, $3)
    ON CONFLICT (thread) DO UPDATE SET owner = excluded.owner, session = excluded.session
    WHERE CASE
        WHEN held.owner = excluded.owner THEN true
        WHEN held.session = excluded.session THEN false
        ELSE pg_try_advisory_xact_lock_shared(held.session)
    END
    RETURNING thread";

/// `$1` thread.
pub(crate) const OWNER: &str = "SELECT owner, session FROM claims WHERE thread = $1";

/// `$1` thread, `$2` owner. A row means that the owner has the claim.
pub(crate) const HELD: &str = "SELECT FROM claims WHERE thread = $1 AND owner = $2";

/// `$1` thread, `$2` owner, `$3` the key of the session in which this runs. A row means that the owner has the claim, and that no
/// other can get it while the session lasts.
pub(crate) const CONFIRM: &str =
    "SELECT FROM claims WHERE thread = $1 AND owner = $2 AND session = $3";

/// `$1` thread, `$2` owner.
pub(crate) const RELEASE: &str = "DELETE FROM claims WHERE thread = $1 AND owner = $2";

/// Deletes claims of sessions that have ended. Limited, because each attempt takes a lock.
pub(crate) const DELETE_DEAD_CLAIMS: &str = "
    DELETE FROM claims WHERE session IN (
        SELECT session FROM (SELECT DISTINCT session FROM claims LIMIT 100) AS known
        WHERE pg_try_advisory_xact_lock_shared(session)
    )";
