// Each mistake in the document is one error, with its place in the document, and uses of the type are none.
petalflow_documents::flow_from!("wrong.graph.yaml");

fn main() {
    let _: Option<Wrong> = None;
}
