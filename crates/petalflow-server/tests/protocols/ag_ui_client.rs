//! The client of AG-UI. `PETALFLOW_TEST_AG_UI` is the folder `node_modules` with the npm package `@ag-ui/client`.

use std::path::Path;

use petalflow_test_support::{Need, skip};
use tokio::process::Command;

use super::guide::{guide, lines, with_client};

const SCRIPT: &str = include_str!("ag_ui_client.js");

#[tokio::test(flavor = "multi_thread")]
async fn the_client_of_npm() {
    let Ok(modules) = std::env::var("PETALFLOW_TEST_AG_UI") else {
        return skip(
            Need::Optional,
            "no client of AG-UI: set PETALFLOW_TEST_AG_UI to a folder `node_modules` with the npm package `@ag-ui/client`",
        );
    };
    let mut program = Command::new("node");
    let parent = Path::new(&modules).parent().unwrap_or(Path::new("/"));
    program.current_dir(parent).args(["-e", SCRIPT]);
    let output = with_client(&guide(), |builder, _| builder.ag_ui(), program).await;
    let expected = [
        "streamed: You said hello.",
        "called: I got a river.",
        "asked: confirmation Delete all files?",
        "confirmed: I got gone.",
        "ran: I got Kyoto.",
        "subscribed: One moment.",
        "cancelled: cancelled",
        "failed: RUN_ERROR",
        "refused: 401",
    ];
    assert_eq!(lines(&output), expected);
}
