// There is no such file.
petalflow_conversation::conversation! { Order("../oder.json") }

fn main() {}
