//! Compile errors as users see them: `<topic>/fail/*.rs` with their `.stderr`, and similar correct programs in `<topic>/pass/*.rs`.
//!
//! `TRYBUILD=overwrite cargo test -p petalflow-ui-tests` writes the `.stderr` files anew; read the difference as a
//! reviewer of prose.

use std::process::Command;

/// The name of the variable with the path of cargo, for the process that runs the tests.
const CARGO: &str = "PETALFLOW_UI_CARGO";

/// Runs itself again with a cargo that compiles incrementally, as users do.
#[test]
fn ui() {
    if std::env::var_os(CARGO).is_none() {
        let filters = std::env::args().filter(|argument| argument.starts_with("trybuild="));
        let status = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .args(["ui", "--exact", "--nocapture"])
                .args(filters)
                .env(
                    CARGO,
                    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
                )
                .env("CARGO", env!("CARGO_BIN_EXE_petalflow-ui-cargo"))
                .status()
        });
        let passed = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        assert!(
            passed,
            "the programs do not print what is on record: {status:?}"
        );
        return;
    }
    trybuild::TestCases::new().pass("*/pass/*.rs");
    // By themselves, so that one cargo checks all of them.
    trybuild::TestCases::new().compile_fail("*/fail/*.rs");
}

/// The README's program compiles as it stands there, and each of the mistakes that it shows says what it shows.
#[test]
fn the_readme_shows_what_the_compiler_says() {
    let readme = include_str!("../../README.md");
    let shows = |language: &str, text: &str| {
        assert!(
            readme.contains(&format!("```{language}\n{text}")),
            "README.md does not have this as it is: copy it there\n{text}"
        );
    };
    shows("rust", include_str!("readme/pass/essay.rs"));
    for (file, stderr) in [
        (
            "edge_forgotten",
            include_str!("readme/fail/edge_forgotten.stderr"),
        ),
        (
            "route_without_an_edge",
            include_str!("readme/fail/route_without_an_edge.stderr"),
        ),
        (
            "both_at_once",
            include_str!("readme/fail/both_at_once.stderr"),
        ),
    ] {
        shows(
            "text",
            &stderr.replace(&format!("readme/fail/{file}.rs"), "src/main.rs"),
        );
    }
}
