//! What the tests of all packages of this workspace share. Depends on none of them.

use std::error::Error;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod allocated;
mod kill;
mod mutation;
mod sorted;

pub use allocated::{Allocated, allocated};
pub use kill::{ends_before_kill, kill_until_all_end};
pub use mutation::{bounded, mutated};
pub use sorted::sorted;

/// Whether a continuous integration run has what a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `.ci/run` installs it. With `PETALFLOW_TESTS=all`, its absence is an error.
    Installed,
    /// It depends on the machine.
    Optional,
}

/// Reports that the current test is skipped, or a part of it. The caller then returns from the test.
///
/// `why` says what is missing and what to install or to set. The line goes to the standard error output, past the test
/// harness, and is appended to the file that `PETALFLOW_SKIPS` names.
///
/// # Panics
///
/// If the test needs something [installed](Need::Installed) and `PETALFLOW_TESTS=all` is set.
pub fn skip(need: Need, why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(
        need == Need::Optional
            || std::env::var_os("PETALFLOW_TESTS").is_none_or(|tests| tests != "all"),
        "PETALFLOW_TESTS=all allows no skip of {test}: {why}"
    );
    let line = format!("skipped: {test}: {why}\n");
    // `eprintln!` would be captured.
    stderr().write_all(line.as_bytes()).ok();
    if let Some(file) = std::env::var_os("PETALFLOW_SKIPS") {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&file)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("PETALFLOW_SKIPS={}: {error}", file.display()));
    }
}

/// A recording, or a folder of them. `path` is that of another project's recording in the test data, which is not part of
/// the repository. Where that is absent, the recording of our own that stands for it, in `tests/recordings`. Where there is
/// none either, reports a [skip] and returns `None`.
///
/// The test data is in the folder that `PETALFLOW_TEST_DATA` names, or in `shared/data` beside the repository.
pub fn recording(path: &str) -> Option<PathBuf> {
    let data = std::env::var_os("PETALFLOW_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let others = data.join(path);
    if others.exists() {
        return Some(others);
    }
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../recordings"));
    // A folder of the test data stands for all of its recordings.
    let own = match others.extension() {
        Some(_) => own.join(others.file_name()?),
        None => own,
    };
    if own.exists() {
        return Some(own);
    }
    skip(
        Need::Optional,
        format_args!(
            "no {path} in {}: set PETALFLOW_TEST_DATA to the folder that has it",
            data.display()
        ),
    );
    None
}

/// Asserts that a text contains another.
///
/// # Panics
///
/// If it does not.
#[track_caller]
pub fn assert_contains(text: &impl Display, part: &str) {
    let text = text.to_string();
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Asserts that a text starts with another.
///
/// # Panics
///
/// If it does not.
#[track_caller]
pub fn assert_starts_with(text: &impl Display, start: &str) {
    let text = text.to_string();
    assert!(
        text.starts_with(start),
        "`{start}` is not at the start of: {text}"
    );
}

/// Waits until a file is gone.
///
/// # Panics
///
/// If it is still there after five seconds.
pub fn wait_until_gone(file: &Path) {
    for _ in 0..1_000 {
        if !file.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{} is still there", file.display());
}

/// Checks what a program prints of an error: no text of the chain of its sources is part of a text before it, and `Debug`, which
/// `main` prints, is the chain.
///
/// # Panics
///
/// If it is not so.
#[track_caller]
pub fn check_texts(error: &(dyn Error + 'static)) {
    let mut chain: Vec<_> = std::iter::successors(Some(error), |&error| error.source())
        .map(ToString::to_string)
        .collect();
    let printed = chain.join(": ");
    assert_eq!(format!("{error:?}"), printed, "what `main` prints");
    while let Some(text) = chain.pop() {
        let repeated = chain.iter().any(|above| above.contains(&text));
        assert!(!repeated, "a text is printed twice: {printed}");
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Calls [`skip`] in a process of its own. Returns its standard error output and whether it succeeded.
    fn skips(need: Need, tests: Option<&str>) -> (String, bool) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--ignored",
                "--exact",
                &format!("tests::child_{need:?}").to_lowercase(),
            ])
            .env_remove("PETALFLOW_TESTS")
            .env_remove("PETALFLOW_SKIPS")
            .envs(tests.map(|tests| ("PETALFLOW_TESTS", tests)));
        let output = command.output().unwrap();
        (
            String::from_utf8(output.stderr).unwrap(),
            output.status.success(),
        )
    }

    #[test]
    #[ignore = "run by the other tests"]
    fn child_installed() {
        skip(Need::Installed, "set FOO");
    }

    #[test]
    #[ignore = "run by the other tests"]
    fn child_optional() {
        skip(Need::Optional, "set FOO");
    }

    #[test]
    fn a_skip_is_reported_past_the_harness() {
        for need in [Need::Installed, Need::Optional] {
            let (errors, succeeded) = skips(need, None);
            assert!(errors.contains("set FOO"), "{errors}");
            assert!(succeeded);
        }
    }

    #[test]
    fn a_skip_of_what_is_installed_can_be_an_error() {
        assert!(!skips(Need::Installed, Some("all")).1);
        assert!(skips(Need::Optional, Some("all")).1);
    }
}
