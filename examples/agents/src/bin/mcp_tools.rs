//! Tools over the Model Context Protocol, as a client and as a server: `cargo run --bin mcp_tools`.
//!
//! Without arguments, the program serves two tools to itself and calls them. With `serve`, it is a server for any client, over its
//! standard input and output. With `list` and a command, it lists the tools of another server:
//!
//! ```sh
//! cargo run --bin mcp_tools -- serve
//! cargo run --bin mcp_tools -- list npx -y @modelcontextprotocol/server-everything
//! ```

use std::process::ExitCode;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::tool::{ToolContext, ToolSet};
use petalflow_mcp::{self as mcp, McpClient};
use serde::Serialize;
use serde_json::{Value, json};

/// A distance.
#[derive(Serialize)]
struct Walk {
    metres: f64,
    minutes: f64,
}

/// Computes the time of a walk.
#[tool]
fn walk(
    /// The distance in metres.
    metres: f64,
    /// The speed in metres per second.
    #[serde(default = "usual")]
    speed: f64,
) -> petalflow::Result<Walk> {
    if speed <= 0.0 {
        return Err(
            "`speed` must be more than 0; leave it out to walk as people usually do".into(),
        );
    }
    let minutes = metres / speed / 60.0;
    Ok(Walk { metres, minutes })
}

fn usual() -> f64 {
    1.4
}

/// Boils eggs and reports progress.
#[tool]
async fn boil(
    /// The number of eggs.
    eggs: u32,
    cx: ToolContext,
) -> petalflow::Result<String> {
    for minute in 1..=4 {
        // A minute is short in this example.
        tokio::time::sleep(Duration::from_millis(20)).await;
        cx.emit(json!({ "progress": minute, "total": 4, "message": "boiling" }));
    }
    Ok(format!("{eggs} eggs, not too soft"))
}

fn tools() -> ToolSet {
    tools![walk, boil]
}

/// A client of our own server over a pipe. `McpClient::stdio` and `McpClient::http` connect to other servers.
fn kitchen() -> McpClient {
    McpClient::over("kitchen", || async {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(mcp::serve(tools()).named("kitchen", "1.0.0").over(theirs));
        Ok(ours)
    })
}

async fn show(server: &McpClient) -> petalflow::Result<()> {
    for tool in server.tools().await?.iter() {
        let spec = tool.spec();
        println!("{}: {}\n  {}", spec.name, spec.description, spec.parameters);
    }
    Ok(())
}

/// Calls a tool and prints the result.
async fn call(server: &McpClient, tool: &str, arguments: Value) -> petalflow::Result<()> {
    let tools = server.tools().await?;
    let tool = tools.get(tool).ok_or("the server has no such tool")?;
    println!("\n> {} {arguments}", tool.spec().name);
    let cx = ToolContext::new("call").with_listener(|event| println!("  … {event}"));
    match tool.call(arguments, &cx).await {
        Ok(result) => println!("  {result}"),
        // A model reads this error and corrects its call.
        Err(error) => println!("  failed: {error}"),
    }
    Ok(())
}

async fn play() -> petalflow::Result<()> {
    let server = kitchen().prefix("kitchen_");
    show(&server).await?;
    call(&server, "kitchen_walk", json!({ "metres": 1_000 })).await?;
    call(&server, "kitchen_walk", json!({ "metres": "far" })).await?;
    call(&server, "kitchen_boil", json!({ "eggs": 2 })).await?;
    server.close().await;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        None => play().await,
        Some("serve") => mcp::serve(tools()).stdio().await.map_err(Into::into),
        Some("list") => match arguments.next() {
            Some(program) => show(&McpClient::stdio(program, arguments)).await,
            None => Err("`list` needs the command of a server".into()),
        },
        Some(other) => {
            Err(format!("unknown argument `{other}`: `serve`, `list`, or nothing").into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
