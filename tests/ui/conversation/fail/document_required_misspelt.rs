// A required parameter does not exist.
petalflow_conversation::conversation! { Broken("document_required_misspelt.json") }

fn main() {
    let _ = Broken;
}
