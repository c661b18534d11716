//! `#[tool]`: name, description, schema, arguments, results, and what comes from the run.

#![allow(
    deprecated,
    reason = "the descriptions of most tools do not matter here"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use petalflow::node::ManagedValues;
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{Tool, ToolContext};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call;

/// How books are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    Title,
    YearOfPrint,
}

/// Which books count.
#[derive(Debug, Deserialize, JsonSchema)]
struct Filter {
    /// The first year.
    since: u16,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Book {
    title: String,
    year: u16,
}

/// Searches the library
/// for books.
///
/// Sorted.
#[tool]
async fn search(
    /// Words of the title.
    query: String,
    order: Option<Order>,
    /// Which books count.
    filter: Filter,
    #[serde(default = "ten", rename = "max")]
    #[schemars(range(max = 50))]
    limit: u32,
) -> petalflow::Result<Vec<Book>> {
    if limit == 0 {
        return Err("no books at all?".into());
    }
    let title = format!("{query} {:?} {:?}", order.unwrap_or_default(), filter.tags);
    Ok(vec![Book {
        title,
        year: filter.since,
    }])
}

fn ten() -> u32 {
    10
}

#[test]
fn the_schema_describes_the_parameters() {
    let spec = search {}.spec().clone();
    assert_eq!(spec.name, "search");
    assert_eq!(
        spec.description,
        "Searches the library\nfor books.\n\nSorted."
    );
    assert_eq!(
        spec.parameters,
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "Words of the title." },
                "order": {
                    "type": ["string", "null"],
                    "enum": ["title", "year_of_print", null],
                    "description": "How books are sorted.",
                },
                "filter": {
                    "type": "object",
                    "description": "Which books count.",
                    "properties": {
                        "since": { "type": "integer", "minimum": 0, "maximum": 65535, "description": "The first year." },
                        "tags": { "type": "array", "items": { "type": "string" }, "default": [] },
                    },
                    "required": ["since"],
                },
                "max": { "type": "integer", "minimum": 0, "maximum": 50, "default": 10 },
            },
            "required": ["query", "filter"],
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn a_call_runs_the_function() {
    let arguments = json!({
        "query": "petals",
        "order": "year_of_print",
        "filter": { "since": 1990, "tags": ["rust"] },
    });
    let result = call(&search {}, arguments).await;
    assert_eq!(
        result.unwrap(),
        json!([{ "title": "petals YearOfPrint [\"rust\"]", "year": 1990 }])
    );
    // The function is still one.
    let filter = Filter {
        since: 1,
        tags: vec![],
    };
    assert!(search("petals".into(), None, filter, 0).await.is_err());
}

#[test]
fn a_tool_that_takes_nothing_has_an_empty_object() {
    #[tool]
    fn ping() -> &'static str {
        "pong"
    }

    let spec = ping {}.spec().clone();
    assert_eq!(spec.description, "");
    assert_eq!(
        spec.parameters,
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    // Made once.
    assert!(Arc::ptr_eq(ping {}.spec(), ping {}.spec()));
}

#[tokio::test]
async fn serde_attributes_hold_for_parameters() {
    fn trimmed<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        Ok(String::deserialize(from)?.trim().into())
    }

    #[tool]
    fn odd(
        #[serde(alias = "text", deserialize_with = "trimmed")] words: String,
        #[serde(flatten)] filter: Filter,
        #[serde(default)] deep: bool,
    ) -> String {
        format!("{words}/{}/{}/{deep}", filter.since, filter.tags.len())
    }

    // With `flatten` unknown properties cannot be detected.
    let arguments = json!({ "text": " a ", "since": 3, "unknown": 1 });
    assert_eq!(call(&odd {}, arguments).await.unwrap(), "a/3/0/false");
    let schema = &odd {}.spec().parameters;
    assert_eq!(schema["required"], json!(["words", "since"]));
    assert!(schema.get("additionalProperties").is_none());
}

#[state]
struct Talk {
    reply: String,
    #[key(append)]
    heard: Vec<String>,
}

