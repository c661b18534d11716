// The first node does not exist.
petalflow_conversations::conversation! { Broken("declarative_first_node.yaml") }

fn main() {
    let _ = Broken;
}
