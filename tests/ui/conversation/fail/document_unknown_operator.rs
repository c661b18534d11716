// The comparison does not exist.
petalflow_conversation::conversation! { Broken("document_unknown_operator.json") }

fn main() {
    let _ = Broken;
}
