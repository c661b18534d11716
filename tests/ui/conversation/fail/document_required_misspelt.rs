// A required parameter does not exist.
petalflow_conversations::conversation! { Broken("document_required_misspelt.json") }

fn main() {
    let _ = Broken;
}
