// The text is not YAML.
petalflow_conversations::conversation! { Broken("declarative_indentation.yaml") }

fn main() {
    let _ = Broken;
}
