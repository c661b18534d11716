// A key has no space.
petalflow_conversation::conversation! { Broken("document_placeholder.json") }

fn main() {
    let _ = Broken;
}
