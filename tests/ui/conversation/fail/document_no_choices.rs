// No value fits.
petalflow_conversations::conversation! { Broken("document_no_choices.json") }

fn main() {
    let _ = Broken;
}
