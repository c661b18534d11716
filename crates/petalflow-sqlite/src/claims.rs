//! Claims on threads. Each function runs within a write transaction, of which there is one at a time over all processes.

use petalflow::checkpoint::Claim;
use rusqlite::{Connection, OptionalExtension};

use crate::presence::Presence;
use crate::problem::Failure;

/// Claims a thread; `presence` is none for a database that no other process can see.
pub(crate) fn claim(
    connection: &Connection,
    thread: &str,
    owner: &str,
    presence: Option<&Presence>,
) -> Result<Claim, Failure> {
    let holder = presence.map_or(Ok(""), Presence::announce)?;
    let found = connection
        .prepare_cached("SELECT owner, holder FROM claims WHERE thread = ?1")?
        .query_row([thread], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    match (found, presence) {
        (Some((other, held)), _) if other == owner && held == holder => return Ok(Claim::Granted),
        (Some((other, held)), Some(presence)) if other != owner => {
            if held == holder || presence.is_alive(&held)? {
                return Ok(Claim::Busy { owner: other });
            }
            // The dead give back all they had.
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

/// Gives a claim back.
pub(crate) fn release(connection: &Connection, thread: &str, owner: &str) -> Result<(), Failure> {
    connection
        .prepare_cached("DELETE FROM claims WHERE thread = ?1 AND owner = ?2")?
        .execute([thread, owner])?;
    Ok(())
}

/// Gives back all that a store had claimed.
pub(crate) fn release_all(connection: &Connection, presence: &Presence) -> Result<(), Failure> {
    connection
        .prepare_cached("DELETE FROM claims WHERE holder = ?1")?
        .execute([presence.id()])?;
    Ok(())
}
