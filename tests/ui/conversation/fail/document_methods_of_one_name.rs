// Two functions would be the same method.
petalflow_conversations::conversation! { Broken("document_methods_of_one_name.json") }

fn main() {
    let _ = Broken;
}
