// A document that cannot be loaded does not compile.
use petalflow_documents::flow_from;

flow_from!("huge.graph.yaml");

fn main() {}
