//! Graphs as diagrams: Mermaid and Graphviz.

use std::borrow::Cow;
use std::fmt::Write;

use crate::graph::{Edge, Graph, Node, Source, Target, Via, When};
use crate::idx::{JoinIdx, NodeIdx};
use crate::sorted::{insert, sort};

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
    let ids = ids(graph);
    for (index, node) in graph.nodes.iter().enumerate() {
        let (open, close) = match shape(graph, index) {
            Shape::Subflow => ("[[", "]]"),
            Shape::Branching => ("{", "}"),
            Shape::Standard => ("[", "]"),
        };
        let _ = writeln!(
            text,
            "    {}{open}{}{close}",
            ids[index],
            mermaid_label(&marked(node))
        );
    }
    for join in JoinIdx::all(graph.joins as usize) {
        let _ = writeln!(text, "    {}((&))", join_id(&ids, join));
    }
    for edge in &edges(graph) {
        let (from, to) = ends(&ids, edge);
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
    let ids = ids(graph);
    for (index, node) in graph.nodes.iter().enumerate() {
        let shape = match shape(graph, index) {
            Shape::Subflow => "box, peripheries=2",
            Shape::Branching => "diamond",
            Shape::Standard => "box",
        };
        let _ = writeln!(
            text,
            "    {} [shape={shape}, label={}];",
            dot_quoted(&ids[index]),
            dot_quoted(&marked(node))
        );
    }
    for join in JoinIdx::all(graph.joins as usize) {
        let _ = writeln!(
            text,
            "    {} [shape=circle, label=\"&\"];",
            dot_quoted(&join_id(&ids, join))
        );
    }
    for edge in &edges(graph) {
        let (from, to) = ends(&ids, edge);
        let style = match label(&edge.via) {
            None => String::new(),
            Some(label) if edge.via == Via::Each => format!(" [label={}]", dot_quoted(&label)),
            Some(label) => format!(" [style=dashed, label={}]", dot_quoted(&label)),
        };
        let _ = writeln!(
            text,
            "    {} -> {}{style};",
            dot_quoted(&from),
            dot_quoted(&to)
        );
    }
    text.push_str("}\n");
    text
}

/// The name of a node, with a pause sign on each side on which the run stops.
pub(crate) fn marked(node: &Node) -> Cow<'_, str> {
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

fn shape(graph: &Graph, index: usize) -> Shape {
    let routed = |edge: &Edge| {
        edge.from == Source::Node(NodeIdx::from_usize(index)) && edge.via.route().is_some()
    };
    if graph.nodes[index].subflow {
        Shape::Subflow
    } else if graph.edges.iter().any(routed) {
        Shape::Branching
    } else {
        Shape::Standard
    }
}

/// The edges without repetitions, from START first, then in the order of the nodes. A node without an edge leads to END.
pub(crate) fn edges(graph: &Graph) -> Vec<Edge> {
    let mut edges = graph.edges.to_vec();
    let mut leads = vec![false; graph.nodes.len()];
    for edge in &edges {
        if let (Source::Node(node), false) = (edge.from, edge.via == Via::Catch) {
            leads[node.index()] = true;
        }
    }
    for node in graph.node_indices() {
        if !leads[node.index()] {
            edges.push(Edge {
                from: Source::Node(node),
                via: Via::Plain,
                to: Target::End,
            });
        }
    }
    let mut keys = Vec::with_capacity(edges.len());
    for (index, edge) in edges.iter().enumerate() {
        let via = match edge.via {
            Via::Plain => 0,
            Via::Each => 1,
            Via::Route(_) => 2,
            Via::RouteEach(_) => 3,
            Via::Catch => 4,
        };
        keys.push((edge.from, via, label(&edge.via), edge.to, index));
    }
    sort(&mut keys);
    let mut sorted: Vec<Edge> = Vec::with_capacity(edges.len());
    for (_, _, _, _, index) in &keys {
        if sorted.last() != Some(&edges[*index]) {
            sorted.push(edges[*index].clone());
        }
    }
    sorted
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

fn ends(ids: &[String], edge: &Edge) -> (String, String) {
    let from = match edge.from {
        Source::Start => "START".into(),
        Source::Node(node) => ids[node.index()].clone(),
        Source::Join(join) => join_id(ids, join),
    };
    let to = match edge.to {
        Target::Node(node) => ids[node.index()].clone(),
        Target::Join(join) => join_id(ids, join),
        Target::End => "END".into(),
    };
    (from, to)
}

/// An identifier per node: its name, with underscores for characters that Mermaid does not allow.
fn ids(graph: &Graph) -> Vec<String> {
    let mut taken = vec!["END".to_owned(), "START".to_owned()];
    let mut ids = Vec::with_capacity(graph.nodes.len());
    for node in &*graph.nodes {
        let mut id = String::new();
        for c in node.name.chars() {
            let is_allowed = c.is_ascii_alphanumeric() || c == '_';
            id.push(if is_allowed { c } else { '_' });
        }
        if id.is_empty() || RESERVED.iter().any(|word| id.eq_ignore_ascii_case(word)) {
            id.push('_');
        }
        while !insert(&mut taken, id.clone()) {
            id.push('_');
        }
        ids.push(id);
    }
    ids
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

fn join_id(ids: &[String], join: JoinIdx) -> String {
    let mut id = format!("join{}", join.index());
    while ids.contains(&id) {
        id.push('_');
    }
    id
}

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
pub fn mermaid_quoted(text: &str) -> String {
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
pub fn dot_quoted(text: &str) -> String {
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
