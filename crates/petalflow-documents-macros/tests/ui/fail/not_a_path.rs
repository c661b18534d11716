petalflow_envelope::flow_from!(greeting);

fn main() {}
