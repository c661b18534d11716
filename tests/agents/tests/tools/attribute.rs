//! `#[tool]`: name, description, schema, arguments, results, and what comes from the run.

use petalflow::prelude::*;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{Tool, ToolContext};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

async fn call(tool: impl Tool, arguments: Value) -> Result<Value, String> {
    let result = tool.call(arguments, &ToolContext::new("1")).await;
    result.map_err(|error| error.to_string())
}

#[test]
fn the_schema_says_what_the_function_takes() {
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
    let result = call(search {}, arguments).await;
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
