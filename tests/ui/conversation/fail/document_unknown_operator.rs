// The comparison does not exist.
petalflow_conversations::conversation! { Broken("document_unknown_operator.json") }

fn main() {
    let _ = Broken;
}
