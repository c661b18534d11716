//! The statements. Each call of the store is one of them, and a statement is atomic.
//!
//! Isolation is `read committed`: a statement that has waited for another's row sees what that other has made of it. That is
//! what makes the check in [`APPEND_FIRST`] and [`APPEND_AFTER`] hold between processes.

/// `$1` thread, `$2` namespace, `$3` number, `$4` base, `$5` made at, `$6` bytes, `$7`..`$8` settled. No row: a conflict.
pub(crate) const APPEND_FIRST: &str = "
    WITH head AS (
        INSERT INTO lines AS line (thread, namespace, newest) VALUES ($1, $2, $3)
        ON CONFLICT (thread, namespace) DO UPDATE SET newest = excluded.newest WHERE line.newest IS NULL
        RETURNING line.id
    ), appended AS (
        INSERT INTO checkpoints (line, seq, base, created_ms, bytes) SELECT id, $3, $4, $5, $6 FROM head
    ), settled AS (
        DELETE FROM writes USING head WHERE writes.line = head.id AND writes.seq BETWEEN $7 AND $8
    )
    SELECT id FROM head";

/// As above, with `$9` the newest number that the caller knows of.
pub(crate) const APPEND_AFTER: &str = "
    WITH head AS (
        UPDATE lines SET newest = $3 WHERE thread = $1 AND namespace = $2 AND newest = $9
        RETURNING id
    ), appended AS (
        INSERT INTO checkpoints (line, seq, base, created_ms, bytes) SELECT id, $3, $4, $5, $6 FROM head
    ), settled AS (
        DELETE FROM writes USING head WHERE writes.line = head.id AND writes.seq BETWEEN $7 AND $8
    )
    SELECT id FROM head";

/// `$1` thread, `$2` namespace.
pub(crate) const NEWEST: &str = "SELECT newest FROM lines WHERE thread = $1 AND namespace = $2";

/// `$1` thread, `$2` namespace, `$3` number, then one array each of `$4` tasks, `$5` names and `$6` bytes.
pub(crate) const WRITE: &str = "
    WITH known AS (
        SELECT id FROM lines WHERE thread = $1 AND namespace = $2
    ), new AS (
        INSERT INTO lines AS line (thread, namespace) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM known)
        -- Changes nothing, but unlike DO NOTHING gives the id of a line that someone else has made just now.
        ON CONFLICT (thread, namespace) DO UPDATE SET newest = line.newest
        RETURNING line.id
    )
    INSERT INTO writes (line, seq, task, name, bytes)
    SELECT at.id, $3, given.task, given.name, given.bytes
    FROM (SELECT id FROM known UNION ALL SELECT id FROM new) AS at,
        unnest($4::bytea[], $5::text[], $6::bytea[]) AS given (task, name, bytes)
    ON CONFLICT (line, seq, task, name) DO UPDATE SET bytes = excluded.bytes";

/// `$1` thread, `$2` namespace, `$3` number, or null for the newest. Checkpoints have no task.
///
/// `least`: a damaged base must not hide the checkpoint. The reader of the chain reports the damage.
pub(crate) const READ: &str = "
    WITH wanted AS (
        SELECT line, seq, base FROM lines JOIN checkpoints ON line = id AND seq = COALESCE($3::bigint, newest)
        WHERE thread = $1 AND namespace = $2
    )
    SELECT link.seq, link.base, link.created_ms, link.bytes, NULL::bytea AS task, NULL::text AS name
    FROM wanted JOIN checkpoints AS link USING (line) WHERE link.seq BETWEEN least(wanted.base, wanted.seq) AND wanted.seq
    UNION ALL
    SELECT writes.seq, 0, 0, writes.bytes, writes.task, writes.name
    FROM wanted JOIN writes USING (line, seq)";

/// `$1` thread, `$2` namespace, `$3`..`$4` numbers.
pub(crate) const WRITES: &str = "
    SELECT seq, task, name, bytes FROM lines JOIN writes ON line = id
    WHERE thread = $1 AND namespace = $2 AND seq BETWEEN $3 AND $4
    ORDER BY seq, task, name";

/// `$1` thread, `$2` namespace, `$3` the last number, `$4` how many.
pub(crate) const HISTORY: &str = "
    SELECT seq, base, created_ms, bytes FROM lines JOIN checkpoints ON line = id
    WHERE thread = $1 AND namespace = $2 AND seq <= $3
    ORDER BY seq DESC LIMIT $4";

/// `$1` thread.
pub(crate) const NAMESPACES: &str = "
    SELECT namespace FROM lines
    WHERE thread = $1 AND (newest IS NOT NULL OR EXISTS (SELECT FROM writes WHERE line = id))
    ORDER BY namespace";

/// `$1` the first id that may be listed, `$2` the id before it or null, `$3` the id that ends it or null, `$4` how many or
/// null.
pub(crate) const THREADS: &str = "
    SELECT thread, count(*), sum(octet_length(bytes)), max(created_ms)
    FROM lines JOIN checkpoints ON line = id
    WHERE thread >= $1 AND ($2::text IS NULL OR thread > $2) AND ($3::text IS NULL OR thread < $3)
    GROUP BY thread ORDER BY thread LIMIT $4";

/// `$1` thread, `$2` namespace, `$3` the last number to forget.
pub(crate) const PRUNE: &str = "
    WITH at AS (
        SELECT id, newest FROM lines WHERE thread = $1 AND namespace = $2
    ), emptied AS (
        -- Not if a checkpoint has come in the meantime, which the statement would not see.
        UPDATE lines SET newest = NULL FROM at
        WHERE lines.id = at.id AND lines.newest = at.newest AND lines.newest <= $3
    ), forgotten AS (
        DELETE FROM writes USING at WHERE line = at.id AND seq <= $3
    )
    DELETE FROM checkpoints USING at WHERE line = at.id AND seq <= $3";

/// `$1` thread. The rest goes with its lines.
pub(crate) const DELETE: &str = "DELETE FROM lines WHERE thread = $1";

/// Lets the server notice within half a minute that the machine behind a session is gone.
pub(crate) const SESSION: &str = "SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3";

/// `$1` the session's key.
pub(crate) const HOLD: &str = "SELECT pg_advisory_lock($1)";

/// `$1` thread, `$2` owner, `$3` the key of the session in which this runs. No row: another owner has it.
///
/// Trying another session's key shows whether it is alive. The lock is shared, so that two who try do not take each other for
/// the session, and ends with the statement. Our own key must not be tried: a session gets its own locks again.
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
pub(crate) const OWNER: &str = "SELECT owner FROM claims WHERE thread = $1";

/// `$1` thread, `$2` owner.
pub(crate) const RELEASE: &str = "DELETE FROM claims WHERE thread = $1 AND owner = $2";

/// Forgets claims of sessions that have ended, some at a time: each takes a lock to try.
pub(crate) const FORGET_DEAD: &str = "
    DELETE FROM claims WHERE session IN (
        SELECT session FROM (SELECT DISTINCT session FROM claims LIMIT 100) AS known
        WHERE pg_try_advisory_xact_lock_shared(session)
    )";
