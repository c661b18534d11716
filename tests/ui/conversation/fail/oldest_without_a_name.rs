// A function has no name.
petalflow_conversations::conversation! { Broken("oldest_without_a_name.json") }

fn main() {
    let _ = Broken;
}
