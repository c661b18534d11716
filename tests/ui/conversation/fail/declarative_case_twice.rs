// Truth values match in all letters.
petalflow_conversation::conversation! { Broken("declarative_case_twice.yaml") }

fn main() {
    let _ = Broken;
}
