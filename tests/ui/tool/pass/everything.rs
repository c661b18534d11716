#![allow(clippy::too_many_arguments)]

use petalflow::BoxError;
use petalflow::node::{Extract, Scope};
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{Tool, ToolContext};
use serde::{Deserialize, Serialize};

pub struct Library;

#[derive(Deserialize, JsonSchema)]
struct Filter {
    #[allow(dead_code)]
    since: u16,
}

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct Busy;

struct Clock;

impl Extract for Clock {
    fn extract(_: &Scope) -> Result<Self, BoxError> {
        Ok(Clock)
    }
}

fn risky(query: &str, r#type: &Option<String>, _: &Filter, _: &u8) -> Option<String> {
    r#type.as_ref().map(|_| query.into())
}

fn two() -> u8 {
    2
}

/// Searches.
#[tool(
    name = "search-books",
    description = "Searches the library.",
    long_running,
    deferred,
    confirm = risky,
    timeout = 30s,
    retry = [Retry::attempts(5).on::<Busy>(), 2]
)]
async fn search(
    /// What to look for.
    mut query: String,
    r#type: Option<String>,
    #[allow(unused)] filter: Filter,
    #[serde(default = "two", alias = "most")] limit: u8,
    cx: Context,
    call: ToolContext,
    library: Managed<Library>,
    #[run] clock: Clock,
    #[cfg(any())] never: Never,
) -> Result<impl Serialize, Busy> {
    query.push_str(cx.node());
    drop((r#type, call, library, clock));
    Ok((query, limit))
}

/// Blocks.
#[tool(blocking, confirm = "really?")]
pub(crate) fn block(what: Vec<String>) -> usize {
    what.len()
}

/// Nothing in, nothing out.
#[tool(confirm)]
fn nothing() {}

/// Takes the fields of a struct.
#[tool]
fn flat(#[serde(flatten)] filter: Filter, more: u8) -> u16 {
    filter.since + u16::from(more)
}

#[cfg(any())]
#[tool]
fn absent(never: Never) {}

mod nested {
    use petalflow::prelude::*;

    /// Answers.
    #[tool]
    pub fn ping() -> &'static str {
        "pong"
    }
}

mod renamed {
    pub use petalflow as flow;

    /// Answers with the text.
    #[flow::tool(crate = self::flow)]
    pub fn pong(text: String) -> String {
        text
    }
}

#[test]
fn the_tools_are_listed() {
    let tools = tools![search, block, nothing, flat, nested::ping, renamed::pong,];
    assert_eq!(tools.len(), 6);
    assert!(search {}.spec().long_running);
    assert!(tools![].is_empty());

    /// In a function.
    #[tool]
    fn inner(n: u8) -> u8 {
        n
    }
    assert_eq!(tools![inner].len(), 1);
}
