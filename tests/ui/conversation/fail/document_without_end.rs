// The text ends too early.
petalflow_conversations::conversation! { Broken("document_without_end.json") }

fn main() {
    let _ = Broken;
}
