# shellcheck shell=bash
# Measures commands, and prints figures. `work` is the folder of the measurement, and `unit` what is counted.

# Runs a command, and prints its output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        return 1
    }
}

# Prints what a command and its children took.
cost() {
    if [[ $unit == 'CPU s' ]]; then
        local TIMEFORMAT='%U %S'
        { time quietly "$@" 2>&3; } 3>&2 2>"$work/times"
        awk '{ printf "%.2f", $1 + $2 }' "$work/times"
        return
    fi
    rm -rf "$work/counts"
    mkdir "$work/counts"
    COUNTS=$work/counts quietly "$@"
    awk '/I *refs:/ { gsub(",", "", $NF); all += $NF } END { printf "%.2f", all / 1e9 }' "$work/counts"/*
}

# Cargo calls this in place of rustc while instructions are counted.
count_instructions() {
    command -v valgrind >/dev/null || refuse "valgrind is missing"
    cat >"$work/count" <<'SH'
#!/usr/bin/env bash
rustc=$("$1" --print sysroot)/bin/rustc
shift
# Cargo also asks rustc for its version and its targets.
case "${COUNTS:-none} $* " in none* | *" --crate-name ___ "* | *" -vV "*) exec "$rustc" "$@" ;; esac
exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$COUNTS/%p" "$rustc" "$@"
SH
    chmod +x "$work/count"
    export RUSTC_WRAPPER=$work/count
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

# The medians of a function, called in turn for a program and for the same program by hand: machines are noisy.
compare() { # program, what is measured, function, further arguments of the function
    local program=$1 what=$2 function=$3 ours=() by_hand=()
    shift 3
    for _ in $(seq "$runs"); do
        by_hand+=("$("$function" "${program}_by_hand" "$@")")
        ours+=("$("$function" "$program" "$@")")
    done
    print_figure "$program" "$what, $unit" "$(median "${ours[@]}")" "$(median "${by_hand[@]}")"
}

print_figure() { # program, what, figure, figure by hand
    awk -v program="$1" -v what="$2" -v ours="$3" -v by_hand="$4" 'BEGIN {
        printf "%-10s %-40s %8s, by hand %8s, ratio %.2f\n", program, what, ours, by_hand, ours / by_hand
    }'
}
