//! The search attributes of threads. What is lost of them is written again by the next run of the thread, so nothing counts them.

use std::collections::BTreeMap;

use petalflow::checkpoint::Attribute;
use rusqlite::{Connection, params};

use crate::error::TransactionError;

/// Gives a thread these attributes in the place of all others. Those that stay as they are cost no write.
pub(crate) fn set(
    connection: &Connection,
    thread: &str,
    attributes: &BTreeMap<String, Attribute>,
) -> Result<(), TransactionError> {
    let mut stored = connection.prepare_cached(OF_THREAD)?;
    let stored = stored.query_map([thread], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored: BTreeMap<String, Vec<u8>> = stored.collect::<rusqlite::Result<_>>()?;
    let remove = "DELETE FROM attributes WHERE thread = ?1 AND name = ?2";
    for name in stored.keys().filter(|name| !attributes.contains_key(*name)) {
        connection
            .prepare_cached(remove)?
            .execute(params![thread, name])?;
    }
    let add = "INSERT INTO attributes (thread, name, value) VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET value = excluded.value";
    for (name, value) in attributes {
        if stored
            .get(name)
            .is_none_or(|found| **found != *value.as_bytes())
        {
            connection
                .prepare_cached(add)?
                .execute(params![thread, name, value.as_bytes()])?;
        }
    }
    Ok(())
}

/// Whether any thread has attributes.
pub(super) fn are_used(connection: &Connection) -> Result<bool, TransactionError> {
    let mut any = connection.prepare_cached("SELECT 1 FROM attributes")?;
    Ok(any.exists(())?)
}

/// The attributes of a thread.
pub(super) fn of_thread(
    connection: &Connection,
    thread: &str,
) -> Result<BTreeMap<String, Attribute>, TransactionError> {
    let mut stored = connection.prepare_cached(OF_THREAD)?;
    let mut rows = stored.query([thread])?;
    let mut attributes = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let value = Attribute::from_bytes(row.get(1)?).ok_or_else(|| {
            let problem = format!("the table `attributes` has no value for its attribute `{name}`");
            TransactionError::damaged(thread, &problem)
        })?;
        attributes.insert(name, value);
    }
    Ok(attributes)
}

const OF_THREAD: &str = "SELECT name, value FROM attributes WHERE thread = ?1";
