//! Graphs that are built at run time beside static ones: `cargo bench --bench built`.
//!
//! To count instructions, run one case: `valgrind --tool=callgrind BENCH one CASE RUNS`, for two numbers of runs. The
//! difference is the cost of the runs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use petalflow::Graph;
use petalflow::prelude::*;
use petalflow_benches::chain::hundred;
use petalflow_benches::table::{head, row};
use petalflow_documents::Envelope;
use petalflow_documents::builder::{EnvelopeBuilder, EnvelopeFlow};
use petalflow_documents::document::Source;
use petalflow_documents::kinds::{MergeConfig, MergeNode, NoopNode};
use petalflow_documents::run::RunOptions;
use petalflow_documents::{Services, load_source};
use tokio::runtime::{Builder, Runtime};

/// The number of supersteps in a run of each case.
const SUPERSTEPS: u32 = 100;

/// A chain over an envelope: ten supersteps, which a run does ten times.
macro_rules! ten_nodes {
    ($($node:ident)*) => {
        flow! {
            Chain(Envelope) {
                START -> n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> again;
                again -> match { true => n0, false => END };
                $(node $node: NoopNode = NoopNode;)*
            }
        }
    };
}
ten_nodes!(n0 n1 n2 n3 n4 n5 n6 n7 n8 n9);

/// What a template node does, by hand.
mod by_hand {
    use petalflow::prelude::*;

    #[state]
    pub(crate) struct Text {
        #[key(input)]
        pub(crate) a: String,
        #[key(input)]
        pub(crate) b: String,
        pub(crate) c: String,
    }

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Fill;

    #[node(Text)]
    impl Fill {
        async fn run(&self, a: &str, b: &str) -> TextC {
            TextC(format!("{a} and {b}"))
        }
    }

    #[node(Text)]
    async fn again(cx: Context) -> bool {
        cx.superstep() < 99
    }

    macro_rules! ten_nodes {
        ($($node:ident)*) => {
            flow! {
                pub(crate) Chain(Text) {
                    START -> n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> again;
                    again -> match { true => n0, false => END };
                    $(node $node: Fill = Fill;)*
                }
            }
        };
    }
    ten_nodes!(n0 n1 n2 n3 n4 n5 n6 n7 n8 n9);
}

/// Nine rounds of eleven nodes.
#[node(Envelope)]
async fn again(cx: Context) -> bool {
    cx.superstep() < 99
}

struct Cases {
    built: Graph<hundred::Count>,
    envelope: EnvelopeFlow,
    merges: EnvelopeFlow,
    document: EnvelopeFlow,
    templates: EnvelopeFlow,
}

const CASES: [&str; 9] = [
    "flow! over typed keys",
    "builder over typed keys",
    "flow! over an envelope",
    "builder over an envelope",
    "builder over an envelope, with options",
    "branches and merges over an envelope",
    "document",
    "document of templates",
    "templates by hand",
];

impl Cases {
    fn new() -> Self {
        let mut built = Graph::<hundred::Count>::builder("chain");
        let mut last = START.to_owned();
        for node in 0..SUPERSTEPS {
            let name = format!("n{node}");
            built = built.node_as(&name, hundred::n0 {}).edge(last, &name);
            last = name;
        }
        Cases {
            built: built.build().expect("a chain is a graph"),
            envelope: chain(SUPERSTEPS),
            merges: diamonds(SUPERSTEPS / 3),
            document: chain_of_document(SUPERSTEPS),
            templates: templates_of_document(SUPERSTEPS),
        }
    }

    /// Runs a case once.
    async fn run(&self, case: usize) {
        match case {
            0 => drop(black_box(
                hundred::Chain::run(0_u64).await.expect("it counts"),
            )),
            1 => drop(black_box(self.built.run(0_u64).await.expect("it counts"))),
            2 => drop(black_box(
                Chain::run(Envelope::new()).await.expect("it ends"),
            )),
            3 => drop(black_box(
                self.envelope.run(Envelope::new()).await.expect("it ends"),
            )),
            4 => {
                let options = RunOptions::new();
                let run = self.envelope.run_with(Envelope::new(), &options);
                drop(black_box(run.await.expect("it ends")));
            }
            5 => drop(black_box(
                self.merges.run(Envelope::new()).await.expect("it ends"),
            )),
            6 => drop(black_box(
                self.document.run(Envelope::new()).await.expect("it ends"),
            )),
            7 => {
                let envelope = Envelope::new().with_var("a", "one").with_var("b", "two");
                drop(black_box(
                    self.templates.run(envelope).await.expect("it ends"),
                ));
            }
            _ => {
                let input = by_hand::TextInput {
                    a: "one".into(),
                    b: "two".into(),
                };
                drop(black_box(
                    by_hand::Chain::run(input).await.expect("it ends"),
                ));
            }
        }
    }
}

fn chain(nodes: u32) -> EnvelopeFlow {
    let first = EnvelopeBuilder::new("chain").add_node("n0", NoopNode);
    let all = (1..nodes).fold(first, |builder, node| {
        builder.edge(format!("n{node}"), NoopNode)
    });
    all.build().expect("a chain is a graph")
}

