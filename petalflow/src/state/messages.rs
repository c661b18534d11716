//! The reducer `messages`: a message replaces the one with the same id, and otherwise is appended; a removal removes.

use std::collections::HashMap;

use super::{Write, WriteError, Writes};

/// An entry of a key with the reducer `messages`.
///
/// ```
/// use petalflow::state::{Message, reduce};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Line {
///     id: Option<String>,
///     text: &'static str,
/// }
///
/// impl Message for Line {
///     fn id(&self) -> Option<&str> {
///         self.id.as_deref()
///     }
///     fn set_id(&mut self, id: String) {
///         self.id = Some(id);
///     }
/// }
///
/// let line = |id: &str, text| Line { id: Some(id.into()), text };
/// let mut chat = vec![line("1", "helo"), line("2", "hi")];
/// reduce::messages(&mut chat, vec![line("1", "hello"), Line { id: None, text: "how are you?" }]);
/// assert_eq!(chat[0].text, "hello");
/// assert_eq!(chat[2].text, "how are you?");
/// assert!(chat[2].id.is_some());
/// ```
pub trait Message {
    /// The id of the message, unique in its list.
    fn id(&self) -> Option<&str>;

    /// Sets the id. Called for a message without an id when it is added to a list. The id is the same in every run.
    fn set_id(&mut self, id: String);

    /// The target, if this entry is a removal instead of a message.
    fn removes(&self) -> Option<Remove<'_>> {
        None
    }
}

/// The target of a removal.
///
/// ```
/// use petalflow::state::{Message, Remove, reduce};
///
/// #[derive(Clone, Debug, PartialEq)]
/// enum Line {
///     Text(String),
///     Forget(String),
/// }
///
/// impl Message for Line {
///     fn id(&self) -> Option<&str> {
///         match self {
///             Line::Text(text) => Some(text),
///             Line::Forget(_) => None,
///         }
///     }
///     fn set_id(&mut self, _: String) {}
///     fn removes(&self) -> Option<Remove<'_>> {
///         match self {
///             Line::Text(_) => None,
///             Line::Forget(id) => Some(Remove::One(id)),
///         }
///     }
/// }
///
/// let text = |text: &str| Line::Text(text.into());
/// let mut chat = vec![text("hello"), text("oops")];
/// reduce::messages(&mut chat, vec![Line::Forget("oops".into())]);
/// assert_eq!(chat, [text("hello")]);
/// ```
///
/// It has no other variants, so that programs match all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remove<'a> {
    /// The message with this id. It is an error if there is none.
    One(&'a str),
    /// All earlier messages.
    All,
}

/// The lists that the reducer `messages` supports: `Vec<M>` of a [`Message`].
///
/// ```
/// use petalflow::state::reduce::Messages;
/// # use petalflow::state::{Message, reduce};
/// # #[derive(Clone, Debug, PartialEq)]
/// # struct Line(Option<String>, &'static str);
/// # impl Message for Line {
/// #     fn id(&self) -> Option<&str> { self.0.as_deref() }
/// #     fn set_id(&mut self, id: String) { self.0 = Some(id); }
/// # }
///
/// fn add_all<L: Messages>(chat: &mut L, batches: Vec<L>) {
///     batches.into_iter().for_each(|batch| chat.messages(batch));
/// }
///
/// let mut chat = vec![];
/// add_all(&mut chat, vec![vec![Line(None, "hello")], vec![Line(None, "how are you?")]]);
/// assert_eq!(chat.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`messages` does not fit a key of type `{Self}`",
    label = "not a list of messages",
    note = "`messages` fits `Vec<M>` where `M` implements `petalflow::state::Message`; to keep a list of anything else use `append`"
)]
pub trait Messages: Sized {
    /// Folds messages into the list. Here, the removal of an unknown message does nothing;
    /// [`validate`](Messages::validate) rejects it earlier.
    fn messages(&mut self, written: Self);

