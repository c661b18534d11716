// A function of a node has the name of one that all nodes have.
petalflow_conversations::conversation! { Broken("declarative_global_function.yaml") }

fn main() {
    let _ = Broken;
}
