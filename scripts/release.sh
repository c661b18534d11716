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

step "the commit is what is released"
[[ -z "$(git status --porcelain)" ]] || fail "commit or stash what has changed: git status"
# Prints a field of each package that is published, each value once.
published() {
    cargo metadata --no-deps --format-version 1 |
        python3 -c 'import json, sys
packages = [p for p in json.load(sys.stdin)["packages"] if p["publish"] is None]
print("\n".join(dict.fromkeys(p[sys.argv[1]] or "" for p in packages)))' "$1"
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
    "write the address of the public repository to \`repository\` in [workspace.package] of Cargo.toml: the links of the READMEs lead there"

step "no change since the last release breaks programs without saying so"
previous=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [[ -z "$previous" ]]; then
    echo "left out: there is no tag \`v*\`, so this is the first release, and nothing can be compared with it"
else
    echo "compared with $previous"
    command -v cargo-semver-checks >/dev/null || fail "install cargo-semver-checks: cargo install --locked cargo-semver-checks"
    cargo semver-checks --workspace --baseline-rev "$previous"
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
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
patches=()
for package in "$folder"/*.crate; do
    tar -xzf "$package" -C "$packages"
    name=$(basename "$package" "-$version.crate")
    patches+=(--config "patch.crates-io.$name.path='$packages/$name-$version'")
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
cargo install --quiet --locked --path "$packages/petalflow-cli-$version" --features full --root "$packages/installed" \
    "${patches[@]}"
program="$packages/installed/bin/petalflow"
[[ "$("$program" --version)" == *"$version"* ]] || fail "the program says another version: $("$program" --version)"

step "its manual and completions"
archive="petalflow-$version-$(rustc -vV | sed -n 's/^host: //p')"
mkdir -p "$packages/$archive"/{man,completions}
cp "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$packages/$archive"
"$program" man --output "$packages/$archive/man"
for shell in bash fish zsh; do
    "$program" completions "$shell" >"$packages/$archive/completions/petalflow.$shell"
done
tar -czf "$folder/$archive.tar.gz" -C "$packages" "$archive"

step "the documentation as a site"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --quiet
tar -czf "$folder/petalflow-$version-documentation.tar.gz" -C "$target" doc

step "the container image"
# A client without its service is of no use.
builder=''
for candidate in podman docker; do
    if command -v "$candidate" >/dev/null && "$candidate" info >/dev/null 2>&1; then
        builder=$candidate
        break
    fi
done
if [[ -n "$builder" ]]; then
    "$builder" build --tag "petalflow:$version" --file Containerfile .
    "$builder" save "petalflow:$version" | gzip >"$folder/petalflow-$version-image.tar.gz"
else
    echo "left out: neither podman nor docker is installed and running"
fi

(cd "$folder" && sha256sum -- * >SHA256SUMS)
step "ready in $folder"
cat <<EOF
Nothing was uploaded. What a person does now:

    git tag v$version
    git push origin v$version
    cargo publish --workspace
EOF
