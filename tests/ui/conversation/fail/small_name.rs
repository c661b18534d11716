// The name of a type begins with a capital letter.
petalflow_conversations::conversation! { order("../order.json") }

fn main() {}
