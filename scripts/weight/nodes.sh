# shellcheck shell=bash
# What `cargo check` takes after one changed line in a node, for flows of more and more nodes with routes and loops, beside the
# same functions called by hand.

node_counts=(10 100 400)

node_package() { # name, dependency lines
    mkdir -p "$work/nodes/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n%s\n' "$1" "$2" >"$work/nodes/$1/Cargo.toml"
    cat >"$work/nodes/$1/src/main.rs"
}

# Every tenth node chooses between a loop to the first node of its ten, and the node behind it.
node_functions() { # count, attribute
    local i
    for ((i = 0; i < $1; i++)); do
        if ((i % 10 == 9)); then
            printf '%s\npub async fn n%d(n: &u64) -> (CountN, More) { (CountN(*n + 1), if *n %% 3 == 0 { More::Again } else { More::On }) }\n' "$2" "$i"
        else
            printf '%s\npub async fn n%d(n: &u64) -> CountN { CountN(*n + 1) }\n' "$2" "$i"
        fi
    done
}

write_nodes() {
    local count i
    for count in "${node_counts[@]}"; do
        {
            echo 'pub struct CountN(pub u64);'
            echo 'pub enum More { Again, On }'
            node_functions "$count" ""
            # What the flow saves its author from writing.
            echo 'pub async fn by_hand(mut n: u64, mut node: u32) -> u64 { loop { match node {'
            for ((i = 0; i < count; i++)); do
                if ((i % 10 == 9)); then
                    printf '%d => { let (next, more) = n%d(&n).await; n = next.0; node = match more { More::Again => %d, More::On => %d }; }\n' "$i" "$i" "$((i - 9))" "$((i + 1))"
                else
                    printf '%d => { n = n%d(&n).await.0; node = %d; }\n' "$i" "$i" "$((i + 1))"
                fi
            done
            echo '_ => return n } } }'
            echo 'fn main() { drop(by_hand(0, 0)); }'
        } | node_package "nodes${count}_by_hand" ""
        {
            echo 'use petalflow::prelude::*;'
            echo '#[state] pub struct Count { #[key(input)] pub n: u64 }'
            echo '#[derive(Route)] pub enum More { Again, On }'
            node_functions "$count" "#[node(Count)]"
            echo 'flow! { pub Chain(Count) { START -> n0;'
            for ((i = 0; i < count; i += 10)); do
                printf 'n%d' "$i"
                for ((j = i + 1; j < i + 10; j++)); do printf ' -> n%d' "$j"; done
                printf '; n%d -> match { Again => n%d, On => %s };\n' "$((i + 9))" "$i" "$( ((i + 10 < count)) && echo "n$((i + 10))" || echo END)"
            done
            echo '} }'
            echo 'fn main() { let _ = Chain::new(); }'
        } | node_package "nodes$count" "petalflow = { path = \"$root/petalflow\" }"
    done
}

# One line of one node becomes longer, and cargo checks as it does by default, with what it remembers of the check before. The
# length matters: see `petalflow-macros/src/site.rs`.
changed_node_check() { # package
    local main=$work/nodes/$1/src/main.rs
    export CARGO_INCREMENTAL=1
    quietly check "$1"
    sed -i -E 's/(async fn n3\(n: &u64\) -> CountN \{ CountN\(\*n \+ [0-9]+)/\12/' "$main"
    cost check "$1"
}

nodes_figures() {
    local count
    for count in "${node_counts[@]}"; do
        compare "nodes$count" 'check after a changed line' changed_node_check
    done
}
