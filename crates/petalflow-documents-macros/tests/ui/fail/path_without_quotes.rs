use petalflow_envelope::flow_from;

flow_from!(Greeting = greeting.graph.json);

fn main() {
    let _ = Greeting::new();
}
