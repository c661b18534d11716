//! Exit codes, and errors that end the program with one.

use std::fmt;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::words;

/// The exit codes. 0 to 6 and 10 are those of PetalFlow. The documentation of the crate has a table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The document has errors.
    Invalid = 1,
    /// The run failed.
    Failed = 2,
    /// A file cannot be read or written.
    File = 3,
    /// The input, a script or an answer is wrong.
    Input = 4,
    /// A model, a tool or a function is missing.
    Missing = 5,
    /// The document is of another kind than the command needs.
    WrongKind = 6,
    /// The run waits for the answer of a person, or sleeps.
    Waiting = 7,
    /// The store or the thread cannot be used.
    Thread = 8,
    /// No question needed an answer of the command: it came too late.
    Unused = 9,
    /// The run took too long.
    Timeout = 10,
    /// The replay of a thread differs from what was recorded.
    Differs = 11,
    /// The command line is wrong.
    Usage = 64,
    /// The run was stopped with Ctrl-C.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command ends early. Nothing is printed for an empty message.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The diagnostics of a document, in JSON. They have been printed as text.
    pub(crate) diagnostics: Vec<Value>,
}

/// The result of a command, and of its parts.
pub(crate) type Result<T = Exit> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Failure {
            exit,
            message: words::of_command_line(&message.to_string()),
            hint: None,
            diagnostics: Vec::new(),
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

    /// The line for programs: `{"event": "error", "error": .., "exit": ..}`.
    pub(crate) fn to_json(&self) -> Value {
        let mut line = json!({ "event": "error", "error": self.message, "exit": self.exit as u8 });
        if let Some(hint) = &self.hint {
            line["hint"] = hint.as_str().into();
        }
        if !self.diagnostics.is_empty() {
            line["diagnostics"] = self.diagnostics.clone().into();
        }
        line
    }
}
