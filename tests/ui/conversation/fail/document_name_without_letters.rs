// The name has nothing that a name of Rust can have.
petalflow_conversations::conversation! { Broken("document_name_without_letters.json") }

fn main() {
    let _ = Broken;
}
