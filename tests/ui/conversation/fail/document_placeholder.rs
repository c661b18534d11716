// A key must not contain a space.
petalflow_conversations::conversation! { Broken("document_placeholder.json") }

fn main() {
    let _ = Broken;
}
