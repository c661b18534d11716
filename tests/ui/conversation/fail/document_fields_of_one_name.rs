// Two parameters would be the same field.
petalflow_conversations::conversation! { Broken("document_fields_of_one_name.json") }

fn main() {
    let _ = Broken;
}
