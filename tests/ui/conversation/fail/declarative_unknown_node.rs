// A function leads to a node that does not exist.
petalflow_conversations::conversation! { Broken("declarative_unknown_node.yaml") }

fn main() {
    let _ = Broken;
}
