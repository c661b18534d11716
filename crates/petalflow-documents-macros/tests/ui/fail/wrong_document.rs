// Each mistake in the document is one error, with its place in the document, and the type exists nevertheless.
petalflow_envelope::flow_from!("wrong.graph.yaml");

fn main() {
    let _ = Wrong::new();
}
