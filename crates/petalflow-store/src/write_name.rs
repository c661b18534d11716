//! The names of the writes beside a checkpoint.

use std::fmt;

use super::StoredWrite;
use crate::ids::TaskId;

/// What a write beside a checkpoint contains. `Display` gives the name under which it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteName<'a> {
    /// The result of a task.
    Done,
    /// The failure of a task.
    Error,
    /// A question of a task.
    Ask(TaskId),
    /// The end of a sleep of a task.
    Sleep(TaskId),
    /// What a task has received, or waits to receive.
    Receive(TaskId),
    /// The result of a side effect, which has this name.
    Once(&'a str),
    /// A write to the key with this id, which counts if the task does not finish.
    Unfinished(&'a str),
    /// The request with this number that a task has made of a model, for replays.
    Request(u32),
    /// The number of the last message that the thread has taken.
    Taken,
    /// A thread that a task has started. In the namespace of links: one that is cancelled with this thread.
    Child(TaskId),
    /// A thread that waits for the end of this one: its id.
    Joined,
    /// Why the last run of this thread failed, for the threads that wait for it.
    Cause,
    /// A command of this kind to the run that has the thread.
    Stop(&'a str),
}

impl<'a> WriteName<'a> {
    /// The contents of a write with this name. `None` for a name that this program does not know.
    fn parse(name: &'a str) -> Option<Self> {
        match name.split_once('/') {
            None if name == "done" => Some(WriteName::Done),
            None if name == "error" => Some(WriteName::Error),
            None if name == "taken" => Some(WriteName::Taken),
            None if name == "joined" => Some(WriteName::Joined),
            None if name == "cause" => Some(WriteName::Cause),
            Some(("child", id)) => TaskId::parse(id).map(WriteName::Child),
            Some(("ask", id)) => TaskId::parse(id).map(WriteName::Ask),
            Some(("sleep", id)) => TaskId::parse(id).map(WriteName::Sleep),
            Some(("receive", id)) => TaskId::parse(id).map(WriteName::Receive),
            Some(("once", name)) => Some(WriteName::Once(name)),
            Some(("request", number)) => number.parse().ok().map(WriteName::Request),
            Some(("unfinished", key)) => Some(WriteName::Unfinished(key)),
            Some(("stop", kind)) => Some(WriteName::Stop(kind)),
            _ => None,
        }
    }
}

impl fmt::Display for WriteName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteName::Done => f.write_str("done"),
            WriteName::Error => f.write_str("error"),
            WriteName::Ask(id) => write!(f, "ask/{id}"),
            WriteName::Sleep(id) => write!(f, "sleep/{id}"),
            WriteName::Receive(id) => write!(f, "receive/{id}"),
            WriteName::Once(name) => write!(f, "once/{name}"),
            WriteName::Unfinished(key) => write!(f, "unfinished/{key}"),
            WriteName::Request(number) => write!(f, "request/{number}"),
            WriteName::Taken => f.write_str("taken"),
            WriteName::Child(id) => write!(f, "child/{id}"),
            WriteName::Joined => f.write_str("joined"),
            WriteName::Cause => f.write_str("cause"),
            WriteName::Stop(kind) => write!(f, "stop/{kind}"),
        }
    }
}

impl StoredWrite {
    #[doc(hidden)]
    pub fn new(task: TaskId, name: WriteName<'_>, bytes: Vec<u8>) -> Self {
        StoredWrite {
            task,
            name: name.to_string(),
            bytes,
        }
    }

    /// What it contains. `None` if this program does not know its name.
    #[doc(hidden)]
    pub fn contents(&self) -> Option<WriteName<'_>> {
        WriteName::parse(&self.name)
    }

    /// The record of the result of this task, among the records beside its checkpoint, which are in the order of their tasks. The
    /// task has a result if there is such a record, and the program can read it.
    #[doc(hidden)]
    pub fn result_of(task: TaskId, writes: &[StoredWrite]) -> Option<&StoredWrite> {
        let first = writes.partition_point(|write| write.task < task);
        let own = writes[first..].iter().take_while(|it| it.task == task);
        own.into_iter()
            .find(|write| write.is(task, WriteName::Done))
    }

    /// Whether it is a write of this task with these contents.
    #[doc(hidden)]
    pub fn is(&self, task: TaskId, contents: WriteName<'_>) -> bool {
        self.task == task && self.contents() == Some(contents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_as_they_were_formatted() {
        let id = TaskId::from_bytes([0xa7; 16]);
        for name in [
            WriteName::Done,
            WriteName::Error,
            WriteName::Ask(id),
            WriteName::Sleep(id),
            WriteName::Receive(id),
            WriteName::Child(id),
            WriteName::Joined,
            WriteName::Cause,
            WriteName::Once("mail/sent"),
            WriteName::Unfinished("spent"),
            WriteName::Request(7),
            WriteName::Stop("cancel"),
            WriteName::Once(""),
        ] {
            assert_eq!(WriteName::parse(&name.to_string()), Some(name));
        }
        for name in [
            "",
            "result",
            "ask",
            "done/",
            "ask/12",
            "ask/+7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
        ] {
            assert_eq!(WriteName::parse(name), None, "{name}");
        }
    }
}
