# shellcheck shell=bash
# How a build grows with the functions of `conversation!`, beside the same functions with serde by hand.

function_counts=(100 300 1000)

# The document: each function has a text, a number and a choice, and leads to the next node.
function_document() { # count
    local i
    printf '{ "meta": { "name": "functions", "version": "1" }, "edges": [], "nodes": ['
    for ((i = 0; i < $1; i++)); do
        ((i % 10)) || printf '%s{ "id": "n%d", "type": "%s", "position": { "x": 0, "y": 0 }, "data": { "task_messages": [{ "role": "system", "content": "Go on." }], "functions": [' \
            "$( ((i)) && echo ', ')" "$((i / 10))" "$( ((i)) && echo node || echo initial)"
        printf '%s{ "name": "do_thing_%d", "description": "Does it.", "properties": { "name": { "type": "string" }, "count": { "type": "integer" }, "size": { "type": "string", "enum": ["small", "large"] } }, "required": ["name", "count"], "next_node_id": "n%d" }' \
            "$( ((i % 10)) && echo ', ')" "$i" "$(((i / 10 + 1) % ($1 / 10)))"
        ((i % 10 != 9)) || printf '] } }'
    done
    printf '] }\n'
}

write_functions() {
    local count i
    for count in "${function_counts[@]}"; do
        {
            echo 'use std::{future::Future, pin::Pin};'
            echo 'use serde::{Deserialize, Serialize};'
            echo 'use serde_json::Value;'
            echo 'type Called = Pin<Box<dyn Future<Output = Result<Value, serde_json::Error>> + Send>>;'
            for ((i = 0; i < count; i++)); do
                printf '#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)] #[serde(rename_all = "snake_case")] pub enum DoThing%dSize { Small, Large }\n' "$i"
                printf '#[derive(Clone, Debug, Serialize, Deserialize)] pub struct DoThing%d { pub name: String, pub count: i64, pub size: Option<DoThing%dSize> }\n' "$i" "$i"
                printf 'async fn do_thing_%d(arguments: DoThing%d) -> Result<Value, serde_json::Error> { Ok(arguments.name.into()) }\n' "$i" "$i"
            done
            echo 'fn functions() -> Vec<(&'"'"'static str, fn(Value) -> Called)> { vec!['
            for ((i = 0; i < count; i++)); do
                printf '("do_thing_%d", |value| Box::pin(async move { do_thing_%d(serde_json::from_value(value)?).await })),\n' "$i" "$i"
            done
            echo '] }'
            echo 'fn main() { println!("{}", functions().len()); }'
        } | node_package "functions${count}_by_hand" $'serde = { version = "1", features = ["derive"] }\nserde_json = "1"'
        {
            echo 'use petalflow::Result;'
            echo 'use petalflow::tool::ToolContext;'
            echo 'use petalflow_conversations::conversation;'
            echo 'use serde_json::Value;'
            echo 'conversation! { pub Functions("functions.json") }'
            echo 'use functions::*;'
            echo 'struct Host;'
            echo 'impl Handlers for Host {'
            for ((i = 0; i < count; i++)); do
                printf 'async fn do_thing_%d(&self, arguments: DoThing%d, _: &ToolContext) -> Result<Value> { Ok(arguments.name.into()) }\n' "$i" "$i"
            done
            echo '}'
            echo 'fn main() { println!("{}", Functions::builder(Host).build().is_ok()); }'
        } | node_package "functions$count" "petalflow = { path = \"$root/petalflow\", features = [\"tool\"] }
petalflow-conversations = { path = \"$root/crates/petalflow-conversations\", features = [\"macros\"] }
serde_json = \"1\""
        function_document "$count" >"$work/nodes/functions$count/src/functions.json"
    done
}

touched_build() { # package
    export CARGO_INCREMENTAL=0
    quietly build "$1" dev
    touch "$work/nodes/$1/src/main.rs"
    cost build "$1" dev
}

functions_figures() {
    local count
    for count in "${function_counts[@]}"; do
        compare "functions$count" 'build of all functions' touched_build
    done
}
