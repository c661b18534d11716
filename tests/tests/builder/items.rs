//! What edges deliver against what their targets take, in the run-time builder. (The static side is in `ui/`.)

use petalflow::graph::{GraphBuilder, Rule};
use petalflow::prelude::*;

use crate::support::{Log, LogXs, appending, codes, refusal};

appending!(a b);

#[derive(Route)]
enum Side {
    Left,
    Right,
}

#[node(Log)]
async fn pick(xs: &[String]) -> Side {
    if xs.is_empty() {
        Side::Left
    } else {
        Side::Right
    }
}

fn graph() -> GraphBuilder<Log> {
    Graph::builder("g")
}

#[test]
fn c40_an_edge_that_delivers_what_its_target_does_not_take() {
    // Eino finds a type mismatch when the edge is added; in `flow!` the compiler does.
    let plain = graph()
        .node(sends {})
        .node(a {})
        .edge(START, "sends")
        .each("sends", "a");
    assert!(
        refusal(plain)
            .starts_with("PF020: node `a` takes no item, but the edge from `sends` delivers one")
    );
    let needs = graph().node(takes {}).edge(START, "takes");
    assert!(
        refusal(needs).starts_with(
            "PF020: node `takes` takes an item, but the edge from `START` delivers none"
        )
    );
    let nowhere = graph().node(sends {}).edge(START, "sends");
    assert!(
        refusal(nowhere).starts_with(
            "PF020: node `sends` returns items (`Each`), but no `each` edge takes them"
        )
    );
    let nothing = graph()
        .node(a {})
        .node(takes {})
        .edge(START, "a")
        .each("a", "takes");
    assert_eq!(
        refusal(nothing),
        "PF020: `each` runs its target once per item, but node `a` returns no items; return `Each<..>` as the last value"
    );
    let forgotten = graph()
        .node(sends {})
        .node(takes {})
        .edge(START, "sends")
        .edge("sends", "takes");
    assert_eq!(
        refusal(forgotten),
        "PF020: node `sends` returns items and `takes` takes one, but this edge delivers none; write `.each(\"sends\", \"takes\")`"
    );
    let neither = graph()
        .node(a {})
        .node(b {})
        .edge(START, "a")
        .each("a", "b");
    assert!(refusal(neither).ends_with("return `Each<..>` as the last value, or remove `each`"));
    let list = graph()
        .node(pick {})
        .node(takes {})
        .edge(START, "pick")
        .route("pick", "Left", END)
        .route_each("pick", "Right", "takes");
    assert_eq!(
        refusal(list),
        "PF020: `each` runs its target once per item, but route `Right` of node `pick` carries nothing; let the variant carry a `Vec`"
    );
}

#[node(Log)]
async fn sends() -> Each<u32> {
    Each(vec![1])
}

#[node(Log)]
pub(crate) async fn takes(#[item] number: &u32) -> LogXs {
    LogXs(vec![number.to_string()])
}

#[test]
fn c40_each_of_another_type_is_refused() {
    let builder = graph()
        .node(sends {})
        .node(takes_text {})
        .edge(START, "sends")
        .each("sends", "takes_text");
    assert_eq!(codes(builder), ["PF020"]);
}

#[node(Log)]
async fn takes_text(#[item] text: &String) -> LogXs {
    LogXs(vec![text.clone()])
}

#[derive(Route)]
enum Find {
    One(u32),
    Many(Vec<u32>),
    Nothing,
}

#[node(Log)]
async fn finds() -> (LogXs, Find) {
    (LogXs(vec![]), Find::Many(vec![1, 2]))
}

#[node(Log)]
async fn finds_several() -> petalflow::Result<Vec<Find>> {
    Ok(vec![Find::One(1)])
}

#[node(Log)]
async fn takes_all(#[item] numbers: &Vec<u32>) -> LogXs {
    LogXs(vec![format!("{numbers:?}")])
}