/// A document, read from its text.
fn load_document(
    nodes: &[String],
    edges: &[(String, String)],
    kind: impl Fn(&str) -> &'static str,
) -> EnvelopeFlow {
    let nodes: Vec<String> = nodes
        .iter()
        .map(|id| format!(r#"{{ "id": "{id}", "type": {} }}"#, kind(id)))
        .collect();
    let edges: Vec<String> = edges
        .iter()
        .map(|(from, to)| format!(r#"{{ "source": "{from}", "target": "{to}" }}"#))
        .collect();
    let text = format!(
        r#"{{ "id": "g", "version": "1", "kind": "graph", "nodes": [{}], "edges": [{}] }}"#,
        nodes.join(",\n"),
        edges.join(",\n"),
    );
    load_source(&Source::new("g.json", text), &Services::new()).expect("it is a document")
}

/// A chain of nodes that do nothing.
fn chain_of_document(nodes: u32) -> EnvelopeFlow {
    let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
    let edges = names
        .windows(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()));
    load_document(&names, &edges.collect::<Vec<_>>(), |_| r#""noop""#)
}

/// A chain of nodes with templates.
fn templates_of_document(nodes: u32) -> EnvelopeFlow {
    let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
    let edges = names
        .windows(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()));
    load_document(
        &names,
        &edges.collect::<Vec<_>>(),
        |_| r#""transform", "config": { "transform": "template", "template": "{{.a}} and {{.b}}", "output_var": "c" }"#,
    )
}

/// The forks of [`diamonds`] in a document.
fn diamonds_of_document(count: u32) -> EnvelopeFlow {
    let (mut names, mut edges) = (vec!["start".to_owned()], Vec::new());
    for i in 0..count {
        let [fork, left, right, merge] =
            ["fork", "left", "right", "merge"].map(|name| format!("{name}{i}"));
        edges.push((names[names.len() - 1].clone(), fork.clone()));
        for side in [&left, &right] {
            edges.push((fork.clone(), side.clone()));
            edges.push((side.clone(), merge.clone()));
        }
        names.extend([fork, left, right, merge]);
    }
    load_document(&names, &edges, |id| {
        if id.starts_with("merge") {
            r#""merge", "config": { "strategy": "json_merge" }"#
        } else {
            r#""noop""#
        }
    })
}

/// Forks of two branches with a merge after each: four nodes and three supersteps each.
fn diamonds(count: u32) -> EnvelopeFlow {
    let first = EnvelopeBuilder::new("diamonds").add_node("start", NoopNode);
    let all = (0..count).fold(first, |builder, i| {
        builder
            .edge(format!("fork{i}"), NoopNode)
            .fan_out([
                (format!("left{i}"), NoopNode),
                (format!("right{i}"), NoopNode),
            ])
            .merge(format!("merge{i}"), MergeNode::new(MergeConfig::default()))
    });
    all.build().expect("branches with merges are a graph")
}

/// Graphs of 1,000 nodes.
const BUILDS: [(&str, u32, fn(u32) -> EnvelopeFlow); 5] = [
    ("building a chain of 1,000 nodes", 1_000, chain),
    ("building 250 forks with merges", 250, diamonds),
    (
        "loading a document with a chain of 1,000 nodes",
        1_000,
        chain_of_document,
    ),
    (
        "loading a document with 1,000 templates",
        1_000,
        templates_of_document,
    ),
    (
        "loading a document with 250 forks and merges",
        250,
        diamonds_of_document,
    ),
];

fn main() {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime can be built");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [one, case, runs] = &arguments[..]
        && one == "one"
    {
        let (case, runs) = (
            case.parse().expect("a case"),
            runs.parse().expect("a number"),
        );
        return one_case(&runtime, case, runs);
    }
    head();
    let cases = Cases::new();
    let mut best = [Duration::MAX; CASES.len()];
    // Alternating, so that noise meets all cases.
    for _ in 0..50 {
        for (case, best) in best.iter_mut().enumerate() {
            let begun = Instant::now();
            runtime.block_on(async {
                for _ in 0..20 {
                    cases.run(case).await;
                }
            });
            *best = (*best).min(begun.elapsed() / 20 / SUPERSTEPS);
        }
    }
    for (case, time) in CASES.iter().zip(best) {
        row(&format!("{case} (superstep)"), &format!("{time:?}"), "");
    }
    for (what, case, base, limit) in [
        ("builder over flow!, of an envelope", 3, 2, "3"),
        ("document over flow!, of an envelope", 6, 2, "3"),
        ("template node of a document over one by hand", 7, 8, "10"),
    ] {
        let ratio = best[case].as_secs_f64() / best[base].as_secs_f64();
        row(what, &format!("{ratio:.1}"), limit);
    }
    for (what, count, build) in BUILDS {
        let time = (0..10).map(|_| {
            let begun = Instant::now();
            drop(black_box(build(count)));
            begun.elapsed()
        });
        let time = time.min().unwrap_or_default();
        row(what, &format!("{time:.1?}"), "5ms");
    }
}

/// For instruction counts. The cases after the last build graphs of 1,000 nodes.
fn one_case(runtime: &Runtime, case: usize, runs: u32) {
    if let Some(build) = case.checked_sub(CASES.len()) {
        let (_, count, build) = BUILDS[build];
        return (0..runs).for_each(|_| drop(black_box(build(count))));
    }
    let cases = Cases::new();
    runtime.block_on(async {
        for _ in 0..runs {
            cases.run(case).await;
        }
    });
}
