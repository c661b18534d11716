// The file is no conversation.
petalflow_conversation::conversation! { Broken("document_of_something_else.json") }

fn main() {
    let _ = Broken;
}
