use petalflow_envelope::flow_from;

flow_from!(pub Greeting = "nowhere.graph.json");

fn main() {
    let _ = Greeting::new();
}
