// No value fits.
petalflow_conversation::conversation! { Broken("document_no_choices.json") }

fn main() {
    let _ = Broken;
}
