//! Damage of the file that belongs to no thread.

use rusqlite::Connection;

use super::counts;
use crate::error::TransactionError;

/// What is damaged of the file, beside what a list of threads reports.
pub(crate) fn verify(connection: &Connection) -> Result<Vec<String>, TransactionError> {
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    let lines = check.query_map((), |row| row.get::<_, String>(0))?;
    let mut problems = Vec::new();
    for line in lines {
        let line = line?;
        if line != "ok" {
            problems.push(format!(
                "the file is damaged: {line}; restore it from a backup"
            ));
        }
    }
    let orphans = "SELECT count(*) FROM (SELECT DISTINCT id >> 32 FROM log
        WHERE id >> 32 NOT IN (SELECT number FROM addresses WHERE thread <> ''))";
    let orphans: i64 = connection.query_row(orphans, (), |row| row.get(0))?;
    if orphans > 0 {
        problems.push(format!(
            "the table `log` has the checkpoints of {orphans} addresses that the table `addresses` lacks, so it is not known whose they are; restore it from a backup"
        ));
    }
    problems.extend(counts::verify(connection)?);
    Ok(problems)
}
