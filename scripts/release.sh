#!/usr/bin/env bash
# Makes everything that a release needs, in one folder, and stops before anything is uploaded. Needs what `.ci/run` needs.
#
#     scripts/release.sh VERSION
#
# --folder FOLDER   where the files are written. The default is target/release-VERSION.
# --no-checks       leaves out `.ci/run`, and the build of each package alone, for a second try on the same commit
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "release: $*" >&2
    exit 1
}

step() {
    printf '\n=== %4ds  %s\n' "$SECONDS" "$*"
}

version='' folder='' checks=yes
while (($#)); do
    case $1 in
    --folder) folder=${2:?--folder needs a folder} && shift ;;
    --no-checks) checks=no ;;
    -*) fail "there is no option $1" ;;
    *) version=$1 ;;
    esac
    shift
done
[[ -n "$version" ]] || fail "say the version: scripts/release.sh 0.1.0"
folder=$(realpath -m "${folder:-target/release-$version}")
target="${CARGO_TARGET_DIR:-target}"
host=$(rustc -vV | sed -n 's/^host: //p')

step "the commit is what is released"
[[ -z "$(git status --porcelain)" ]] || fail "commit or stash what has changed: git status"
# Prints a field of each package that is published, each value once, and `nothing` for a package without it.
published() {
    cargo metadata --no-deps --format-version 1 |
        python3 -c 'import json, sys
packages = [p for p in json.load(sys.stdin)["packages"] if p["publish"] is None]
print("\n".join(dict.fromkeys(p[sys.argv[1]] or "nothing" for p in packages)))' "$1"
}
found=$(published version)
[[ "$found" == "$version" ]] || fail "Cargo.toml has the version $found: change it to $version there, also in the dependencies"
grep -q "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section \`## $version\`: rename \`## Unreleased\`"
if grep -q '^## Unreleased' CHANGELOG.md; then
    fail "CHANGELOG.md still has \`## Unreleased\`: move its lines to \`## $version\`"
