//! Graphs as diagrams: Mermaid and Graphviz.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use crate::graph::{Edge, Graph, Node, Source, Target, Via, When};

/// The graph as a Mermaid flowchart. The lines are sorted, so that the same graph gives the same text.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via, mermaid};
/// let graph = Graph {
///     nodes: vec![Node::named("write")].into(),
///     edges: vec![Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) }].into(),
///     joins: 0,
/// };
/// assert_eq!(mermaid(&graph), "graph TD\n    START([START])\n    END([END])\n    write[write]\n    START --> write\n    write --> END\n");
/// ```
pub fn mermaid(graph: &Graph) -> String {
    let mut text = String::from("graph TD\n    START([START])\n    END([END])\n");
    let ids = Ids::of(graph);
    let shapes = shapes(graph);
    for ((node, id), shape) in graph.nodes.iter().zip(&ids.0).zip(shapes) {
        let (open, close) = match shape {
            Shape::Subflow => ("[[", "]]"),
            Shape::Branching => ("{", "}"),
            Shape::Standard => ("[", "]"),
        };
        let label = mermaid_label(&name_with_marks(node));
        let _ = writeln!(text, "    {id}{open}{label}{close}");
    }
    for id in ids.joins(graph) {
        let _ = writeln!(text, "    {id}((&))");
    }
    for edge in &edges(graph) {
        let (from, to) = ids.ends(graph, edge);
        let arrow = match label(&edge.via) {
            None => "-->".to_owned(),
            Some(label) => format!(
                "{}|{}|",
                if edge.via == Via::Each { "-->" } else { "-.->" },
                mermaid_label(&label)
            ),
        };
        let _ = writeln!(text, "    {from} {arrow} {to}");
    }
    text
}

/// The graph in the DOT language of Graphviz. The lines are sorted.
pub fn dot(graph: &Graph) -> String {
    let mut text = String::from("digraph flow {\n    START [shape=oval];\n    END [shape=oval];\n");
    let ids = Ids::of(graph);
    let shapes = shapes(graph);
    for ((node, id), shape) in graph.nodes.iter().zip(&ids.0).zip(shapes) {
        let shape = match shape {
            Shape::Subflow => "box, peripheries=2",
            Shape::Branching => "diamond",
            Shape::Standard => "box",
        };
        let (id, label) = (dot_quoted(id), dot_quoted(&name_with_marks(node)));
        let _ = writeln!(text, "    {id} [shape={shape}, label={label}];");
    }
    for id in ids.joins(graph) {
        let _ = writeln!(text, "    {} [shape=circle, label=\"&\"];", dot_quoted(id));
    }
    for edge in &edges(graph) {
        let (from, to) = ids.ends(graph, edge);
        let style = match label(&edge.via) {
            None => String::new(),
            Some(label) if edge.via == Via::Each => format!(" [label={}]", dot_quoted(&label)),
            Some(label) => format!(" [style=dashed, label={}]", dot_quoted(&label)),
        };
        let _ = writeln!(
            text,
            "    {} -> {}{style};",
            dot_quoted(from),
            dot_quoted(to)
        );
    }
    text.push_str("}\n");
    text
}

/// The name of a node, with a pause sign on each side on which the run stops.
fn name_with_marks(node: &Node) -> Cow<'_, str> {
    let sign = |when, sign| if when == When::Never { "" } else { sign };
    let (before, after) = (sign(node.before, "⏸ "), sign(node.after, " ⏸"));
    if before.is_empty() && after.is_empty() {
        return Cow::Borrowed(&node.name);
    }
    Cow::Owned(format!("{before}{}{after}", node.name))
}

enum Shape {
    Subflow,
    Branching,
    Standard,
}

fn shapes(graph: &Graph) -> impl Iterator<Item = Shape> {
    let routed = graph.edges.iter().filter(|edge| edge.via.route().is_some());
    let routed: BTreeSet<Source> = routed.map(|edge| edge.from).collect();
    graph.node_indices().map(move |node| {
        if graph.node(node).subflow {
            Shape::Subflow
        } else if routed.contains(&Source::Node(node)) {
            Shape::Branching
        } else {
            Shape::Standard
        }
    })
}

/// The edges without repetitions, from START first, then in the order of the nodes. A node without an edge leads to END.
pub(crate) fn edges(graph: &Graph) -> Vec<Edge> {
    let mut edges = graph.edges.to_vec();
    let leading = graph.edges.iter().filter(|edge| edge.via != Via::Catch);
    let leading: BTreeSet<Source> = leading.map(|edge| edge.from).collect();
    let nodes = graph.node_indices().map(Source::Node);
    edges.extend(
        nodes
            .filter(|node| !leading.contains(node))
            .map(|from| Edge {
                from,
                via: Via::Plain,
                to: Target::End,
            }),
    );
    edges.sort_unstable();
    edges.dedup();
    edges
}

pub(crate) fn label(via: &Via) -> Option<String> {
    match via {
        Via::Plain => None,
        Via::Each => Some("each".into()),
        Via::Route(name) => Some(name.to_string()),
        Via::RouteEach(name) => Some(format!("{name} each")),
        Via::Catch => Some("catch".into()),
    }
}

/// An identifier per source, by [`Graph::vertex`]: the name of a node, with underscores for characters that Mermaid does not allow.
struct Ids(Vec<String>);

