// The macro call has only a path.
petalflow_conversations::conversation! { "../order.json" }

fn main() {}
