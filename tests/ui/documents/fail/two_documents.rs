petalflow_documents::flow_from!("a.graph.json", "b.graph.json");

fn main() {}
