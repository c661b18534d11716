//! The program `petalflow`. See the library `petalflow_cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    petalflow_cli::main()
}
