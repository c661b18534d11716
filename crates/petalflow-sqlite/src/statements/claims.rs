//! Claims on threads. Each function runs within a write transaction, of which there is one at a time over all processes.

use petalflow::checkpoint::{Claim, StoreError};
use rusqlite::{Connection, OptionalExtension};

use crate::error::TransactionError;
use crate::lock_file::LockFile;

/// Claims a thread. `lock_file` is `None` for a database in memory, which no other process can see.
pub(crate) fn claim(
    connection: &Connection,
    thread: &str,
    owner: &str,
    lock_file: Option<&LockFile>,
) -> Result<Claim, TransactionError> {
    let holder = lock_file.map_or(Ok(""), LockFile::acquire)?;
    let found = connection
        .prepare_cached("SELECT owner, holder FROM claims WHERE thread = ?1")?
        .query_row([thread], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    match (found, lock_file) {
        (Some((other, held)), _) if other == owner && held == holder => return Ok(Claim::Granted),
        (Some((other, held)), Some(lock_file)) if other != owner => {
            if held == holder || lock_file.is_alive(&held)? {
                return Ok(Claim::Busy { owner: other });
            }
            // All claims of a dead holder are void.
            connection
                .prepare_cached("DELETE FROM claims WHERE holder = ?1")?
                .execute([held])?;
        }
        (Some((other, _)), None) if other != owner => return Ok(Claim::Busy { owner: other }),
        _ => {}
    }
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO claims (thread, owner, holder) VALUES (?1, ?2, ?3)",
        )?
        .execute([thread, owner, holder])?;
    Ok(Claim::Granted)
}

/// Whether the owner has the claim on a thread.
pub(crate) fn is_held(
    connection: &Connection,
    thread: &str,
    owner: &str,
) -> Result<bool, TransactionError> {
    let mut held =
        connection.prepare_cached("SELECT 1 FROM claims WHERE thread = ?1 AND owner = ?2")?;
    Ok(held.exists([thread, owner])?)
}

/// Fails unless the owner has the claim on a thread. Without an owner nothing is checked.
pub(crate) fn check(
    connection: &Connection,
    thread: &str,
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    let Some(owner) = owner else { return Ok(()) };
    if is_held(connection, thread, owner)? {
        return Ok(());
    }
    let thread = thread.into();
    Err(TransactionError::Refused(StoreError::ClaimLost { thread }))
}

/// Releases a claim.
pub(crate) fn release(
    connection: &Connection,
    thread: &str,
    owner: &str,
) -> Result<(), TransactionError> {
    connection
        .prepare_cached("DELETE FROM claims WHERE thread = ?1 AND owner = ?2")?
        .execute([thread, owner])?;
    Ok(())
}

/// Releases all claims of a store.
pub(crate) fn release_all(
    connection: &Connection,
    lock_file: &LockFile,
) -> Result<(), TransactionError> {
    connection
        .prepare_cached("DELETE FROM claims WHERE holder = ?1")?
        .execute([lock_file.id()])?;
    Ok(())
}
