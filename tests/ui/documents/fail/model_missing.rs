// The document needs a model, and the program has none.
petalflow_documents::flow_from!("../poem.agent.yaml");

fn main() {
    let _ = Poem::new(PoemServices {});
}
