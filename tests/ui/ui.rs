//! Compile errors as users see them: `<topic>/fail/*.rs` with their `.stderr`. `pass.rs` has similar correct programs.
//!
//! `TRYBUILD=overwrite cargo test -p petalflow-ui-tests` writes the `.stderr` files anew; read the difference as a
//! reviewer of prose. `tests/tidy/messages.rs` checks how many errors a record has, and that none names generated code.

use std::fs;
use std::path::Path;
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
    // Programs that should compile are not among them: trybuild would build and run each with a cargo of its own.
    trybuild::TestCases::new().compile_fail("*/fail/*.rs");
}

/// A file that no target names would not be compiled.
#[test]
fn each_correct_program_is_compiled() {
    let targets = concat!(include_str!("pass.rs"), include_str!("Cargo.toml"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let missing: Vec<String> = fs::read_dir(folder)
        .expect("the folder can be read")
        .filter_map(|topic| fs::read_dir(topic.ok()?.path().join("pass")).ok())
        .flatten()
        .map(|program| program.expect("the folder can be read").path())
        .filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned()))
        .filter(|program| !targets.contains(&format!("\"{program}\"")))
        .collect();
    assert!(missing.is_empty(), "add these to `pass.rs`: {missing:?}");
}

/// The program of the page about flows compiles as it stands there, and each of the mistakes that the documents show says what they show.
#[test]
fn the_documents_show_what_the_compiler_says() {
    let flows = include_str!("../../docs/guide/flows.md");
    let readme = include_str!("../../README.md");
    let shows = |language: &str, text: &str| {
        assert!(
            flows.contains(&format!("```{language}\n{text}")),
            "docs/guide/flows.md does not have this as it is: copy it there\n{text}"
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
        let shown = stderr.replace(&format!("readme/fail/{file}.rs"), "src/main.rs");
        shows("text", &shown);
        if file == "route_without_an_edge" {
            assert!(
                readme.contains(&shown),
                "README.md does not have this as it is: copy it there\n{shown}"
            );
        }
    }
}
