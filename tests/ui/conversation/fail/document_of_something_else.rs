// The file is not a conversation.
petalflow_conversations::conversation! { Broken("document_of_something_else.json") }

fn main() {
    let _ = Broken;
}
