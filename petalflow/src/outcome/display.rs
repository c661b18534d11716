//! The text of an error of a run.

use std::error::Error;
use std::fmt;

use super::run_error::Inner;
use super::thread_outcome::waits_for;
use super::{RunError, RunErrorKind};
use crate::error::{NodeError, message_with_sources};
use crate::question::comma_separated;

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            flow,
            superstep,
            retried,
            failed,
            subject,
            ..
        } = &*self.0;
        match kind {
            RunErrorKind::Node(error) => write_node(f, error, subject.as_deref()),
            RunErrorKind::Write { nodes, problem } if nodes.is_empty() => {
                write!(f, "{problem} (in the input of `{flow}`); no node has run")
            }
            RunErrorKind::Write { nodes, problem } => {
                write!(
                    f,
                    "{problem} (written in superstep {superstep} of `{flow}` by {}); nothing of this superstep was applied",
                    quoted(nodes)
                )
            }
            RunErrorKind::Message { number, problem } => write!(
                f,
                "{problem} (message {number} to the thread, in superstep {superstep} of `{flow}`); the superstep was applied without it: resume the thread to go on"
            ),
            RunErrorKind::Panic { message } if *superstep == 0 => {
                write!(f, "`{flow}` panicked outside of its supersteps: {message}")
            }
            RunErrorKind::Panic { message } => write!(
                f,
                "`{flow}` panicked in superstep {superstep}, outside of its nodes: {message}"
            ),
            RunErrorKind::Limit { limit, next } => write!(
                f,
                "`{flow}` did not end within {limit} supersteps (next: {}); raise it with `.limit(..)` if the loop is meant to be that long",
                quoted(next)
            ),
            RunErrorKind::MissingManaged(names) => {
                write!(
                    f,
                    "`{flow}` needs managed values that it was not given: {}; pass them with `.manage(..)`, or in an `Arc` with `.manage_with(..)`",
                    quoted(names)
                )
            }
            RunErrorKind::Cancelled => {
                write!(f, "`{flow}` was cancelled in superstep {superstep}")?;
                if let Some(NodeError { node, message, .. }) = failed {
                    write!(f, "; node `{node}` failed at the same time: {message}")?;
                }
                write_retried(f, retried)
            }
            RunErrorKind::Drained { next } => write!(
                f,
                "`{flow}` was drained after superstep {superstep} (next: {})",
                quoted(next)
            ),
            RunErrorKind::Timeout { scope } => {
                write!(
                    f,
                    "`{flow}` took too long in superstep {superstep}: the {scope} timeout was hit"
                )?;
                write_retried(f, retried)
            }
            RunErrorKind::IncompleteJoin { waiting } => {
                write!(
                    f,
                    "`{flow}` ended while the joins before {} still waited for a side that failed",
                    quoted(waiting)
                )
            }
            RunErrorKind::Interrupted { interrupts } => {
                let waits = waits_for(interrupts, self.wakes());
                write!(f, "`{flow}` waits in superstep {superstep}: {waits}")
            }
            RunErrorKind::Sleeping { until } => {
                let waits = waits_for(&[], Some(*until));
                write!(f, "`{flow}` waits in superstep {superstep}: {waits}")
            }
            RunErrorKind::Rejected { node, by, reason } => {
                write!(f, "`{flow}` was rejected at node `{node}`")?;
                if let Some(by) = by {
                    write!(f, " by {by}")?;
                }
                match reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => Ok(()),
                }
            }
            RunErrorKind::Thread { problem } => f.write_str(problem),
            RunErrorKind::RestoreManaged { name, problem } => write!(
                f,
                "the managed value `{name}` could not be made for the run of `{flow}`: {problem}"
            ),
            RunErrorKind::NoEdge { node, route } => write!(
                f,
                "node `{node}` chose the route `{route}`, which has no edge in `{flow}`"
            ),
        }
    }
}

/// The message with its causes, which is what `main` prints if it returns the error. `{:#?}` shows the fields.
impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return f.write_str(&message_with_sources(self));
        }
        let Inner {
            kind,
            flow,
            superstep,
            source,
            ..
        } = &*self.0;
        f.debug_struct("RunError")
            .field("kind", kind)
            .field("flow", flow)
            .field("superstep", superstep)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

/// It has no source, because its message includes the text of the error that ended the run: [`get_ref`](RunError::get_ref) is that
/// error.
impl Error for RunError {}

/// The failure of a node: where, or whose for readers who do not know the nodes, and its error.
fn write_node(f: &mut fmt::Formatter<'_>, error: &NodeError, subject: Option<&str>) -> fmt::Result {
    if let Some(subject) = subject {
        if !error.message.contains(subject) {
            write!(f, "{subject}: ")?;
        }
        return f.write_str(&error.message);
    }
    write!(f, "node `{}`", error.node)?;
    if !error.namespace.is_empty() {
        write!(f, " of `{}`", error.namespace)?;
    }
    write!(
        f,
        " failed in superstep {}: {}",
        error.superstep, error.message
    )
}

/// The failures of the nodes that were to be tried again.
fn write_retried(f: &mut fmt::Formatter<'_>, retried: &[NodeError]) -> fmt::Result {
    for error in retried {
        write!(
            f,
            "; node `{}` was to be tried again after it had failed: {}",
            error.node, error.message
        )?;
    }
    Ok(())
}

fn quoted<T: fmt::Display>(names: &[T]) -> String {
    comma_separated(names.iter().map(|name| format!("`{name}`")))
}
