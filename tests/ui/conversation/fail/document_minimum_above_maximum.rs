// No number fits.
petalflow_conversations::conversation! { Broken("document_minimum_above_maximum.json") }

fn main() {
    let _ = Broken;
}
