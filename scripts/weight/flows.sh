# shellcheck shell=bash
# What one more flow costs in a dev build: programs of small flows (a state of four keys, two nodes, a route, a loop), run in
# memory and stored, beside the same functions and structs by hand.

flow_counts=(1 11 31)

flow_module() { # index
    cat <<RUST
mod m$1 {
use petalflow::prelude::*;
#[state]
pub struct S$1 { #[key(input)] pub topic: String, pub draft: String, #[key(append)] pub notes: Vec<String>, #[key(sum, turn)] pub rounds: u32 }
#[derive(Route)]
pub enum V$1 { Again, Done }
#[node(S$1)]
async fn write(topic: &str, notes: &[String]) -> S$1Draft { S$1Draft(format!("{topic} {}", notes.len())) }
#[node(S$1)]
async fn check(draft: &str, rounds: &u32) -> petalflow::Result<(S$1Notes, S$1Rounds, V$1)> {
    if draft.is_empty() { return Err("empty".into()); }
    Ok((S$1Notes(vec![draft.into()]), S$1Rounds(1), if *rounds < 2 { V$1::Again } else { V$1::Done }))
}
flow! { pub F$1(S$1) { START -> write -> check; check -> match { Again => write, Done => END }; } }
}
RUST
}

flow_module_by_hand() { # index
    cat <<RUST
mod m$1 {
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct S$1 { pub topic: String, pub draft: String, pub notes: Vec<String>, pub rounds: u32 }
pub enum V$1 { Again, Done }
async fn write(topic: &str, notes: &[String]) -> String { format!("{topic} {}", notes.len()) }
async fn check(draft: &str, rounds: &u32) -> Result<(String, u32, V$1), Box<dyn std::error::Error + Send + Sync>> {
    if draft.is_empty() { return Err("empty".into()); }
    Ok((draft.into(), 1, if *rounds < 2 { V$1::Again } else { V$1::Done }))
}
pub async fn run(topic: String) -> Result<S$1, Box<dyn std::error::Error + Send + Sync>> {
    let mut s = S$1 { topic, ..Default::default() };
    loop {
        s.draft = write(&s.topic, &s.notes).await;
        let (n, r, v) = check(&s.draft, &s.rounds).await?;
        s.notes.push(n); s.rounds += r;
        if let V$1::Done = v { return Ok(s); }
    }
}
}
RUST
}

# A `main` that runs each flow once.
flow_main() { # count, header, statement with INDEX in place of the index, error type
    local i
    printf '#[tokio::main(flavor = "current_thread")]\nasync fn main() -> %s {\n%s\n' "$4" "$2"
    for ((i = 0; i < $1; i++)); do printf '%s\n' "${3//INDEX/$i}"; done
    echo 'Ok(()) }'
}

write_flows() {
    local count i
    local tokio='tokio = { version = "1", features = ["macros", "rt", "time"] }'
    local serde='serde = { version = "1", features = ["derive"] }'
    local ours="petalflow = { path = \"$root/petalflow\" }"$'\n'"$serde"$'\n'"$tokio"
    for count in "${flow_counts[@]}"; do
        {
            for ((i = 0; i < count; i++)); do flow_module_by_hand "$i"; done
            flow_main "$count" '' 'let s = mINDEX::run("x".into()).await?; println!("{} {}", s.draft, serde_json::to_string(&s)?);' \
                'Result<(), Box<dyn std::error::Error + Send + Sync>>'
        } | node_package "flows${count}_by_hand" "$serde"$'\nserde_json = "1"\n'"$tokio"
        {
            for ((i = 0; i < count; i++)); do flow_module "$i"; done
            flow_main "$count" '' 'println!("{}", mINDEX::FINDEX::run(mINDEX::SINDEXInput { topic: "x".into() }).await?.draft);' \
                'petalflow::Result<()>'
        } | node_package "flows$count" "$ours"
        {
            for ((i = 0; i < count; i++)); do flow_module "$i"; done
            flow_main "$count" 'let store = petalflow::checkpoint::InMemoryStore::new();' \
                'println!("{}", mINDEX::FINDEX::new().store(&store).thread("INDEX").run(mINDEX::SINDEXInput { topic: "x".into() }).await?.into_finished()?.draft);' \
                'petalflow::Result<()>'
        } | node_package "flows${count}_stored" "$ours"
    done
}

# The median cost of a build of all of a program, without its dependencies.
whole_build() { # package
    local costs=()
    for _ in $(seq "$runs"); do costs+=("$(touched_build "$1")"); done
    median "${costs[@]}"
}

flows_figures() {
    local least=${flow_counts[0]} most=${flow_counts[-1]} kind few many
    for kind in _by_hand '' _stored; do
        few=$(whole_build "flows$least$kind") many=$(whole_build "flows$most$kind")
        awk -v name="flows$kind" -v unit="$unit" -v least="$least" -v most="$most" -v few="$few" -v many="$many" 'BEGIN {
            printf "%-16s dev build, %s: %d flow %.2f, %d flows %.2f, per further flow %.3f\n",
                name, unit, least, few, most, many, (many - few) / (most - least)
        }'
    done
}
