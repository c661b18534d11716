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

fn shown(value: &dyn std::fmt::Display, _: &[u8]) -> bool {
    value.to_string().is_empty()
}

fn any(value: impl std::fmt::Display, _: &[u8; 2]) -> bool {
    value.to_string().is_empty()
}

fn generic<T: AsRef<str> + ?Sized, U>(value: &T, _: U) -> bool {
    value.as_ref().is_empty()
}

/// Takes what a function of trait objects and slices can be called with.
#[tool(confirm = shown)]
fn with_a_trait_object(title: String, pages: [u8; 2]) -> String {
    format!("{title} {pages:?}")
}

/// Takes what a generic function can be called with.
#[tool(confirm = any)]
fn with_any(title: String, pages: [u8; 2]) -> String {
    format!("{title} {pages:?}")
}

/// Takes what a generic function with references can be called with.
#[tool(confirm = generic)]
fn with_a_generic(title: String, pages: Vec<u8>) -> String {
    format!("{title} {pages:?}")
}

/// Asks for nothing.
#[tool(confirm = always)]
fn without_arguments() -> u8 {
    2
}

fn always() -> bool {
    true
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
    let asking = tools![
        with_a_trait_object,
        with_any,
        with_a_generic,
        without_arguments
    ];
    assert_eq!(asking.len(), 4);
    assert!(search {}.spec().long_running);
    assert!(tools![].is_empty());

    /// In a function.
    #[tool]
    fn inner(n: u8) -> u8 {
        n
    }
    assert_eq!(tools![inner].len(), 1);
}
