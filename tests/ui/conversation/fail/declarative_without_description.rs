// The model must know when to call the function.
petalflow_conversations::conversation! { Broken("declarative_without_description.yaml") }

fn main() {
    let _ = Broken;
}
