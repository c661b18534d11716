//! Migrations of stored threads to a newer version of their state.

mod error;
#[doc(hidden)]
mod log;
#[doc(hidden)]
mod named;

use std::fmt;

use serde_core::{Serialize, de::DeserializeOwned};

use crate::codec::TaskEntry;
use crate::codec::{CodecError, decode, encode};
use crate::error::BoxError;

pub use error::MigrationError;
pub use log::Log;
pub use named::Named;

use error::unreadable;

/// The function that `#[state(version = 3, migrate = path)]` names.
pub type Migrate = fn(u32, &mut Migration) -> Result<(), BoxError>;

/// A stored thread that is migrated to a newer version of its state, key by key.
///
/// `#[state(version = 3, migrate = path)]` sets the version of the state, which each checkpoint contains, and the function
/// that is called when a thread of a lower version is opened. (A state without this attribute has version 0.) The function
/// receives the stored version and makes the changes of the later versions, one after the other:
///
/// ```
/// use petalflow::state::Migration;
/// use petalflow::prelude::*;
///
/// #[state(version = 2, migrate = migrate)]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     // In version 0 this was `remarks: Vec<String>`.
///     #[key(append)]
///     notes: Vec<Note>,
///     // In version 1 this was `words: String`.
///     words: u64,
/// }
///
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct Note {
///     text: String,
/// }
///
/// fn migrate(from: u32, thread: &mut Migration) -> petalflow::Result<()> {
///     if from < 1 {
///         thread.rename("remarks", "notes")?;
///         thread.map("notes", |old: Vec<String>| -> Vec<Note> {
///             old.into_iter().map(|text| Note { text }).collect()
///         })?;
///     }
///     if from < 2 && let Some(words) = thread.take::<String>("words")? {
///         thread.put("words", &words.parse::<u64>()?)?;
///     }
///     Ok(())
/// }
/// ```
///
/// Keys have their stored names: `#[key(id = "…")]`, or the name of the field. A thread need not have a value of every key. A
/// step on a key without a value does nothing.
///
/// A key that grows (`append`, `prepend`, `merge`, `messages`) may be stored as a value and the later writes.
/// [`map`](Self::map) converts each of them. A step that needs the whole value [folds](Self::fold) them first.
///
/// The function is called each time an old thread is read, until a checkpoint of the new version is written. So it should
/// depend only on its arguments. Test it like any function, with a thread that begins empty:
///
/// ```
/// # use petalflow::state::Migration;
/// # fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
/// #     Ok(thread.rename("remarks", "notes")?)
/// # }
/// let mut thread = Migration::default();
/// thread.put("remarks", &["say why"])?;
/// migrate(0, &mut thread)?;
/// assert_eq!(thread.get::<Vec<String>>("notes")?.unwrap(), ["say why"]);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
///
/// After a migration, the results of tasks in a superstep that the older program did not finish are dropped, and the tasks
/// run again. Records of `Context::once` remain.
#[derive(Default)]
pub struct Migration {
    keys: Named<Log>,
    tasks: Vec<TaskEntry>,
}
/// The stored writes of one task to one key: whether each is an overwrite, and its value.
type TaskWrites<T> = Vec<(bool, T)>;
impl Migration {
    #[doc(hidden)]
    pub fn new(keys: Named<Log>, tasks: Vec<TaskEntry>) -> Self {
        Migration { keys, tasks }
    }

    #[doc(hidden)]
    pub fn into_parts(self) -> (Named<Log>, Vec<TaskEntry>) {
        (self.keys, self.tasks)
    }

    /// The keys that have a stored value or stored writes.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("tmp_1", "?")?;
    /// thread.put("topic", "petals")?;
    /// // Keys that begin with `tmp_` are not needed any more.
    /// let old: Vec<String> = thread.keys().filter(|key| key.starts_with("tmp_")).map(String::from).collect();
    /// for key in old {
    ///     thread.remove(&key);
    /// }
    /// assert_eq!(thread.keys().collect::<Vec<_>>(), ["topic"]);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().filter(|(_, log)| log.is_stored());
        keys.map(|(key, _)| key.as_str())
    }

    /// Whether the key has a stored value or stored writes.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// assert!(!thread.contains("topic"));
    /// thread.put("topic", "petals")?;
    /// assert!(thread.contains("topic"));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn contains(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(Log::is_stored)
    }

    /// Renames a key.
    ///
    /// If only the name has changed, `#[key(id = "old")]` is enough, without a migration.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("remarks", &["say why"])?;
    /// thread.rename("remarks", "notes")?;
    /// assert!(thread.contains("notes") && !thread.contains("remarks"));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the new name is in use already.
    pub fn rename(&mut self, old: &str, new: &str) -> Result<(), MigrationError> {
        if old == new || !self.contains(old) {
            return Ok(());
        }
        if self.contains(new) {
            let problem =
                format!("it cannot be named `{new}`, because there is a key `{new}` already");
            return Err(MigrationError::of_key(old, problem));
        }
        if let Some(mut log) = self.keys.remove(old) {
            if let Some(key) = &mut log.outline {
                key.id = new.to_string().into();
            }
            self.keys.insert(new.into(), log);
        }
        Ok(())
    }

    /// Removes a key. Returns whether anything was stored.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("topic", "petals")?;
    /// assert!(thread.remove("topic") && !thread.remove("topic"));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn remove(&mut self, key: &str) -> bool {
        self.keys.remove(key).is_some_and(|log| log.is_stored())
    }

    /// The value of a key, if it has one.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("rounds", &3)?;
    /// assert_eq!(thread.get::<u32>("rounds")?, Some(3));
    /// assert_eq!(thread.get::<u32>("words")?, None);
    /// assert!(thread.get::<String>("rounds").is_err());
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the value is not a `T`, or is stored as writes that have not been [folded](Self::fold).
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, MigrationError> {
        let Some(log) = self.keys.get(key) else {
            return Ok(None);
        };
        if !log.writes.is_empty() {
            let reducer = log.outline.as_ref().map_or("..", |key| key.reducer.name());
            let problem = format!(
                "its value is stored as writes that have not been folded: call `fold(\"{key}\", reduce::{reducer})` first, or convert them one by one with `map`"
            );
            return Err(MigrationError::of_key(key, problem));
        }
        let value = log.value.as_deref().map(decode::<T>).transpose();
        value.map_err(|problem| MigrationError::of_key(key, unreadable::<T>(&problem)))
    }

    /// Removes a key and returns its value.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("words", "400")?;
    /// if let Some(words) = thread.take::<String>("words")? {
    ///     thread.put("count", &words.parse::<u64>()?)?;
    /// }
    /// assert_eq!(thread.get("count")?, Some(400_u64));
    /// assert!(!thread.contains("words"));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, MigrationError> {
        let value = self.get(key)?;
        self.remove(key);
        Ok(value)
    }

    /// Stores a value of a key, and replaces everything that was stored.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("topic", "petals")?;
    /// thread.put("topic", &Some("roots"))?;
    /// assert_eq!(thread.get::<String>("topic")?.unwrap(), "roots");
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the value cannot be stored.
    pub fn put<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<(), MigrationError> {
        let mut bytes = Vec::new();
        encode(value, &mut bytes)
            .map_err(|problem| MigrationError::of_key(key, problem.to_string()))?;
        let log = Log {
            value: Some(bytes),
            ..Log::default()
        };
        self.keys.insert(key.into(), log);
        Ok(())
    }

    /// Converts the stored value of a key, and each write that has not been folded into it. A value without such writes may then
    /// have another reducer: `map("total", |total: u64| total)` says that it still means the same.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// let mut thread = Migration::default();
    /// thread.put("seconds", &30_u32)?;
    /// thread.map("seconds", |seconds: u32| u64::from(seconds) * 1000)?;
    /// thread.rename("seconds", "millis")?;
    /// assert_eq!(thread.get("millis")?, Some(30_000_u64));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If one of them is not an `Old`, or a result cannot be stored.
    pub fn map<Old: DeserializeOwned, New: Serialize>(
        &mut self,
        key: &str,
        mut convert: impl FnMut(Old) -> New,
    ) -> Result<(), MigrationError> {
        let Some(log) = self.keys.get_mut(key) else {
            return Ok(());
        };
        let decoding =
            |problem: &CodecError| MigrationError::of_key(key, unreadable::<Old>(problem));
        let encoding = |problem: CodecError| MigrationError::of_key(key, problem.to_string());
        let mut mapped = log.clone();
        if let Some(value) = &mut mapped.value {
            let old = decode::<Old>(value).map_err(|problem| decoding(&problem))?;
            value.clear();
            encode(&convert(old), value).map_err(encoding)?;
        }
        for writes in &mut mapped.writes {
            let old: TaskWrites<Old> = decode(writes).map_err(|problem| decoding(&problem))?;
            let new = old.into_iter().map(|(over, old)| (over, convert(old)));
            let new: TaskWrites<New> = new.collect();
            writes.clear();
            encode(&new, writes).map_err(encoding)?;
        }
        // The reducer is still the old one: it decides whether the writes may fold.
        mapped.converted = mapped.writes.is_empty();
        if let Some(key) = &mut mapped.outline {
            key.ty = "".into();
        }
        *log = mapped;
        Ok(())
    }

    /// Folds the writes to a key into its value, with its old reducer: `fold("notes", reduce::append::<Vec<String>>)`.
    ///
    /// ```
    /// use petalflow::state::{Migration, reduce};
    ///
    /// fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
    ///     thread.fold("notes", reduce::append::<Vec<String>>)?;
    ///     let notes: Vec<String> = thread.get("notes")?.unwrap_or_default();
    ///     Ok(thread.put("last_note", &notes.last())?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the value or a write is not a `T`.
    pub fn fold<T: Serialize + DeserializeOwned + Default>(
        &mut self,
        key: &str,
        mut reducer: impl FnMut(&mut T, T),
    ) -> Result<(), MigrationError> {
        let Some(log) = self.keys.get_mut(key) else {
            return Ok(());
        };
        if log.writes.is_empty() {
            log.converted = true;
            return Ok(());
        }
        let decoding = |problem: CodecError| MigrationError::of_key(key, unreadable::<T>(&problem));
        let value = log.value.as_deref().map(decode::<T>);
        let mut value = value.transpose().map_err(decoding)?.unwrap_or_default();
        for writes in &log.writes {
            for (overwrite, write) in decode::<TaskWrites<T>>(writes).map_err(decoding)? {
                if overwrite {
                    value = write;
                } else {
                    reducer(&mut value, write);
                }
            }
        }
        let outline = log.outline.clone();
        self.put(key, &value)?;
        // Its type is still the old one.
        if let Some(log) = self.keys.get_mut(key) {
            log.outline = outline;
            log.converted = true;
        }
        Ok(())
    }

    /// Converts the items of all tasks of a node that have not run yet. `node` is its stored name.
    ///
    /// ```
    /// use petalflow::state::Migration;
    ///
    /// fn migrate(from: u32, thread: &mut Migration) -> petalflow::Result<()> {
    ///     if from < 1 {
    ///         thread.map_item("research", |topic: String| (topic, 1_u32))?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If one of them is not an `Old`, or a result cannot be stored.
    pub fn map_item<Old: DeserializeOwned, New: Serialize>(
        &mut self,
        node: &str,
        mut convert: impl FnMut(Old) -> New,
    ) -> Result<(), MigrationError> {
        let failed = |problem| MigrationError::of_item(node, problem);
        let mut tasks = self.tasks.clone();
        for task in tasks.iter_mut().filter(|task| task.node == node) {
            if let Some(item) = &mut task.item {
                let old = decode::<Old>(item);
                let old = old.map_err(|problem| failed(unreadable::<Old>(&problem)))?;
                item.clear();
                encode(&convert(old), item).map_err(|problem| failed(problem.to_string()))?;
            }
        }
        self.tasks = tasks;
        Ok(())
    }
}

/// Shows names only: values may be secrets.
impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migration")
            .field(
                "keys",
                &self.keys.iter().map(|(key, _)| key).collect::<Vec<_>>(),
            )
            .field("tasks", &self.tasks.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
