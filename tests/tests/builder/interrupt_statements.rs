//! What `interrupt` adds to a graph: nodes, guards and drawings, in both forms. `durable/approvals.rs` tests the runs.

use petalflow::graph::{GraphBuilder, When};
use petalflow::prelude::*;
use petalflow::{BoxError, Flow};

use crate::support::refusal;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(default)]
    editor: Option<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn publish(draft: &str) -> EssayEditor {
    EssayEditor(Some(draft.into()))
}

flow! {
    WriteEssay(Essay) {
        interrupt before publish;
        write -> publish;
        interrupt after write if |draft: &str| draft.len() > 3;
        interrupt after publish if |editor: Option<&str>, #[key(EssayDraft)] text: &str| -> petalflow::Result<bool> {
            let number: usize = text.parse()?;
            Ok(editor.is_none() && number > 3)
        };
    }
}

fn built() -> Graph<Essay> {
    base()
        .interrupt_before("publish")
        .interrupt_after_if("write", |essay: &Essay| essay.draft.len() > 3)
        .interrupt_after_if("publish", |essay: &Essay| -> petalflow::Result<bool> {
            let number: usize = essay.draft.parse()?;
            Ok(essay.editor.is_none() && number > 3)
        })
        .build()
        .unwrap()
}

fn base() -> GraphBuilder<Essay> {
    Graph::builder("WriteEssay")
        .node(write {})
        .node(publish {})
        .edge("write", "publish")
}

/// The result of each guard for a draft, by the index of its interrupt.
fn guard_results<F: Flow<State = Essay>>(flow: &F, draft: &str) -> Vec<Result<bool, String>> {
    let essay = Essay {
        topic: String::new(),
        draft: draft.into(),
        editor: None,
    };
    let text = |error: BoxError| error.to_string();
    (0..3)
        .map(|point| flow.guard(point, &essay).map_err(text))
        .collect()
}

#[test]
fn guards_are_called_by_the_index_of_their_interrupt() {
    for guard_results in [
        guard_results(&WriteEssay, "1234"),
        guard_results(&built(), "1234"),
    ] {
        assert_eq!(guard_results, [Ok(true), Ok(true), Ok(true)]);
    }
    for guard_results in [
        guard_results(&WriteEssay, "12"),
        guard_results(&built(), "12"),
    ] {
        assert_eq!(guard_results, [Ok(true), Ok(false), Ok(true)]);
    }
    for guard_results in [
        guard_results(&WriteEssay, "x"),
        guard_results(&built(), "x"),
    ] {
        assert_eq!(
            guard_results[2],
            Err("invalid digit found in string".into())
        );
    }
}

#[test]
fn a_graph_lists_its_interrupts() {
    for topology in [WriteEssay::topology(), built().topology()] {
        let stops: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| (&*node.name, node.before, node.after))
            .collect();
        assert_eq!(
            stops,
            [
                ("publish", When::Always, When::Guarded),
                ("write", When::Never, When::Guarded)
            ]
        );
    }
    for picture in [WriteEssay::mermaid(), built().mermaid()] {
        assert!(
            picture.contains("publish[\"⏸ publish ⏸\"]") && picture.contains("write[\"write ⏸\"]"),
            "{picture}"
        );
    }
    assert_eq!(WriteEssay::mermaid(), built().mermaid());
    assert_eq!(WriteEssay::dot(), built().dot());
}

#[test]
fn c38h_interrupts_at_unknown_nodes_and_twice() {
    assert_eq!(
        refusal(base().interrupt_after("pubish")),
        "PF002: `interrupt` names `pubish`, but no node of the flow has that name; did you mean `publish`?"
    );
    let twice = base()
        .interrupt_before("publish")
        .interrupt_before_if("publish", |_: &Essay| true);
    assert_eq!(
        refusal(twice),
        "PF024: `interrupt before` names `publish` twice; remove one of them"
    );
    let both = base()
        .interrupt_before("publish")
        .interrupt_after("publish");
    assert!(both.build().is_ok());
}
