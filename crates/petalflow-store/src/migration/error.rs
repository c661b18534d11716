//! The error of a step of a migration.

use crate::codec::CodecError;

/// Why a step of a [`Migration`](super::Migration) failed. A failed step changes nothing.
///
/// ```
/// use petalflow::state::Migration;
///
/// fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
///     // The migration may also fail with an error of its own: the thread then does not change.
///     let words: String = thread.take("words")?.ok_or("there were no words")?;
///     Ok(thread.put("count", &words.len())?)
/// }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{name}`: {problem}")]
pub struct MigrationError {
    what: &'static str,
    name: String,
    problem: String,
}

crate::error::debug_is_message!(MigrationError);

impl MigrationError {
    /// A step on a key failed.
    pub(super) fn of_key(key: &str, problem: String) -> Self {
        MigrationError {
            what: "key",
            name: key.into(),
            problem,
        }
    }

    /// A step on the items of a node failed.
    pub(super) fn of_item(node: &str, problem: String) -> Self {
        MigrationError {
            what: "the item of node",
            name: node.into(),
            problem,
        }
    }
}

/// The message for bytes of another type.
pub(super) fn unreadable<T>(problem: &CodecError) -> String {
    format!("it is not a `{}`: {problem}", std::any::type_name::<T>())
}
