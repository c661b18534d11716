//! Arguments of scripts.

use petalflow::checkpoint::StoreChange;
use redis::ScriptInvocation;

use crate::keys::digits;
use crate::values;

/// The argument of a script that names the owner of the claim under which it writes.
pub(crate) fn fence(owner: Option<&str>) -> String {
    owner.map_or_else(String::new, |owner| format!("={owner}"))
}

/// Adds changes to the arguments of [`APPLY`](crate::scripts::APPLY). Each write is one.
pub(crate) fn add_changes(script: &mut ScriptInvocation<'_>, changes: &[StoreChange]) {
    let count = changes.iter().map(|change| match change {
        StoreChange::Write { writes, .. } => writes.len(),
        _ => 1,
    });
    script.arg(count.sum::<usize>());
    for change in changes {
        match change {
            StoreChange::Append {
                namespace,
                checkpoint,
                after,
                settled,
            } => {
                script
                    .arg("append")
                    .arg(namespace)
                    .arg(digits(checkpoint.seq))
                    .arg(digits(checkpoint.base))
                    .arg(digits(checkpoint.created_ms))
                    .arg(checkpoint.bytes.as_slice())
                    .arg(after.map(digits).unwrap_or_default())
                    .arg(digits(settled.start))
                    .arg(digits(settled.end));
            }
            StoreChange::Write {
                namespace,
                seq,
                writes,
            } => {
                for write in writes {
                    script
                        .arg("write")
                        .arg(namespace)
                        .arg(digits(*seq))
                        .arg(write.task.to_bytes().as_slice())
                        .arg(&write.name)
                        .arg(write.bytes.as_slice());
                }
            }
            StoreChange::Status {
                flow,
                status,
                due_ms,
            } => {
                script
                    .arg("status")
                    .arg(values::state(*status, *due_ms, flow));
            }
            StoreChange::Attributes(attributes) => {
                script.arg("attributes").arg(values::attributes(attributes));
            }
        }
    }
}
