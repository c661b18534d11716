// The role does not exist.
petalflow_conversation::conversation! { Broken("document_unknown_role.json") }

fn main() {
    let _ = Broken;
}
