# shellcheck shell=bash
# How `cargo check` grows with the nodes of a flow, beside the same functions called by hand.

node_counts=(100 400 1000)

node_package() { # name, dependency lines
    mkdir -p "$work/nodes/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n%s\n' "$1" "$2" >"$work/nodes/$1/Cargo.toml"
    cat >"$work/nodes/$1/src/main.rs"
}

node_functions() { # count, attribute, return type
    local i
    for ((i = 0; i < $1; i++)); do
        printf '%s\npub async fn n%d(n: &u64) -> %s { %s(*n + 1) }\n' "$2" "$i" "$3" "$3"
    done
}

write_nodes() {
    local count i
    for count in "${node_counts[@]}"; do
        {
            echo 'pub struct CountN(pub u64);'
            node_functions "$count" "" CountN
            # What the flow saves its author from writing.
            echo 'pub async fn by_hand(mut n: u64, mut node: u32) -> u64 { loop { match node {'
            for ((i = 0; i < count; i++)); do
                printf '%d => { n = n%d(&n).await.0; node = %d; }\n' "$i" "$i" "$((i + 1))"
            done
            echo '_ => return n } } }'
            echo 'fn main() { drop(by_hand(0, 0)); }'
        } | node_package "nodes${count}_by_hand" ""
        {
            echo 'use petalflow::prelude::*;'
            echo '#[state] pub struct Count { #[key(input)] pub n: u64 }'
            node_functions "$count" "#[node(Count)]" CountN
            printf 'flow! { pub Chain(Count) { n0'
            for ((i = 1; i < count; i++)); do printf ' -> n%d' "$i"; done
            echo ' } }'
            echo 'fn main() { let _ = Chain::new(); }'
        } | node_package "nodes$count" "petalflow = { path = \"$root/petalflow\" }"
    done
}

# The whole program is checked, as after a change of its state.
touched_check() { # package
    export CARGO_INCREMENTAL=0
    quietly check "$1"
    touch "$work/nodes/$1/src/main.rs"
    cost check "$1"
}

nodes_figures() {
    local count
    for count in "${node_counts[@]}"; do
        compare "nodes$count" 'check of all nodes' touched_check
    done
}
