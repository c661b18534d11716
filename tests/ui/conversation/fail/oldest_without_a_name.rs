// A function has no name.
petalflow_conversation::conversation! { Broken("oldest_without_a_name.json") }

fn main() {
    let _ = Broken;
}
