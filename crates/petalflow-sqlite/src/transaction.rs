//! Jobs within transactions: one by itself, or many that share a commit.

use rusqlite::{Connection, ffi};

use crate::job::Job;
use crate::problem::{Failure, Place};

/// Runs work in a transaction of its own.
pub(crate) fn alone<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    begin(connection)?;
    let result = work(connection).and_then(|value| {
        say(connection, "COMMIT")?;
        Ok(value)
    });
    if result.is_err() {
        roll_back(connection);
    }
    result
}

/// Runs jobs so that they share one commit, and none that fails takes another with it.
pub(crate) fn together(connection: &Connection, place: &Place, mut jobs: Vec<Box<dyn Job>>) {
    if jobs.len() == 1 {
        return one_by_one(connection, place, jobs);
    }
    if let Err(failure) = begin(connection) {
        // If each of them tried again, each would wait as long.
        for job in jobs {
            job.failed(failure.copy(), place);
        }
        return;
    }
    let all = jobs
        .iter_mut()
        .try_for_each(|job| within_savepoint(connection, place, &mut **job));
    if all.and_then(|()| say(connection, "COMMIT")).is_ok() {
        return jobs.into_iter().for_each(Job::done);
    }
    // Nothing of the group is stored. It may be that one of them does not fit on the disk and the others do.
    roll_back(connection);
    one_by_one(connection, place, jobs);
}

/// Gives each job a transaction of its own.
fn one_by_one(connection: &Connection, place: &Place, jobs: Vec<Box<dyn Job>>) {
    for mut job in jobs {
        let end = begin(connection).and_then(|()| {
            if job.run(connection, place) {
                return say(connection, "COMMIT");
            }
            roll_back(connection);
            Ok(())
        });
        match end {
            Ok(()) => job.done(),
            Err(failure) => {
                roll_back(connection);
                job.failed(failure, place);
            }
        }
    }
}

fn within_savepoint(
    connection: &Connection,
    place: &Place,
    job: &mut dyn Job,
) -> Result<(), Failure> {
    say(connection, "SAVEPOINT job")?;
    let keep = job.run(connection, place);
    if connection.is_autocommit() {
        // A full disk and the like end the whole transaction, whatever savepoints there are.
        let ended = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
        return Err(rusqlite::Error::SqliteFailure(ended, None).into());
    }
    if !keep {
        say(connection, "ROLLBACK TO job")?;
    }
    say(connection, "RELEASE job")
}

/// Begins a transaction, at once for writing: one that begins by reading may find that another process was faster.
fn begin(connection: &Connection) -> Result<(), Failure> {
    // One that is still open was cut short by a panic.
    roll_back(connection);
    say(connection, "BEGIN IMMEDIATE")
}

/// Ends the transaction, if there is still one. That cannot fail in a way that matters: what is not committed is not stored.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        let _ = say(connection, "ROLLBACK");
    }
}

fn say(connection: &Connection, sql: &str) -> Result<(), Failure> {
    connection.prepare_cached(sql)?.execute(())?;
    Ok(())
}
