// The path without quotes.
petalflow_documents::flow_from!(poem.agent.yaml);

fn main() {}
