//! The `doc-audit` example: what Markdown says, what is wrong with it, how to repair it.
//!
//! `doc-audit` checks the documents of a repository for links that lead nowhere, headings that skip a level, code
//! without a language, lines that are too long and headings that repeat. All of it is an ordinary library; [`flow`] decides
//! what runs when, and how much of it at once:
//!
//! 1. [`walk`] finds the documents and reads them;
//! 2. [`section`] splits each into self-contained sections;
//! 3. [`targets`] looks up everything that the sections link to;
//! 4. [`check`] judges one section, without any I/O, so that all sections may be judged at once;
//! 5. [`fix`] applies what the findings propose, and the round starts again with the new text;
//! 6. [`report`] says what is left.
//!
//! [`run`] runs it, also from one process to the next, [`args`] is the command line, and [`progress`] the bar that moves
//! while it runs.

pub mod args;
pub mod check;
pub mod fix;
pub mod flow;
pub mod progress;
pub mod report;
pub mod run;
pub mod section;
pub mod targets;
pub mod walk;

mod html;
mod markdown;
mod slug;
mod wrap;

#[cfg(test)]
mod properties;
