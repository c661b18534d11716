// An edge leads to a node that does not exist.
petalflow_conversations::conversation! { Broken("document_unknown_edge.json") }

fn main() {
    let _ = Broken;
}