impl Ids {
    fn of(graph: &Graph) -> Self {
        let mut taken = HashSet::from(["END".to_owned(), "START".to_owned()]);
        let mut numbers = HashMap::new();
        let mut ids = Vec::with_capacity(graph.vertices());
        for node in graph.nodes() {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut id: String = (node.name.chars())
                .map(|c| if allowed(c) { c } else { '_' })
                .collect();
            if id.is_empty() || RESERVED.iter().any(|word| id.eq_ignore_ascii_case(word)) {
                id.push('_');
            }
            // A counter, because many nodes can have one name.
            let base = id.clone();
            while !taken.insert(id.clone()) {
                let number = numbers.entry(base.clone()).or_insert(1_usize);
                *number += 1;
                id = format!("{base}_{number}");
            }
            ids.push(id);
        }
        for join in 0..graph.joins {
            let mut id = format!("join{join}");
            while taken.contains(&id) {
                id.push('_');
            }
            ids.push(id);
        }
        ids.push("START".to_owned());
        Ids(ids)
    }

    fn joins(&self, graph: &Graph) -> &[String] {
        &self.0[graph.nodes.len()..graph.vertex(Source::Start)]
    }

    fn ends(&self, graph: &Graph, edge: &Edge) -> (&str, &str) {
        let id = |source| &*self.0[graph.vertex(source)];
        (id(edge.from), edge.to.source().map_or("END", id))
    }
}

/// The keywords of Mermaid, in upper or lower case.
const RESERVED: [&str; 13] = [
    "end",
    "graph",
    "flowchart",
    "subgraph",
    "direction",
    "click",
    "style",
    "classdef",
    "class",
    "linkstyle",
    "default",
    "call",
    "href",
];

/// A label, quoted if Mermaid would parse it as something else.
fn mermaid_label(label: &str) -> String {
    if !label.is_empty()
        && label.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !RESERVED.contains(&label)
    {
        return label.to_owned();
    }
    mermaid_quoted(label)
}

/// A text in quotes for Mermaid. Control characters, also line ends, become spaces: a name is one line.
fn mermaid_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("#quot;"),
            '#' => quoted.push_str("#35;"),
            '<' => quoted.push_str("#lt;"),
            '>' => quoted.push_str("#gt;"),
            '&' => quoted.push_str("#amp;"),
            '`' => quoted.push_str("#96;"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A text in quotes for the DOT language. Control characters become spaces, as in [`mermaid_quoted`].
fn dot_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{dot, dot_quoted, mermaid, mermaid_quoted};
    use crate::graph::When;
    use crate::testing::{catch, each, end, graph, join, node, plain, route, side, start};

    #[test]
    fn g082_every_kind_of_edge_and_node_once_and_in_order() {
        let edges = vec![
            start(0),
            route(0, "Again", node(0)),
            route(0, "Done", node(1)),
            route(0, "Done", node(2)),
            plain(1, side(0)),
            plain(2, side(0)),
            join(0, node(3)),
            each(3, 4),
            catch(3, 5),
            plain(4, end()),
            plain(4, end()),
        ];
        let mut graph = graph("pick a b review dig recover", edges);
        graph.nodes.to_mut()[3].subflow = true;
        let expected = "graph TD
    START([START])
    END([END])
    pick{pick}
    a[a]
    b[b]
    review[[review]]
    dig[dig]
    recover[recover]
    join0((&))
    START --> pick
    pick -.->|Again| pick
    pick -.->|Done| a
    pick -.->|Done| b
    a --> join0
    b --> join0
    review -->|each| dig
    review -.->|catch| recover
    dig --> END
    recover --> END
    join0 --> review
";
        assert_eq!(mermaid(&graph), expected);
        let dot = dot(&graph);
        assert!(
            dot.contains("    \"pick\" -> \"a\" [style=dashed, label=\"Done\"];\n"),
            "{dot}"
        );
        assert!(
            dot.contains("    \"review\" [shape=box, peripheries=2, label=\"review\"];\n"),
            "{dot}"
        );
    }

    #[test]
    fn a_node_says_on_which_side_the_run_stops() {
        let mut graph = graph("draft publish", vec![start(0), plain(0, node(1))]);
        graph.nodes.to_mut()[0].after = When::Guarded;
        graph.nodes.to_mut()[1].before = When::Always;
        let (text, dot) = (mermaid(&graph), dot(&graph));
        assert!(text.contains("    draft[\"draft ⏸\"]\n"), "{text}");
        assert!(text.contains("    publish[\"⏸ publish\"]\n"), "{text}");
        assert!(dot.contains("label=\"⏸ publish\""), "{dot}");
    }

    #[test]
    fn g082_names_are_safe_for_mermaid() {
        let mut graph = graph(
            "end join0 x",
            vec![
                start(0),
                start(1),
                plain(0, side(0)),
                plain(1, side(0)),
                join(0, node(2)),
            ],
        );
        graph.nodes.to_mut()[2].name = "say \"<hi>\"".into();
        let text = mermaid(&graph);
        assert!(
            text.contains("    join0_((&))\n") && text.contains("    join0[join0]\n"),
            "{text}"
        );
        assert!(text.contains("    end_[\"end\"]\n"), "{text}");
        assert!(
            text.contains("    say___hi__[\"say #quot;#lt;hi#gt;#quot;\"]\n"),
            "{text}"
        );
    }

    #[test]
    fn labels_are_one_line() {
        let text = "a\r\nb\t\"c\\";
        assert_eq!(mermaid_quoted(text), "\"a  b #quot;c\\\"");
        assert_eq!(dot_quoted(text), r#""a  b \"c\\""#);
    }
}
