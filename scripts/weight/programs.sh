# shellcheck shell=bash
# The figures of the programs of benches/programs.

# Copies the programs into a workspace of their own, with the versions of this one and none of its profiles.
copy_programs() {
    mkdir -p "$work/nodes"
    rm -rf "$work/programs"
    cp -r "$root/benches/programs" "$work/"
    sed -i "s|\"\.\./\.\./\.\./|\"$root/|" "$work"/programs/*/Cargo.toml
    cp "$root/Cargo.lock" "$root/rust-toolchain.toml" "$work/"
    printf '[workspace]\nresolver = "3"\nmembers = ["programs/*", "nodes/*"]\n' >"$work/Cargo.toml"
    [[ $unit == 'CPU s' ]] || count_instructions
}

profile() { if [[ $1 == release ]]; then echo --release; else echo --profile=dev; fi; }

build() { # program, profile, further arguments
    CARGO_TARGET_DIR=$work/target/$1 cargo build -p "$1" "$(profile "$2")" "${@:3}"
}

check() { CARGO_TARGET_DIR=$work/target/$1 cargo check -p "$1"; }

# Changes a line in a node.
change_line() { # program
    local file=flow.rs text='We looked into it'
    [[ $1 != minimal* ]] || file=main.rs text='An essay'
    sed -i -E "s/$text( [0-9]+ times)?/$text $RANDOM$RANDOM times/" "$work/programs/$1/src/$file"
}

clean_build() { # program, profile
    rm -rf "$work/target/$1"
    cost build "$@"
}

changed_build() { # program, profile
    quietly build "$@"
    change_line "$1"
    cost build "$@"
}

changed_check() { # program
    quietly check "$1"
    change_line "$1"
    cost check "$1"
}

packages() { # program: without the program itself
    cargo tree -p "$1" -e normal,build --prefix none | sed 's/ (.*//' | grep -v "^$1 " | sort -u | wc -l
}

binary_size() { # program: MB without symbols
    quietly build "$1" release
    strip -o "$work/stripped" "$work/target/$1/release/$1"
    stat -c %s "$work/stripped" | awk '{ printf "%.2f", $1 / 1e6 }'
}

packages_figures() { print_figure "$1" packages "$(packages "$1")" "$(packages "${1}_by_hand")"; }

clean_figures() {
    compare "$1" 'clean build, dev' clean_build dev
    compare "$1" 'clean build, release' clean_build release
}

rebuild_figures() {
    compare "$1" 'build after a changed line, dev' changed_build dev
    compare "$1" 'build after a changed line, release' changed_build release
}

check_figures() { compare "$1" 'check after a changed line' changed_check; }

size_figures() {
    print_figure "$1" 'binary, release, stripped, MB' "$(binary_size "$1")" "$(binary_size "${1}_by_hand")"
}