struct Library(&'static str);

/// Looks around.
#[tool]
async fn look(
    what: String,
    cx: Context,
    library: Managed<Library>,
    call: ToolContext,
) -> petalflow::Result<String> {
    cx.emit(format!("looking for {what}"));
    call.set_state("looked", true);
    Ok(format!("{what} in {} by {}", library.0, cx.node()))
}

#[node(Talk)]
async fn act(cx: Context) -> petalflow::Result<TalkReply> {
    let call = ToolContext::within("7", cx);
    let answer = look {}.call(json!({ "what": "petals" }), &call).await?;
    assert_eq!(call.take_actions().state_delta["looked"], true);
    Ok(TalkReply(answer.as_str().unwrap_or_default().into()))
}

flow!(Act(Talk) { act });

#[tokio::test]
async fn values_of_the_run_are_not_arguments() {
    let spec = look {}.spec().clone();
    assert_eq!(spec.parameters["required"], json!(["what"]));
    let talk = Act::new().manage(Library("Oxford")).run(()).await.unwrap();
    assert_eq!(talk.reply, "petals in Oxford by act");
    // Without a run there is nothing to take it from, and with one that lacks it neither.
    assert_eq!(
        call(&look {}, json!({ "what": "x" })).await.unwrap_err(),
        "tool `look` cannot be called here: `petalflow::node::context::Context` comes from a run, and the call is in no run: call the tool in a node, with `ToolContext::within`"
    );
    let error = Act::run(()).await.err().unwrap().to_string();
    assert!(error.contains("has no managed `"), "{error}");
}

#[tokio::test]
async fn managed_values_can_be_given_to_a_call_outside_any_run() {
    let mut values = ManagedValues::default();
    values.insert(Arc::new(Library("Bodleian")));
    let cx = ToolContext::managing("1", values);
    let result = look {}.call(json!({ "what": "x" }), &cx).await.unwrap();
    assert_eq!(result, "x in Bodleian by tool");
}

#[tokio::test(start_paused = true)]
async fn retries_and_timeouts_surround_the_function() {
    static TRIED: AtomicU32 = AtomicU32::new(0);

    /// Works at the third attempt.
    #[tool(retry = [Retry::attempts(4).first(Duration::from_secs(1))], timeout = 5s)]
    async fn flaky(text: String, cx: ToolContext) -> petalflow::Result<String> {
        cx.set_state(text.clone(), TRIED.load(Ordering::SeqCst));
        match TRIED.fetch_add(1, Ordering::SeqCst) {
            0 => Err("busy".into()),
            1 => std::future::pending().await,
            n => Ok(format!("{text} at {n}")),
        }
    }

    let begun = tokio::time::Instant::now();
    let cx = ToolContext::new("1");
    let result = flaky {}.call(json!({ "text": "done" }), &cx).await.unwrap();
    assert_eq!(result, "done at 2");
    assert_eq!(begun.elapsed(), Duration::from_secs(1 + 5 + 2));
    // What the failed attempts wanted is forgotten.
    assert_eq!(cx.take_actions().state_delta["done"], 2);

    // What does not fit is not tried again.
    TRIED.store(0, Ordering::SeqCst);
    let begun = tokio::time::Instant::now();
    call(&flaky {}, json!({ "text": 1 })).await.unwrap_err();
    assert_eq!(
        (begun.elapsed(), TRIED.load(Ordering::SeqCst)),
        (Duration::ZERO, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_an_error() {
    #[tool(timeout = 2s)]
    async fn sleep() {
        std::future::pending::<()>().await;
    }

    assert_eq!(
        call(&sleep {}, json!({})).await.unwrap_err(),
        "tool `sleep` timed out after 2s"
    );
}

#[tokio::test]
async fn a_blocking_tool_runs_on_a_thread_of_its_own() {
    #[tool(blocking)]
    fn thread(of: String) -> String {
        let here = std::thread::current().id();
        format!("{of}: {here:?}")
    }

    let here = format!("me: {:?}", std::thread::current().id());
    let there = call(&thread {}, json!({ "of": "me" })).await.unwrap();
    assert_ne!(there, here);
}

#[test]
fn confirmations_are_asked_for_always_with_words_or_by_a_predicate() {
    #[tool(confirm)]
    fn always(id: u32) -> u32 {
        id
    }

    #[tool(confirm = "really?")]
    fn words(id: u32) -> u32 {
        id
    }

    #[allow(
        clippy::ref_option,
        reason = "every argument comes as a reference to it"
    )]
    fn is_many(ids: &[u32], _: &Option<String>) -> bool {
        ids.len() > 2
    }

    #[tool(confirm = is_many)]
    fn many(ids: Vec<u32>, reason: Option<String>) -> usize {
        drop(reason);
        ids.len()
    }

    fn which(ids: &[u32]) -> Option<String> {
        ids.contains(&1).then(|| format!("delete {ids:?}?"))
    }

    #[tool(confirm = which)]
    fn told(ids: Vec<u32>, cx: Context) -> usize {
        drop(cx);
        ids.len()
    }

    let one = json!({ "id": 1 });
    assert_eq!(
        always {}.confirm(&one).as_deref(),
        Some("the tool `always` needs your approval")
    );
    assert_eq!(words {}.confirm(&one).as_deref(), Some("really?"));
    assert!(many {}.confirm(&json!({ "ids": [1, 2] })).is_none());
    assert!(many {}.confirm(&json!({ "ids": [1, 2, 3] })).is_some());
    // The call itself refuses what does not fit.
    assert!(many {}.confirm(&json!({ "ids": "all" })).is_none());
    assert_eq!(
        told {}.confirm(&json!({ "ids": [1] })).as_deref(),
        Some("delete [1]?")
    );
    assert!(search {}.confirm(&one).is_none());
}

#[test]
fn options_are_part_of_the_spec() {
    #[tool(name = "order-books", description = "Orders.", long_running)]
    fn order() {}

    #[tool(deferred)]
    fn later() {}

    let spec = order {}.spec().clone();
    assert_eq!(
        (&*spec.name, &*spec.description),
        ("order-books", "Orders.")
    );
    assert!(spec.long_running && !spec.deferred);
    assert!(later {}.spec().deferred);
}

#[tokio::test]
async fn results_are_any_serializable_values() {
    #[tool]
    fn nothing() {}

    #[tool]
    async fn unnamed() -> impl Serialize {
        json!({ "n": 1 })
    }

    #[tool]
    fn maybe(there: bool) -> Option<u8> {
        there.then_some(3)
    }

    #[tool]
    fn number(text: String) -> Result<u8, std::num::ParseIntError> {
        text.parse()
    }

    #[tool]
    fn keys() -> std::collections::BTreeMap<(u8, u8), u8> {
        [((1, 2), 3)].into()
    }

    assert_eq!(call(&nothing {}, json!({})).await, Ok(Value::Null));
    assert_eq!(call(&unnamed {}, json!({})).await, Ok(json!({ "n": 1 })));
    assert_eq!(
        call(&maybe {}, json!({ "there": true })).await,
        Ok(json!(3))
    );
    assert_eq!(
        call(&number {}, json!({ "text": "x" })).await,
        Err("invalid digit found in string".into())
    );
    assert_eq!(
        call(&keys {}, json!({})).await,
        Err("the result of tool `keys` cannot be written as JSON: key must be a string".into())
    );
}