    /// Checks the writes of a superstep, in the order in which they fold, before they are applied.
    #[doc(hidden)]
    fn validate(&self, key: &'static str, writes: &[&Writes<Self>]) -> Result<(), WriteError>;
}

/// Folds messages into a list: a message with a known id replaces in place, others are appended, and removals remove. A
/// message without an id gets one.
///
/// ```
/// # use petalflow::state::{Message, reduce};
/// # #[derive(Clone, Debug, PartialEq)]
/// # struct Line(Option<String>, &'static str);
/// # impl Message for Line {
/// #     fn id(&self) -> Option<&str> { self.0.as_deref() }
/// #     fn set_id(&mut self, id: String) { self.0 = Some(id); }
/// # }
/// let mut chat = vec![Line(Some("1".into()), "helo")];
/// reduce::messages(&mut chat, vec![Line(Some("1".into()), "hello"), Line(None, "how are you?")]);
/// assert_eq!((chat.len(), chat[0].1), (2, "hello"));
/// assert!(chat[1].0.is_some(), "a message without an id gets one");
/// ```
pub fn messages<T: Messages>(current: &mut T, written: T) {
    current.messages(written);
}

#[diagnostic::do_not_recommend]
impl<M: Message> Messages for Vec<M> {
    fn messages(&mut self, written: Self) {
        // The common case is a new message without an id: it needs no search, however long the list is.
        if written
            .iter()
            .all(|message| message.id().is_none() && message.removes().is_none())
        {
            self.reserve(written.len());
            for message in written {
                append(self, message);
            }
            return;
        }
        let mut indexes: HashMap<String, usize> =
            HashMap::with_capacity(self.len() + written.len());
        let mut removed = vec![false; self.len()];
        for (index, message) in self.iter().enumerate() {
            if let Some(id) = message.id() {
                indexes.insert(id.to_string(), index);
            }
        }
        for message in written {
            match message.removes() {
                Some(Remove::All) => {
                    self.clear();
                    indexes.clear();
                    removed.clear();
                    continue;
                }
                Some(Remove::One(id)) => {
                    if let Some(&index) = indexes.get(id) {
                        removed[index] = true;
                    }
                    continue;
                }
                None => {}
            }
            let known = message.id().and_then(|id| indexes.get(id)).copied();
            if let Some(index) = known {
                self[index] = message;
                removed[index] = false;
            } else {
                append(self, message);
                removed.push(false);
                if let Some(id) = self.last().and_then(Message::id) {
                    indexes.insert(id.to_string(), self.len() - 1);
                }
            }
        }
        if removed.contains(&true) {
            let mut removed = removed.into_iter();
            self.retain(|_| !removed.next().unwrap_or(false));
        }
    }

    fn validate(&self, key: &'static str, writes: &[&Writes<Self>]) -> Result<(), WriteError> {
        let mut check = Check {
            key,
            current: self,
            added: Vec::new(),
            overwritten: false,
            unknown: None,
        };
        writes.iter().for_each(|writes| check.add(writes));
        check.finish()
    }
}

/// Appends a message, with an id if it has none.
fn append<M: Message>(list: &mut Vec<M>, mut message: M) {
    if message.id().is_none() {
        // A hash of the index and of the preceding id. It is the same in every run, and unique: a message that got its
        // id at this index after the same neighbor is still in the list or was removed.
        let mut parts = list
            .last()
            .and_then(Message::id)
            .unwrap_or_default()
            .as_bytes()
            .to_vec();
        parts.extend_from_slice(&(list.len() as u64).to_le_bytes());
        let hash = siphasher::sip::SipHasher13::new().hash(&parts);
        message.set_id(format!("{hash:016x}"));
    }
    list.push(message);
}

struct Check<'a, M> {
    key: &'static str,
    current: &'a [M],
    // The messages that the superstep adds before the current write. A superstep without removals only collects them.
    added: Vec<&'a [M]>,
    overwritten: bool,
    unknown: Option<&'a str>,
}

/// Finds the removal of a message that is not in the list.
impl<'a, M: Message> Check<'a, M> {
    fn add(&mut self, writes: &'a Writes<Vec<M>>) {
        for write in writes.iter() {
            // An overwrite drops all other writes of the superstep, removals included.
            let Write::Fold(list) = write else {
                self.overwritten = true;
                continue;
            };
            for (at, message) in list.iter().enumerate() {
                match message.removes() {
                    Some(Remove::One(id)) if !self.contains(id, &list[..at]) => {
                        self.unknown.get_or_insert(id);
                    }
                    Some(Remove::All) => {
                        self.current = &[];
                        self.added.clear();
                    }
                    _ => {}
                }
            }
            if list.iter().any(|message| message.id().is_some()) {
                self.added.push(list);
            }
        }
    }

    fn finish(self) -> Result<(), WriteError> {
        match self.unknown {
            Some(id) if !self.overwritten => Err(WriteError {
                key: self.key,
                problem: format!(
                    "cannot remove the message `{id}`, because the list has no message with this id"
                ),
            }),
            _ => Ok(()),
        }
    }
}

impl<M: Message> Check<'_, M> {
    /// Whether a message with this id is in the list before the current write.
    fn contains(&self, id: &str, before: &[M]) -> bool {
        let lists = [before]
            .into_iter()
            .chain(self.added.iter().rev().copied())
            .chain([self.current]);
        for list in lists {
            for message in list.iter().rev() {
                match message.removes() {
                    Some(Remove::All) => return false,
                    Some(Remove::One(removed)) if removed == id => return false,
                    None if message.id() == Some(id) => return true,
                    Some(Remove::One(_)) | None => {}
                }
            }
        }
        false
    }
}
