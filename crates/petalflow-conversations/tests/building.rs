//! Errors of the builder of a conversation.

use petalflow::tool::FuncTool;
use petalflow_conversations::ActionCall;
use petalflow_llm::ScriptedModel;
use serde_json::{Value, json};

use crate::{builder, node, transition};

fn tool(name: &str) -> FuncTool {
    FuncTool::new(name, "Does nothing.", |_: Value| async { Ok(()) })
}

#[test]
fn f076_f083_f093_missing_ambiguous_and_superfluous_handlers_are_reported_together() {
    let flow = builder(json!({ "a": node("A.", json!({
        "functions": [{ "name": "book" }, { "name": "cancel" }, transition("end", "a")],
        "pre_actions": [{ "type": "function", "handler": "log" }, { "type": "beep" }],
    })) }));
    let nothing = |_: ActionCall| async { Ok(()) };
    let flow = flow
        .tool(tool("cancel"))
        .tool(tool("cancel"))
        .tool(tool("fly"))
        .action("beep", nothing)
        .action("beep", nothing)
        .action("smoke", nothing);
    let errors = flow.build().unwrap_err();
    // What `main` prints.
    assert_eq!(format!("{errors:?}"), errors.to_string());
    assert_eq!(
        errors.to_string(),
        "the conversation has no model: add `.model(..)`\n\
         two tools have the name `cancel`: which of them is the handler is not known. Remove one, or name it differently\n\
         two handlers of actions have the name `beep`: remove one, or name it differently\n\
         function `book` of node `a` has no handler: add `.tool(..)` with a tool of the name `book`\n\
         node `a`, action `function`: no handler has the name `log`: add `.action(\"log\", ..)`\n\
         no function of the document uses the tool `fly`. Remove it, or correct its name\n\
         no action of the document uses the handler `smoke`. Remove it, or correct its name"
    );
}

#[test]
fn f093_a_conversation_with_all_handlers_is_built() {
    let flow = builder(json!({ "a": node("A.", json!({ "functions": [{ "name": "book" }] })) }));
    assert!(
        flow.model(ScriptedModel::new(["a"]))
            .tool(tool("book"))
            .build()
            .is_ok()
    );
}
