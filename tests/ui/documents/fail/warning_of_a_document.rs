// The warnings of a document are warnings of the compiler.
#![deny(deprecated)]

use petalflow_documents::flow_from;

flow_from!("no_default.graph.yaml");

fn main() {}
