// The field is called `task_messages`.
petalflow_conversations::conversation! { Broken("declarative_misspelt_field.yaml") }

fn main() {
    let _ = Broken;
}
