#!/usr/bin/env bash
# Prints what petalflow weighs, beside the same functions by hand with tokio alone: packages and CPU time of a minimal
# program, and how `cargo check` grows with the nodes of a flow. Needs only cargo; builds in a temporary folder.
#
# `scripts/weight.sh --instructions` counts the instructions of rustc instead of the CPU time. The count hardly varies, and
# depends on no other program. Needs valgrind and half an hour.
set -euo pipefail
case ${1:-} in
'') instructions= ;;
--instructions) instructions=1 ;;
*)
    echo "unknown option $1: there is only --instructions" >&2
    exit 2
    ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TERM_PROGRESS_WHEN=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR
cp rust-toolchain.toml "$work/"

# CPU seconds (user and system) of a command and its children.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$work/log" 2>&1; } 2>"$work/times" || { cat "$work/log" >&2; return 1; }
    awk '{ printf "%.2f", $1 + $2 }' "$work/times"
}

package() { # name, extra dependency lines
    mkdir -p "$work/$1/src"
    cat >"$work/$1/Cargo.toml" <<TOML
[package]
name = "$1"
version = "0.0.0"
edition = "2024"
[workspace]
[dependencies]
tokio = { version = "1", features = ["macros", "rt"] }
$2
TOML
    [[ ! -f "$root/Cargo.lock" ]] || cp "$root/Cargo.lock" "$work/$1/"
}

package by_hand ""
cat >"$work/by_hand/src/main.rs" <<'RUST'
struct Essay {
    topic: String,
    draft: String,
}
async fn write(topic: &str) -> String {
    format!("about {topic}")
}
async fn run(topic: String) -> Essay {
    let draft = write(&topic).await;
    Essay { topic, draft }
}
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let essay = run("petals".to_string()).await;
    println!("{}: {}", essay.topic, essay.draft);
}
RUST
package minimal "petalflow = { path = \"$root/petalflow\" }"
cat >"$work/minimal/src/main.rs" <<'RUST'
use petalflow::prelude::*;
#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}
#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(format!("about {topic}"))
}
flow!(Write(Essay) { write });
#[tokio::main(flavor = "current_thread")]
async fn main() -> petalflow::Result<()> {
    println!("{}", Write::run("petals".to_string()).await?.draft);
    Ok(())
}
RUST
for program in by_hand minimal; do
    (cd "$work/$program" && cargo fetch >/dev/null 2>&1)
done
cd "$work/minimal"
# Without the program itself.
packages=$(cargo tree -e normal,build --prefix none | sed 's/ (.*//' | grep -v '^minimal ' | sort -u)
echo "packages: $(wc -l <<<"$packages") (at most 22), syn: $(grep -c '^syn ' <<<"$packages") (one)"

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

if [[ -n $instructions ]]; then
    command -v valgrind >/dev/null || {
        echo "valgrind is missing: install it, or leave out --instructions" >&2
        exit 1
    }
    # Counts the instructions of one rustc. The linker is not counted.
    cat >"$work/count" <<'SH'
#!/usr/bin/env bash
rustc=$("$1" --print sysroot)/bin/rustc
shift
# Cargo also asks rustc for its version and its targets.
case " $* " in *" --crate-name ___ "* | *" -vV "*) exec "$rustc" "$@" ;; esac
exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$COUNTS/%p" "$rustc" "$@"
SH
    chmod +x "$work/count"
    count() { # program: billions of instructions
        rm -rf "$work/$1/target" "$work/counts"
        mkdir "$work/counts"
        (cd "$work/$1" && COUNTS=$work/counts RUSTC_WRAPPER=$work/count cargo build --release --quiet)
        awk '/I *refs:/ { gsub(",", "", $NF); all += $NF } END { printf "%.1f", all / 1e9 }' "$work/counts"/*
    }
    by_hand=$(count by_hand)
    minimal=$(count minimal)
    echo "clean release build, billions of instructions: by hand $by_hand, petalflow $minimal, ratio $(ratio "$minimal" "$by_hand")"
    exit
fi

# In turn, and the median of three, because machines are noisy.
build_cpu() { (cd "$work/$1" && rm -rf target && cpu cargo build --release); }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
by_hand=()
minimal=()
for _ in 1 2 3; do
    by_hand+=("$(build_cpu by_hand)")
    minimal+=("$(build_cpu minimal)")
done
by_hand=$(median "${by_hand[@]}")
minimal=$(median "${minimal[@]}")
echo "clean release build, CPU time, median of 3: by hand $by_hand s, petalflow $minimal s, ratio $(ratio "$minimal" "$by_hand") (at most 3.4)"
echo "binary: $(du -k target/release/minimal | cut -f1) KiB"

nodes() { # count, attribute, return type
    for ((i = 0; i < $1; i++)); do
        printf '%s\npub async fn n%d(n: &u64) -> %s { %s(*n + 1) }\n' "$2" "$i" "$3" "$3"
    done
}

check_cpu() { # package: the median of three checks with dependencies built
    local samples=()
    cd "$work/$1"
    cargo check >/dev/null 2>&1 || cargo check
    for _ in 1 2 3; do
        touch src/main.rs
        samples+=("$(cpu cargo check)")
    done
    printf '%s\n' "${samples[@]}" | sort -n | sed -n 2p
}

for count in 100 400 1000; do
    package "plain$count" ""
    {
        echo 'pub struct CountN(pub u64);'
        nodes "$count" "" CountN
        # What the flow saves its author from writing.
        echo 'pub async fn by_hand(mut n: u64, mut node: u32) -> u64 { loop { match node {'
        for ((i = 0; i < count; i++)); do printf '%d => { n = n%d(&n).await.0; node = %d; }\n' "$i" "$i" "$((i + 1))"; done
        echo '_ => return n } } }'
        echo 'fn main() { drop(by_hand(0, 0)); }'
    } >"$work/plain$count/src/main.rs"
    package "flow$count" "petalflow = { path = \"$root/petalflow\" }"
    {
        echo 'use petalflow::prelude::*;'
        echo '#[state] pub struct Count { #[key(input)] pub n: u64 }'
        nodes "$count" "#[node(Count)]" CountN
        printf 'flow! { pub Chain(Count) { n0'
        for ((i = 1; i < count; i++)); do printf ' -> n%d' "$i"; done
        echo ' } }'
        echo 'fn main() { let _ = Chain::new(); }'
    } >"$work/flow$count/src/main.rs"
    plain=$(check_cpu "plain$count")
    flow=$(check_cpu "flow$count")
    echo "cargo check, $count nodes: plain $plain s, flow $flow s, ratio $(ratio "$flow" "$plain")"
done