fi
# The page of a package resolves the links of its README with it.
repository=$(published repository)
[[ "$repository" == https://* && "$repository" != *$'\n'* ]] || fail \
    "write the address of the public repository to \`repository\` in [workspace.package] of Cargo.toml, and \`repository.workspace = true\` to each package: the links of the READMEs lead there"

step "no change since the last release breaks programs without saying so"
previous=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [[ -z "$previous" ]]; then
    echo "left out: there is no tag \`v*\`, so this is the first release, and nothing can be compared with it"
else
    echo "compared with $previous"
    command -v cargo-semver-checks >/dev/null || fail "install cargo-semver-checks: cargo install --locked cargo-semver-checks"
    # A package that the last release did not have cannot be compared.
    new=()
    for name in $(published name); do
        git grep --quiet "^name = \"$name\"$" "$previous" -- '*Cargo.toml' || new+=(--exclude "$name")
    done
    cargo semver-checks --workspace "${new[@]}" --baseline-rev "$previous"
fi

if [[ "$checks" == yes ]]; then
    step "everything that must hold"
    .ci/run
fi

rm -rf "$folder"
mkdir -p "$folder"

step "the packages"
names=()
for name in $(published name); do
    names+=(--package "$name")
done
verify=()
if [[ "$checks" == no ]]; then
    verify=(--no-verify)
fi
cargo package --quiet "${verify[@]}" "${names[@]}"
cp "$target"/package/petalflow*-"$version".crate "$folder"

step "the program, from its package"
# Not in this folder: its Cargo.toml has a workspace, and the packages are not members of it.
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
for package in "$folder"/*.crate; do
    # `--touch`: all files of a package have the same old time, so a change would not be seen.
    tar -xzf "$package" --touch -C "$packages"
done
# The packages that the program uses. With others, cargo would have to change the lock file.
patches=()
for name in $(sed -n 's/^name = "\(petalflow.*\)"$/\1/p' "$packages/petalflow-cli-$version/Cargo.lock"); do
    if [[ "$name" != petalflow-cli ]]; then
        patches+=(--config "patch.crates-io.$name.path='$packages/$name-$version'")
    fi
done
# The packages are not in the registry yet, and the lock file says that they are.
python3 - "$packages/petalflow-cli-$version/Cargo.lock" <<'END'
import re, sys
path = sys.argv[1]
with open(path) as file:
    entries = file.read().split("\n\n")
for index, entry in enumerate(entries):
    if re.search(r'^name = "petalflow', entry, re.M):
        entries[index] = re.sub(r'^(source|checksum) = .*\n?', "", entry, flags=re.M).rstrip("\n")
with open(path, "w") as file:
    file.write("\n\n".join(entries))
END
# A second try builds the other packages of the registry no more.
cargo install --quiet --locked --path "$packages/petalflow-cli-$version" --features full --root "$packages/installed" \
    --target-dir "$target/release-program" "${patches[@]}"
program="$packages/installed/bin/petalflow"
[[ "$("$program" --version)" == *"$version"* ]] || fail "the program says another version: $("$program" --version)"

step "the program works"
"$program" doctor
(cd "$packages" && PATH="$packages/installed/bin:$PATH" && petalflow new letters && letters/test.sh)

step "its archive: manual, completions, licences"
archive="petalflow-$version-$host"
mkdir -p "$packages/$archive"/{man/man1,completions}
cp "$program" CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$packages/$archive"
"$program" man --output "$packages/$archive/man/man1"
# The names under which the shells look for them.
"$program" completions bash >"$packages/$archive/completions/petalflow"
"$program" completions fish >"$packages/$archive/completions/petalflow.fish"
"$program" completions zsh >"$packages/$archive/completions/_petalflow"
cargo metadata --format-version 1 --locked --manifest-path "$packages/petalflow-cli-$version/Cargo.toml" --features full \
    --filter-platform "$host" "${patches[@]}" |
    python3 scripts/release/licences.py petalflow-cli >"$packages/$archive/LICENSES-OF-DEPENDENCIES.txt"
cat >"$packages/$archive/README.md" <<EOF
# petalflow $version

The program \`petalflow\`, for $host. It checks, draws, runs and serves documents of agents and workflows:
$repository

    install -m 755 petalflow /usr/local/bin/
    install -D -m 644 -t /usr/local/share/man/man1 man/man1/*
    install -D -m 644 -t /usr/local/share/bash-completion/completions completions/petalflow
    install -D -m 644 -t /usr/local/share/fish/vendor_completions.d completions/petalflow.fish
    install -D -m 644 -t /usr/local/share/zsh/site-functions completions/_petalflow

\`petalflow doctor\` says what is missing, \`petalflow new letters\` writes a first project, and \`petalflow --help\`
lists the commands. Licences: MIT or Apache-2.0. LICENSES-OF-DEPENDENCIES.txt has those of the packages inside.
EOF
tar -czf "$folder/$archive.tar.gz" --owner=0 --group=0 -C "$packages" "$archive"

step "the documentation as a site"
# Pages of an earlier commit are not part of it.
rm -rf "$target/doc"
# The published packages and the guides: pages of tests and benchmarks are of no use.
RUSTDOCFLAGS="-D warnings" cargo doc "${names[@]}" --package petalflow-docs --no-deps --all-features --quiet
# `rustdoc` writes no first page for several packages.
echo '<!DOCTYPE html><title>petalflow</title><meta http-equiv="refresh" content="0; url=petalflow_docs/index.html">' \
    >"$target/doc/index.html"
tar -czf "$folder/petalflow-$version-documentation.tar.gz" -C "$target" doc

step "the container image"
image="petalflow:$version"
# A client of Docker without its service is of no use.
if command -v podman >/dev/null && podman info >/dev/null 2>&1; then
    podman build --tag "$image" --file Containerfile .
    podman save "$image" --output "$folder/petalflow-$version-image.tar"
elif command -v docker >/dev/null && docker info >/dev/null 2>&1; then
    docker build --tag "$image" --file Containerfile .
    docker save "$image" --output "$folder/petalflow-$version-image.tar"
elif command -v buildah >/dev/null && buildah info >/dev/null 2>&1; then
    buildah build --tag "$image" --file Containerfile .
    buildah push "$image" "docker-archive:$folder/petalflow-$version-image.tar:$image"
else
    echo "left out: podman, docker and buildah are not installed, or do not run"
fi
if [[ -e "$folder/petalflow-$version-image.tar" ]]; then
    gzip "$folder/petalflow-$version-image.tar"
fi

(cd "$folder" && sha256sum -- * >SHA256SUMS)
step "ready in $folder"
cat <<EOF
Nothing was uploaded. What a person does now:

    git tag v$version
    git push origin v$version
    cargo publish --workspace
EOF
