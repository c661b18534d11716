//! Why a step of a migration is impossible.

use petalflow_codec::CodecError;

/// Why a step of a [`Migration`](super::Migration) is impossible. Nothing is changed by such a step.
///
/// ```
/// use petalflow::state::Migration;
///
/// fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
///     // An error of the migration's own fails it, too: the thread then stays as it is.
///     let words: String = thread.take("words")?.ok_or("there were no words")?;
///     Ok(thread.put("count", &words.len())?)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{name}`: {problem}")]
pub struct MigrationError {
    what: &'static str,
    name: String,
    problem: String,
}

impl MigrationError {
    /// What is wrong with a key.
    #[inline]
    pub(super) fn of_key(key: &str, problem: String) -> Self {
        MigrationError {
            what: "key",
            name: key.into(),
            problem,
        }
    }

    /// What is wrong with the item of a task of a node.
    #[inline]
    pub(super) fn of_item(node: &str, problem: String) -> Self {
        MigrationError {
            what: "the item of node",
            name: node.into(),
            problem,
        }
    }
}

/// Says that the bytes are of another type.
pub(super) fn unreadable<T>(problem: &CodecError) -> String {
    format!("it is no `{}`: {problem}", std::any::type_name::<T>())
}
