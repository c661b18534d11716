//! Exit codes, and errors that end the program with one.

use std::fmt;
use std::process::ExitCode;

/// The exit codes. 0 to 6 and 10 are those of PetalFlow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Invalid = 1,
    Failed = 2,
    File = 3,
    Input = 4,
    Missing = 5,
    WrongKind = 6,
    Waiting = 7,
    Thread = 8,
    Timeout = 10,
    Usage = 64,
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command ends early. The message is empty if everything has been said.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// The result of a command, and of its parts.
pub(crate) type Result<T = Exit> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Failure {
            exit,
            message: message.to_string(),
            hint: None,
        }
    }

    /// Ends the program without a message.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// Adds what to do.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}
