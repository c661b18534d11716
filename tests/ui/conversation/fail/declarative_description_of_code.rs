// The code describes the function.
petalflow_conversations::conversation! { Broken("declarative_description_of_code.yaml") }

fn main() {
    let _ = Broken;
}
