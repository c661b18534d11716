// One mistake is one error, although the flow is used: with and without services.
use petalflow_documents::flow_from;

flow_from!("unknown_type.graph.json");

fn uses() -> Result<UnknownType, petalflow_documents::LoadError> {
    let _ = UnknownType::SOURCE;
    let flow = UnknownType::new()?;
    let _ = UnknownType::new(UnknownTypeServices { openai: 7 });
    let _ = flow.run(petalflow_documents::Envelope::new());
    Ok(flow)
}

fn main() {
    let _ = uses();
}
