//! Looks for threads that the lists of their shards lack.

use petalflow::checkpoint::StoreError;

use crate::connection::Connection;
use crate::keys::{Keys, shard_of};

/// The number of keys that the server looks at in one step.
const STEP: usize = 1_000;

/// What is damaged of the store and belongs to no thread that it lists.
pub(crate) async fn verify(
    connection: &Connection,
    prefix: &str,
) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    for thread in threads_with_checkpoints(connection, prefix).await? {
        let keys = Keys::new(prefix, &thread);
        let listed: bool = connection
            .read(redis::cmd("HEXISTS").arg(&keys.infos).arg(&thread))
            .await?;
        if !listed {
            problems.push(format!(
                "thread `{thread}` has checkpoints, and the lists of its shard lack it; restore it from a backup"
            ));
        }
    }
    problems.sort();
    problems.dedup();
    Ok(problems)
}

/// The threads that have a key with checkpoints.
async fn threads_with_checkpoints(
    connection: &Connection,
    prefix: &str,
) -> Result<Vec<String>, StoreError> {
    let pattern = format!("{}{{*}}:seqs:*", escaped(prefix));
    let (mut cursor, mut threads) = (0_u64, Vec::new());
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(&pattern);
        scan.arg("COUNT").arg(STEP);
        let (next, keys): (u64, Vec<Vec<u8>>) = connection.read(&scan).await?;
        let keys = keys
            .into_iter()
            .filter_map(|key| String::from_utf8(key).ok());
        threads.extend(keys.filter_map(|key| thread_of(&key, prefix)));
        if next == 0 {
            return Ok(threads);
        }
        cursor = next;
    }
}

/// The thread of a key with checkpoints. `None` if another program has made the key.
fn thread_of(key: &str, prefix: &str) -> Option<String> {
    let (shard, thread) = key
        .strip_prefix(prefix)?
        .strip_prefix('{')?
        .split_once("}:seqs:")?;
    (shard.parse() == Ok(shard_of(thread))).then(|| thread.to_string())
}

/// A text as a pattern that only it fits.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for char in text.chars() {
        if "*?[]^-\\".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}
