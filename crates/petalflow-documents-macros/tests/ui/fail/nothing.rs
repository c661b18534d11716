petalflow_envelope::flow_from!();

fn main() {}
