//! The `doc-audit` example: it checks Markdown documents and fixes them.
//!
//! `doc-audit` checks the documents of a repository for dead links, headings that skip a level, code without a language, long
//! lines and repeated headings. All modules are an ordinary library. [`flow`] connects them:
//!
//! 1. [`walk`] finds the documents and reads them.
//! 2. [`section`] splits each document into independent sections.
//! 3. [`targets`] looks up all targets of the links.
//! 4. [`check`] checks one section without any I/O, so that all sections can be checked in parallel.
//! 5. [`fix`] applies the edits of the findings. The next round checks the new text.
//! 6. [`report`] prints the remaining findings.
//!
//! [`run`] runs the flow, with or without a store. [`args`] parses the command line, and [`progress`] shows a progress bar.

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
