// A name is there twice in an object.
petalflow_conversations::conversation! { Broken("document_name_twice.json") }

fn main() {
    let _ = Broken;
}
