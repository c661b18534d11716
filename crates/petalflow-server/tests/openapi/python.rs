//! A client that `openapi-python-client` generates. `PETALFLOW_TEST_PYTHON` is a Python with this package.

use petalflow_test_support::{Need, skip};
use tokio::process::Command;

use super::{builder, document, printed, run, write};
use crate::mcp::kit::Served;

const SCRIPT: &str = include_str!("client.py");

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_generated_client_for_python() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        return skip(
            Need::Optional,
            "no generator of clients for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `openapi-python-client`",
        );
    };
    let served = Served::start(builder()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "openapi.json", &document(&served).await.to_string());
    write(
        folder,
        "config.yml",
        "package_name_override: petalflow_client\npost_hooks: []\n",
    );
    let mut generate = Command::new(&python);
    generate
        .args([
            "-m",
            "openapi_python_client",
            "generate",
            "--path",
            "openapi.json",
        ])
        .args([
            "--config",
            "config.yml",
            "--output-path",
            "out",
            "--overwrite",
        ])
        .current_dir(folder);
    let generated = printed(&run(&mut generate).await);
    // It leaves out what it cannot generate: of the responses, a picture.
    assert!(
        !generated.contains("Endpoint will not be generated"),
        "{generated}"
    );
    let mut program = Command::new(&python);
    program
        .args(["-c", SCRIPT, &served.url, "secret"])
        .env("PYTHONPATH", folder.join("out"));
    let output = printed(&run(&mut program).await);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        lines,
        [
            "ok",
            "DoWork helper orders refunds",
            "waiting question MayPay",
            "finished",
            "refused: there is no such thread",
        ]
    );
}
