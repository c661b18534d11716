// Truth values match in all letters.
petalflow_conversations::conversation! { Broken("declarative_case_twice.yaml") }

fn main() {
    let _ = Broken;
}
