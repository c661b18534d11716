// Both mistakes are reported.
petalflow_conversations::conversation! { Broken("document_two_mistakes.json") }

fn main() {
    let _ = Broken;
}
