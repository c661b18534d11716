// The path without quotes.
petalflow_envelope::flow_from!(poem.agent.yaml);

fn main() {}
