//! Cargo as users run it: trybuild turns incremental compilation off, and rustc then prints less of some errors.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let cargo = std::env::var_os("PETALFLOW_UI_CARGO").expect("`ui.rs` sets the path of cargo");
    let status = Command::new(cargo)
        .args(std::env::args_os().skip(1))
        .env("CARGO_INCREMENTAL", "1")
        .status()
        .expect("cargo can be started");
    ExitCode::from(u8::from(!status.success()))
}