/// What is wrong with the items of a graph in which `finds` sends `One` and `Many` to these nodes. (The others are unused.)
fn mismatches(
    finds: GraphBuilder<Log>,
    add: impl FnOnce(GraphBuilder<Log>) -> GraphBuilder<Log>,
) -> Vec<String> {
    let builder = finds
        .node(takes {})
        .node(takes_text {})
        .node(takes_all {})
        .node(a {})
        .edge(START, "finds");
    let diagnostics = add(builder)
        .build()
        .err()
        .map_or(vec![], |errors| errors.diagnostics().to_vec());
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.rule == Rule::ItemMismatch)
        .map(ToString::to_string)
        .collect()
}

#[test]
fn c40_a_route_that_carries_what_its_target_does_not_take() {
    let forms = [
        || graph().node(finds {}),
        || graph().node_as("finds", finds_several {}),
        || graph().node_fn("finds", |_: &Log, _| async { Find::Nothing }),
        || graph().subflow("finds", Inner, |_: &Log| vec![].into(), |_| Find::Nothing),
    ];
    let list = std::any::type_name::<Vec<u32>>();
    for finds in forms {
        let rest = |builder: GraphBuilder<Log>| builder.route("finds", "Nothing", END);
        let one = |to: &str| {
            mismatches(finds(), |b| {
                rest(b)
                    .route("finds", "One", to)
                    .route("finds", "Many", END)
            })
        };
        assert_eq!(one("takes"), [""; 0]);
        assert_eq!(
            one("takes_text"),
            [
                "PF020: node `takes_text` takes an item of type `alloc::string::String`, but the edge from `finds` delivers `u32`; change one of the two types"
            ]
        );
        let each = |to: &str| {
            mismatches(finds(), |b| {
                rest(b)
                    .route("finds", "One", END)
                    .route_each("finds", "Many", to)
            })
        };
        assert_eq!(each("takes"), [""; 0]);
        assert_eq!(
            each("takes_all"),
            [format!(
                "PF020: node `takes_all` takes an item of type `{list}`, but the edge from `finds` delivers `u32`; change one of the two types"
            )],
            "`each` delivers the numbers, not the list"
        );
        let whole = |to: &str| {
            mismatches(finds(), |b| {
                rest(b)
                    .route("finds", "One", END)
                    .route("finds", "Many", to)
            })
        };
        assert_eq!(whole("takes_all"), [""; 0]);
        assert_eq!(
            whole("takes"),
            [format!(
                "PF020: node `takes` takes an item of type `u32`, but the edge from `finds` delivers `{list}`; change one of the two types"
            )],
            "without `each` the list is delivered as it is"
        );
    }
}

#[test]
fn c40_each_along_a_route_without_a_list() {
    let each = |route: &str, others: [&str; 2]| {
        mismatches(graph().node(finds {}), |b| {
            let b = b.route_each("finds", route, "takes");
            others
                .iter()
                .fold(b, |b, other| b.route("finds", *other, END))
        })
    };
    assert_eq!(each("Many", ["One", "Nothing"]), [""; 0]);
    assert_eq!(
        each("One", ["Many", "Nothing"]),
        [
            "PF020: `each` runs its target once per item, but route `One` of node `finds` carries a `u32`; let the variant carry a `Vec`, or remove `each`"
        ]
    );
    assert_eq!(
        each("Nothing", ["One", "Many"]),
        [
            "PF020: `each` runs its target once per item, but route `Nothing` of node `finds` carries nothing; let the variant carry a `Vec`"
        ]
    );
}

#[test]
fn c40_a_route_that_does_not_exist_is_reported_once() {
    let builder = graph()
        .node(finds {})
        .node(takes {})
        .edge(START, "finds")
        .route("finds", "One", "takes")
        .route("finds", "Many", END)
        .route("finds", "Nothing", END)
        .route("finds", "Nothign", "takes");
    assert_eq!(codes(builder), ["PF013"]);
}

flow!(Inner(Log) { a });

#[node(Log)]
async fn fails() -> petalflow::Result<()> {
    Err("no".into())
}

#[tokio::test]
async fn a_failure_may_lead_to_a_node_that_takes_nothing() {
    let builder = graph().node(fails {}).node(a {}).edge(START, "fails");
    let built = builder.catch("fails", "a").build().unwrap();
    assert_eq!(built.run(vec![]).await.unwrap().xs, ["a"]);
}
