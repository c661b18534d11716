//! The statements. Each call is one statement, and a statement is atomic.

/// The columns that [`rows::entry`](super::rows::entry) reads.
macro_rules! columns {
    () => {
        "entry.sort_key, entry.value, entry.created_ms, entry.updated_ms, entry.expires_ms"
    };
}

/// Whether an entry is not expired at this time.
macro_rules! is_present {
    ($now:literal) => {
        concat!(
            "(entry.expires_ms IS NULL OR entry.expires_ms > ",
            $now,
            ")"
        )
    };
}

/// The entries after sort key `$1`, or at it if `$2`, and before `$3`, that are present at time `$4`. The first bytes of sort keys are
/// compared as well, because the index has only these.
macro_rules! in_range {
    () => {
        concat!(
            "substr(entry.sort_key, 1, 1000) >= substr($1::bytea, 1, 1000)
            AND substr(entry.sort_key, 1, 1000) <= substr($3::bytea, 1, 1000)
            AND (entry.sort_key > $1 OR ($2::boolean AND entry.sort_key = $1)) AND entry.sort_key < $3 AND ",
            is_present!("$4::bigint")
        )
    };
}

/// `$1` sort key, `$2` now.
pub(super) const GET: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM memories AS entry WHERE entry.id = sha256($1::bytea) AND ",
    is_present!("$2::bigint")
);

/// `$1` sort key, `$2` value, `$3` now, `$4` null or the time of expiry. Also deletes some entries that have expired; those that
/// another call deletes at the same time are left to it.
pub(super) const PUT: &str = "
    WITH forgotten AS (
        DELETE FROM memories WHERE id IN (
            SELECT id FROM memories WHERE expires_ms <= $3 AND id <> sha256($1) LIMIT 100 FOR UPDATE SKIP LOCKED
        )
    )
    INSERT INTO memories AS old (sort_key, value, created_ms, updated_ms, expires_ms) VALUES ($1, $2, $3, $3, $4)
    ON CONFLICT (id) DO UPDATE SET
        value = excluded.value, version = DEFAULT, updated_ms = excluded.updated_ms, expires_ms = excluded.expires_ms,
        created_ms = CASE WHEN old.expires_ms <= $3 THEN excluded.created_ms ELSE old.created_ms END";

/// `$1` sort key, `$2` now. A row if there was an entry.
pub(super) const DELETE: &str = concat!(
    "WITH entry AS (DELETE FROM memories WHERE id = sha256($1::bytea) RETURNING expires_ms)
    SELECT FROM entry WHERE ",
    is_present!("$2::bigint")
);

/// `$1` to `$4` a range, `$5` null or the most rows.
pub(super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM memories AS entry WHERE ",
    in_range!(),
    "
    ORDER BY substr(entry.sort_key, 1, 1000), entry.sort_key LIMIT $5::bigint"
);

/// The entries of a range that have no vector of the model `$5` with `$6` numbers for their value. `$7` the most rows.
pub(super) const WITHOUT_VECTOR: &str = concat!(
    "SELECT ",
    columns!(),
    ", entry.version FROM memories AS entry
        LEFT JOIN memory_vectors AS known ON known.id = entry.id AND known.model = $5
    WHERE ",
    in_range!(),
    " AND (known.version IS DISTINCT FROM entry.version OR known.dimensions <> $6::integer)
    LIMIT $7::bigint"
);

/// `$1` model, `$2` the numbers of all vectors, `$3` how many each has, `$4` sort keys, `$5` versions. Leaves out what was put or
/// deleted meanwhile.
pub(super) const STORE_VECTORS: &str = "
    INSERT INTO memory_vectors AS old (id, model, version, dimensions, vector)
    SELECT entry.id, $1, entry.version, $3::integer, ($2::real[])[(new.i - 1) * $3 + 1 : new.i * $3]
    FROM unnest($4::bytea[], $5::bigint[]) WITH ORDINALITY AS new (sort_key, version, i)
        JOIN memories AS entry ON entry.id = sha256(new.sort_key) AND entry.version = new.version
    ORDER BY entry.id
    ON CONFLICT (id, model) DO UPDATE
        SET version = excluded.version, dimensions = excluded.dimensions, vector = excluded.vector
        WHERE old.version <= excluded.version";

/// The entries of a range with their vectors of the model `$5` with `$6` numbers.
pub(super) const VECTORS: &str = concat!(
    "SELECT ",
    columns!(),
    ", known.vector FROM memories AS entry
        JOIN memory_vectors AS known ON known.id = entry.id AND known.version = entry.version
    WHERE ",
    in_range!(),
    " AND known.model = $5 AND known.dimensions = $6::integer
    ORDER BY substr(entry.sort_key, 1, 1000), entry.sort_key"
);

/// The schema that has pgvector, if the database has it.
pub(super) const PGVECTOR: &str = "
    SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = 'vector'";

/// As [`VECTORS`], but the similarity to the vector `$7` in place of each vector, the most similar first, and at most `$8` rows.
/// `schema` has pgvector. A vector without length is similar to nothing.
pub(super) fn nearest(schema: &str) -> String {
    format!(
        concat!(
            "SELECT ", columns!(), ", 1 - near.distance AS score FROM memories AS entry
                JOIN memory_vectors AS known ON known.id = entry.id AND known.version = entry.version
                CROSS JOIN LATERAL (
                    SELECT coalesce(nullif(
                        known.vector::{schema}.vector OPERATOR({schema}.<=>) $7::real[]::{schema}.vector,
                        'NaN'
                    ), 1) AS distance
                ) AS near
            WHERE ", in_range!(), " AND known.model = $5 AND known.dimensions = $6::integer
            ORDER BY near.distance, entry.sort_key LIMIT $8::bigint"
        ),
        schema = schema,
    )
}
