//! Sets and registries of tools.

use petalflow::prelude::*;
use petalflow::tool::{FuncTool, Tool, ToolRegistry, ToolSet, ToolSource};
use serde_json::{Value, json};

use super::call;

fn says(name: &str, what: &'static str) -> FuncTool {
    FuncTool::new(name, what, move |_: Value| async move { Ok(what) })
}

/// Searches the library.
#[tool]
fn search(query: String) -> String {
    query
}

#[test]
fn p030_registering_a_name_again_overwrites_a_missing_one_is_none_and_names_are_sorted() {
    let mut tools = ToolSet::new();
    for name in ["pear", "apple", "fig"] {
        assert!(tools.register(says(name, "first")).is_none());
    }
    let old = tools.register(says("fig", "second")).unwrap();
    assert_eq!(old.spec().description, "first");
    assert_eq!(tools.get("fig").unwrap().spec().description, "second");
    assert!(tools.get("plum").is_none());
    assert_eq!(tools.names().collect::<Vec<_>>(), ["apple", "fig", "pear"]);
    let specs: Vec<_> = tools.specs().iter().map(|spec| spec.name.clone()).collect();
    assert_eq!(specs, ["apple", "fig", "pear"]);

    let registry = ToolRegistry::from(tools);
    registry.register(says("fig", "third"));
    assert_eq!(registry.get("fig").unwrap().spec().description, "third");
    assert!(registry.get("plum").is_none());
    assert_eq!(registry.list(), ["apple", "fig", "pear"]);
}

#[tokio::test]
async fn i027_a_tool_is_found_by_name_at_the_moment_of_the_call() {
    let registry = ToolRegistry::new();
    let elsewhere = registry.clone();
    assert!(elsewhere.get("greet").is_none());
    registry.register(says("greet", "hello"));
    assert_eq!(
        call(&elsewhere.get("greet").unwrap(), json!({})).await,
        Ok(json!("hello"))
    );
    registry.register(says("greet", "ahoy"));
    assert_eq!(
        call(&elsewhere.get("greet").unwrap(), json!({})).await,
        Ok(json!("ahoy"))
    );
}

#[tokio::test]
async fn a_set_and_a_registry_are_sources_of_tools() {
    let registry = ToolRegistry::from(tools![search]);
    let sources: [&dyn ToolSource; 2] = [&tools![search], &registry];
    for source in sources {
        let tools = source.tools().await.unwrap();
        assert_eq!(tools.names().collect::<Vec<_>>(), ["search"]);
    }
}

#[test]
fn a_clone_of_a_set_is_independent() {
    let one = tools![search];
    let two = one.clone().with(says("greet", "hello"));
    assert_eq!((one.len(), two.len()), (1, 2));
    let all: ToolSet = one.into_iter().chain(two).collect();
    assert_eq!(all.len(), 2);
}
