#!/usr/bin/env bash
# Prints what the programs of benches/programs cost to build, each beside the same program by hand; what one more flow costs
# in a dev build; what `cargo check` takes after a changed line in flows of more and more nodes; and how a build grows with the
# functions of a conversation. Needs cargo, a C compiler and binutils. All figures take about an hour.
#
#     scripts/weight.sh                                   all figures
#     scripts/weight.sh --program service --figure check  one of them
#
# --program minimal|service|document|flows|nodes|functions
# --figure packages|clean|rebuild|check|size   for `nodes`, there is only `check`, for `flows` and `functions` only `rebuild`
# --runs N          how often each time is measured; the median is printed. The default is 3.
# --folder FOLDER   builds there, and keeps what is built for the next call. The default is a temporary folder.
# --instructions    counts the instructions of rustc instead of the CPU time. The count hardly varies, and depends on no
#                   other program. Needs valgrind and 50 times as long. The linker is not counted.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
programs=(minimal service document flows nodes functions)
figures=(packages clean rebuild check size)
runs=3
folder=
unit='CPU s'

refuse() {
    echo "$1; see the first lines of scripts/weight.sh" >&2
    exit 2
}

while (($#)); do
    case $1 in
    --instructions) unit='billion instructions' && shift && continue ;;
    --program | --figure | --runs | --folder) [[ -n ${2:-} ]] || refuse "$1 needs a value" ;;
    *) refuse "unknown option $1" ;;
    esac
    case $1 in
    --program)
        [[ " ${programs[*]} " == *" $2 "* ]] || refuse "there is no program $2"
        programs=("$2")
        ;;
    --figure)
        [[ " ${figures[*]} " == *" $2 "* ]] || refuse "there is no figure $2"
        figures=("$2")
        ;;
    --runs) [[ $2 =~ ^[1-9][0-9]*$ ]] && runs=$2 || refuse "$2 is not a number of runs" ;;
    --folder) folder=$2 ;;
    esac
    shift 2
done

# shellcheck source=scripts/weight/measure.sh
source "$root/scripts/weight/measure.sh"
# shellcheck source=scripts/weight/programs.sh
source "$root/scripts/weight/programs.sh"
# shellcheck source=scripts/weight/nodes.sh
source "$root/scripts/weight/nodes.sh"
# shellcheck source=scripts/weight/functions.sh
source "$root/scripts/weight/functions.sh"
# shellcheck source=scripts/weight/flows.sh
source "$root/scripts/weight/flows.sh"

if [[ -n $folder ]]; then
    mkdir -p "$folder"
    work=$(cd "$folder" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
copy_programs
write_nodes
write_functions
write_flows
# As for a user: no settings of this machine, and incremental builds where cargo has them by default.
unset CARGO_INCREMENTAL CARGO_TARGET_DIR RUSTFLAGS
export CARGO_TERM_PROGRESS_WHEN=never
cd "$work"
quietly cargo fetch

for program in "${programs[@]}"; do
    if [[ $program == nodes ]]; then
        [[ " ${figures[*]} " != *' check '* ]] || nodes_figures
        continue
    fi
    if [[ $program == functions || $program == flows ]]; then
        [[ " ${figures[*]} " != *' rebuild '* ]] || "${program}_figures"
        continue
    fi
    for figure in "${figures[@]}"; do
        "${figure}_figures" "$program"
    done
done
