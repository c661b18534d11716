//! A client whose types `openapi-typescript` generates. `PETALFLOW_TEST_OPENAPI_TS` is the folder `node_modules` with the npm
//! packages `openapi-typescript`, `openapi-fetch` and `typescript`.

use std::path::PathBuf;

use petalflow_test_support::{Need, skip};
use tokio::process::Command;

use super::{builder, document, printed, run, write};
use crate::mcp::kit::Served;

const SCRIPT: &str = include_str!("client.ts");

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_generated_client_for_typescript() {
    let Some(modules) = std::env::var_os("PETALFLOW_TEST_OPENAPI_TS") else {
        return skip(
            Need::Optional,
            "no generator of clients for TypeScript: set PETALFLOW_TEST_OPENAPI_TS to the folder `node_modules` with the npm packages \
             openapi-typescript, openapi-fetch and typescript",
        );
    };
    let modules = PathBuf::from(modules);
    let served = Served::start(builder()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::os::unix::fs::symlink(&modules, folder.join("node_modules")).expect("it is linked");
    write(folder, "openapi.json", &document(&served).await.to_string());
    write(folder, "package.json", r#"{ "type": "module" }"#);
    write(folder, "client.ts", SCRIPT);
    let program = |name: &str| Command::new(modules.join(".bin").join(name));
    let mut generate = program("openapi-typescript");
    generate.args(["openapi.json", "--output", "schema.ts"]);
    printed(&run(generate.current_dir(folder)).await);
    let mut compile = program("tsc");
    compile.args([
        "--strict",
        "--noUncheckedIndexedAccess",
        "--exactOptionalPropertyTypes",
        "--skipLibCheck",
    ]);
    compile.args(["--target", "es2022", "--module", "nodenext", "client.ts"]);
    compile.args(["--lib", "es2023,dom,dom.iterable"]);
    printed(&run(compile.current_dir(folder)).await);
    let mut client = Command::new("node");
    client.args(["client.js", &served.url, "secret"]);
    let output = printed(&run(client.current_dir(folder)).await);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        lines,
        [
            "ok",
            "waiting question MayPay",
            "finished",
            "events: custom node_finished",
            "refused: there is no such thread",
        ]
    );
}
