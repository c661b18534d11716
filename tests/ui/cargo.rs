//! Cargo as users run it: trybuild turns incremental compilation off, and rustc then prints less of some errors.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let cargo = std::env::var_os("PETALFLOW_UI_CARGO").expect("`ui.rs` sets the path of cargo");
    let status = Command::new(cargo)
        .args(std::env::args().skip(1).map(with_width))
        .env("CARGO_INCREMENTAL", "1")
        .status()
        .expect("cargo can be started");
    ExitCode::from(u8::from(!status.success()))
}

/// Adds the width of messages to the flags of rustc. trybuild passes it for the programs, but not when it checks their
/// dependencies before. With two lists of flags, cargo checks all dependencies twice.
fn with_width(argument: String) -> String {
    match argument.strip_suffix(']') {
        Some(flags) if flags.contains("rustflags=[") && !flags.contains("--diagnostic-width") => {
            format!(r#"{flags}, "--diagnostic-width=140"]"#)
        }
        _ => argument,
    }
}
