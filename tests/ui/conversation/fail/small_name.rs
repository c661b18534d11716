// The name of a type begins with a capital letter.
petalflow_conversation::conversation! { order("../order.json") }

fn main() {}
