// The role does not exist.
petalflow_conversations::conversation! { Broken("document_unknown_role.json") }

fn main() {
    let _ = Broken;
}
