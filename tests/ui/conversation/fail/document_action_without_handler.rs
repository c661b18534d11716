// An action of type `function` names its code.
petalflow_conversations::conversation! { Broken("document_action_without_handler.json") }

fn main() {
    let _ = Broken;
}
