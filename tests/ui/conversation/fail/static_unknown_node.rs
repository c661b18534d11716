// A function leads to a node that does not exist.
petalflow_conversations::conversation! { Broken("static_unknown_node.json") }

fn main() {
    let _ = Broken;
}
