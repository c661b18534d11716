"""Prints the licences of all packages that a program contains, from what `cargo metadata` prints on stdin.

    cargo metadata --format-version 1 .. | python3 scripts/release/licences.py NAME

NAME is the package with the program. Packages that only build or test it are not in the program, so they are left out.
"""

import json
import pathlib
import sys

LICENCE_FILES = ("licence", "license", "copying", "notice", "copyright", "unlicense")


def contained(metadata, name):
    """The packages that the program of the package `name` contains, without those of the workspace."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [key for key, package in packages.items() if package["name"] == name]
    found = set()
    while waiting:
        key = waiting.pop()
        # A macro runs in the compiler, and so do its dependencies.
        is_macro = any("proc-macro" in target["kind"] for target in packages[key]["targets"])
        if key in found or is_macro:
            continue
        found.add(key)
        for dependency in nodes[key]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    of_others = [packages[key] for key in found if packages[key]["source"] is not None]
    return sorted(of_others, key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The texts of the licences in the folder of a package."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [file for file in folder.iterdir() if file.is_file() and file.name.lower().startswith(LICENCE_FILES)]
    if package["license_file"]:
        files.append(folder / package["license_file"])
    unique = dict.fromkeys(sorted(files))
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in unique]


def main(name):
    packages = contained(json.load(sys.stdin), name)
    if not packages:
        sys.exit(f"licences: the package `{name}` has no dependencies: is the name right?")
    users = {}
    print(f"The program of the package {name} contains these packages:\n")
    for package in packages:
        licence = package["license"] or "see the text below"
        label = f"{package['name']} {package['version']}"
        print(f"{label}: {licence}")
        for text in texts(package):
            users.setdefault(text, []).append(label)
    for text, labels in users.items():
        print(f"\n{'=' * 80}\n{', '.join(labels)}\n{'-' * 80}\n{text}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
