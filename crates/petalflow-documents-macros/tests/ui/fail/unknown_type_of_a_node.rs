// One mistake is one error, although the flow is used: with and without services.
use petalflow_envelope::flow_from;

flow_from!("unknown_type.graph.json");

fn uses() -> Result<UnknownType, petalflow_envelope::documents::LoadError> {
    let _ = UnknownType::SOURCE;
    let flow = UnknownType::new()?;
    let _ = UnknownType::new(UnknownTypeServices { openai: 7 });
    let _ = flow.run(petalflow_envelope::Envelope::new());
    Ok(flow)
}

fn main() {
    let _ = uses();
}
