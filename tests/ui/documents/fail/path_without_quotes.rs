use petalflow_documents::flow_from;

flow_from!(Greeting = greeting.graph.json);

fn main() {
    let _ = Greeting::new();
}
