//! Tests of the repository itself: which crate and which module may use which, no circles, file lengths, words, cited
//! paths, public names, recorded compile errors, complete programs in guides, options on pages, the page of dependencies, the version of
//! the compiler.
//!
//! The tables that these tests hold are in `rules.rs`. An error names the file and the line, and says what to do.

mod circles;
mod compiler;
mod crates;
mod dependencies;
mod files;
mod layers;
mod messages;
mod options;
mod programs;
mod public;
mod readmes;
mod rules;
mod source;
mod workspace;

/// Fails with all errors of a test at once, one per line.
#[track_caller]
fn report(errors: &[String]) {
    assert!(
        errors.is_empty(),
        "{} errors\n\n{}\n",
        errors.len(),
        errors.join("\n")
    );
}
