// A position is two numbers.
petalflow_conversations::conversation! { Broken("document_wrong_type.json") }

fn main() {
    let _ = Broken;
}
