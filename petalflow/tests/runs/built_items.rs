//! Items for sub-flows in graphs that are built at run time.

use std::sync::atomic::{AtomicBool, Ordering};

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::graph::GraphBuilder;
use petalflow::prelude::*;

#[state]
#[derive(Clone, Debug)]
struct Page {
    #[key(input)]
    number: u32,
    text: String,
}

#[node(Page)]
async fn fetch(number: &u32, online: Managed<AtomicBool>) -> Result<PageText, BoxError> {
    if *number == 3 && !online.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
        return Err("offline".into());
    }
    Ok(PageText(format!("page {number}")))
}

flow!(FetchPage(Page) { fetch });

#[state]
#[derive(Clone, Debug)]
struct Book {
    #[key(append)]
    texts: Vec<String>,
}

#[node(Book)]
async fn list() -> Each<u32> {
    (1..=3).collect()
}

#[derive(Route)]
enum Found {
    One(u32),
    Many(Vec<u32>),
}

fn pages(name: &str) -> GraphBuilder<Book> {
    Graph::<Book>::builder("book").subflow_with_item(
        name,
        FetchPage,
        |_: &Book, number: &u32| (*number).into(),
        |page| BookTexts(vec![page.text]),
    )
}

fn refusal(graph: GraphBuilder<Book>) -> String {
    graph.build().unwrap_err().to_string()
}

#[tokio::test]
async fn a_sub_flow_of_the_builder_takes_items() {
    let online = || AtomicBool::new(true);
    let graph = pages("page")
        .node(list {})
        .each("list", "page")
        .build()
        .unwrap();
    let book = graph.launch().manage(online()).run(()).await.unwrap();
    assert_eq!(book.texts, ["page 1", "page 2", "page 3"]);
    for many in [true, false] {
        let graph = pages("page").node_fn("find", move |_: &Book, _| {
            std::future::ready(if many {
                Found::Many(vec![1, 2])
            } else {
                Found::One(7)
            })
        });
        let graph = graph.route("find", "One", "page");
        let graph = graph.route_each("find", "Many", "page").build().unwrap();
        let book = graph.launch().manage(online()).run(()).await.unwrap();
        let expected: &[&str] = if many {
            &["page 1", "page 2"]
        } else {
            &["page 7"]
        };
        assert_eq!(book.texts, expected);
    }
}

#[tokio::test]
async fn the_items_of_a_built_sub_flow_are_stored() {
    let online = std::sync::Arc::new(AtomicBool::new(false));
    let graph = pages("page")
        .node(list {})
        .each("list", "page")
        .build()
        .unwrap();
    let threads = graph
        .launch()
        .manage_with(online.clone())
        .store(&InMemoryStore::new());
    let thread = threads.thread("book");
    thread.run(()).await.unwrap_err();
    let pending = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(pending.pending().count(), 2);
    online.store(true, Ordering::SeqCst);
    let book = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(book.texts, ["page 1", "page 2", "page 3"]);
}

#[node(Book)]
async fn texts() -> Each<String> {
    Each(Vec::new())
}

#[test]
fn the_advice_is_possible_in_the_builder() {
    let plain = Graph::<Book>::builder("book").node(list {}).subflow(
        "page",
        FetchPage,
        |_: &Book| 1.into(),
        |page| BookTexts(vec![page.text]),
    );
    let text = refusal(plain.each("list", "page"));
    assert!(
        text.contains("PF020: node `page` takes no item")
            && text.contains("`.subflow_with_item(..)`"),
        "{text}"
    );
    let closure = Graph::<Book>::builder("book").node(list {});
    let closure = closure.node_fn("page", |_: &Book, _| async { BookTexts(Vec::new()) });
    let text = refusal(closure.each("list", "page"));
    assert!(
        text.contains("a closure takes none: add an annotated function"),
        "{text}"
    );
    let text = refusal(pages("page").node(list {}).edge("list", "page"));
    assert!(text.contains("write `.each(\"list\", \"page\")`"), "{text}");
    let text = refusal(
        Graph::<Book>::builder("book")
            .node(list {})
            .edge(START, "list"),
    );
    assert!(
        text.contains("such as `.each(\"list\", \"target\")`"),
        "{text}"
    );
    let text = refusal(pages("page").node(texts {}).each("texts", "page"));
    assert!(text.contains("PF020") && text.contains("u32"), "{text}");
}
