//! A graph looked at: nodes, edges, figures, pictures.

use petalflow::graph::Role;
use petalflow::prelude::*;

use crate::support::{Log, appending, flow_and_graph};

appending!(write last b a);

#[derive(Route)]
enum Verdict {
    A,
    B,
    Drop,
}

#[node(Log)]
async fn pick() -> Verdict {
    match std::hint::black_box(0) {
        0 => Verdict::A,
        1 => Verdict::B,
        _ => Verdict::Drop,
    }
}

flow_and_graph! {
    Picks(Log) {
        write -> pick -> match { B => b, A => a, Drop => END };
        a -> last;
        b -> last;
        a -> END;
    }
    nodes: write, pick, b, a, last
}

#[test]
fn g079_nodes_are_sorted_and_have_roles() {
    for topology in [Picks::topology(), Picks::built().topology()] {
        let nodes: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| (node.name.as_str(), node.role, node.incoming, node.outgoing))
            .collect();
        let expected = [
            ("a", Role::Terminal, 1, 2),
            ("b", Role::Standard, 1, 1),
            ("last", Role::Terminal, 2, 1),
            ("pick", Role::Terminal, 1, 3),
            ("write", Role::Entry, 1, 1),
        ];
        assert_eq!(nodes, expected);
    }
}

#[test]
fn g080_edges_with_entry_and_sorted_exits() {
    for topology in [Picks::topology(), Picks::built().topology()] {
        let edges: Vec<_> = topology
            .edges
            .iter()
            .map(|(from, to)| (from.as_str(), to.as_str()))
            .collect();
        let expected = [
            ("START", "write"),
            ("a", "END"),
            ("a", "last"),
            ("b", "last"),
            ("last", "END"),
            ("pick", "END"),
            ("pick", "a"),
            ("pick", "b"),
            ("write", "pick"),
        ];
        assert_eq!(edges, expected);
        assert_eq!(
            (topology.entries, topology.exits),
            (
                vec!["write".into()],
                ["a", "last", "pick"].map(String::from).to_vec()
            )
        );
    }
}

#[test]
fn g081_metrics() {
    for topology in [Picks::topology(), Picks::built().topology()] {
        let metrics = topology.metrics;
        assert_eq!(
            (
                metrics.nodes,
                metrics.edges,
                metrics.cyclomatic,
                metrics.depth
            ),
            (5, 9, 6, 4)
        );
        assert!(
            (metrics.average_fan_in - 6.0 / 5.0).abs() < 1e-9,
            "END is in no fan-in"
        );
        assert!((metrics.average_fan_out - 8.0 / 5.0).abs() < 1e-9);
        assert_eq!((metrics.max_fan_in, metrics.max_fan_out), (2, 3));
    }
}

#[test]
fn g082_mermaid() {
    let expected = "graph TD
    START([START])
    END([END])
    write[write]
    pick{pick}
    b[b]
    a[a]
    last[last]
    START --> write
    write --> pick
    pick -.->|A| a
    pick -.->|B| b
    pick -.->|Drop| END
    b --> last
    a --> last
    a --> END
    last --> END
";
    assert_eq!(Picks::mermaid(), expected);
    assert_eq!(Picks::built().mermaid(), expected);
    let lines: std::collections::BTreeSet<&str> = expected.lines().collect();
    assert_eq!(lines.len(), expected.lines().count(), "no edge twice");
}

#[test]
fn g082_dot() {
    let dot = Picks::dot();
    assert_eq!(dot, Picks::built().dot());
    assert!(
        dot.starts_with("digraph flow {")
            && dot.contains(r#""pick" -> "a" [style=dashed, label="A"]"#),
        "{dot}"
    );
}

#[test]
fn both_forms_show_the_same_graph() {
    assert_eq!(Picks::topology(), Picks::built().topology());
    assert_eq!(Picks::new().graph(), Picks::built().launch().graph());
}
