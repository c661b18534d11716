// The text is not YAML.
petalflow_conversation::conversation! { Broken("declarative_indentation.yaml") }

fn main() {
    let _ = Broken;
}
