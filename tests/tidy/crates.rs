//! A package depends only on those packages of the workspace that the table names.

use crate::{report, rules, workspace};

#[test]
fn packages_depend_only_on_lower_ones() {
    let packages = workspace::packages();
    let mut errors = Vec::new();
    for package in packages.iter().filter(|package| package.published) {
        let Some(layer) = rules::PACKAGES
            .iter()
            .find(|layer| layer.name == package.name)
        else {
            errors.push(format!(
                "{0}/Cargo.toml: `{1}` is not in `PACKAGES` of tests/tidy/rules.rs: add it, with the packages that it may depend on",
                package.folder.display(),
                package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let ours = packages
                .iter()
                .any(|other| other.name == dependency.name && other.published);
            let allowed = layer.uses.contains(&&*dependency.name)
                || dependency.dev
                    && (layer.tests_use.contains(&&*dependency.name)
                        || dependency.name == package.name);
            if ours && !allowed {
                errors.push(format!(
                    "{}/Cargo.toml: `{}` may not depend on `{}`{}: see `PACKAGES` in tests/tidy/rules.rs",
                    package.folder.display(),
                    package.name,
                    dependency.name,
                    if dependency.dev { ", not even in its tests" } else { "" },
                ));
            }
        }
    }
    for layer in rules::PACKAGES {
        let Some(package) = packages.iter().find(|package| package.name == layer.name) else {
            errors.push(format!(
                "there is no package `{}`: delete it from `PACKAGES` in tests/tidy/rules.rs",
                layer.name
            ));
            continue;
        };
        for (names, dev) in [(layer.uses, false), (layer.tests_use, true)] {
            for name in names {
                if !package
                    .dependencies
                    .iter()
                    .any(|dependency| dependency.name == *name && dependency.dev == dev)
                {
                    errors.push(format!(
                        "{}/Cargo.toml: `{}` does not depend on `{name}`: delete it from `PACKAGES` in tests/tidy/rules.rs",
                        package.folder.display(),
                        layer.name
                    ));
                }
            }
        }
    }
    report(&errors);
}

/// What is not published (tests, examples, benchmarks) is not a dependency of what is, other than in tests.
#[test]
fn published_packages_do_not_need_unpublished_ones() {
    let packages = workspace::packages();
    let mut errors = Vec::new();
    for package in packages.iter().filter(|package| package.published) {
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| !dependency.dev)
        {
            if packages
                .iter()
                .any(|other| other.name == dependency.name && !other.published)
            {
                errors.push(format!(
                    "{}/Cargo.toml: `{}` is published, `{}` is not: a user could not build it",
                    package.folder.display(),
                    package.name,
                    dependency.name
                ));
            }
        }
    }
    report(&errors);
}

/// What a registry and docs.rs show of a package, and the texts of its licences.
#[test]
fn published_packages_have_what_a_registry_and_docs_rs_show() {
    let root = workspace::root();
    let mut errors = Vec::new();
    for package in workspace::packages()
        .iter()
        .filter(|package| package.published)
    {
        let folder = package.folder.display();
        for field in &package.missing_fields {
            errors.push(format!("{folder}/Cargo.toml: no `{field}`"));
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let copy = std::fs::read(root.join(&package.folder).join(licence)).ok();
            if copy != std::fs::read(root.join(licence)).ok() {
                errors.push(format!(
                    "{folder}: `{licence}` is not that of the repository: link to it"
                ));
            }
        }
    }
    report(&errors);
}

/// Users name the packages that the table of crates lists, and no others: the others say so where a user meets them.
#[test]
fn packages_say_who_names_them() {
    let table = std::fs::read_to_string(workspace::root().join("docs/reference/crates.md"));
    let table = table.expect("the page is readable");
    let mut errors = Vec::new();
    let mut named = 0;
    for package in workspace::packages()
        .iter()
        .filter(|package| package.published)
    {
        let name = &package.name;
        let is_internal = rules::INTERNAL_PACKAGES.contains(&&**name);
        named += usize::from(!is_internal);
        if table.contains(&format!("\n| `{name}` |")) == is_internal {
            errors.push(format!(
                "docs/reference/crates.md: the table of crates has the packages that users name, and only those: see `{name}`"
            ));
        }
        for (text, start) in [
            (&package.description, "Internal to petalflow: "),
            (&package.first_line(), "//! Internal to petalflow: "),
        ] {
            if text.starts_with(start) != is_internal {
                errors.push(format!(
                    "{}: the description and the first line of the library begin with `Internal to petalflow: ` if the package is in `INTERNAL_PACKAGES` of tests/tidy/rules.rs, and only then",
                    package.folder.display()
                ));
            }
        }
    }
    if named > rules::MAX_NAMED_PACKAGES {
        errors.push(format!(
            "users would have to know {named} packages, more than {}: make a module of one",
            rules::MAX_NAMED_PACKAGES
        ));
    }
    report(&errors);
}

/// Each name has one path: a package re-exports names of internal packages only, and those one by one. What is hidden is
/// for generated code.
#[test]
fn packages_re_export_names_of_internal_packages_only() {
    let packages = workspace::packages()
        .iter()
        .filter(|package| package.published);
    let ours: Vec<(String, bool)> = packages
        .map(|package| {
            let is_internal = rules::INTERNAL_PACKAGES.contains(&&*package.name);
            (package.name.replace('-', "_"), is_internal)
        })
        .collect();
    let mut errors = Vec::new();
    for file in workspace::rust_files() {
        let is_library = file.components().any(|part| part.as_os_str() == "src");
        if !is_library || file.to_string_lossy().contains("__private") {
            continue;
        }
        let text = std::fs::read_to_string(workspace::root().join(file)).expect("it is readable");
        let (mut block, mut previous) = ("", "");
        for (index, line) in text.lines().enumerate() {
            if !line.starts_with([' ', '}']) {
                block = line;
            }
            let is_hidden = previous.trim() == "#[doc(hidden)]" || block == "pub mod __private {";
            let path = line.trim().strip_prefix("pub use ").unwrap_or_default();
            let end = path.find([':', ';', ' ']).unwrap_or(path.len());
            let found = ours.iter().find(|(name, _)| *name == path[..end]);
            if let Some((name, is_internal)) = found.filter(|_| !is_hidden) {
                let is_whole = !path[end..].starts_with("::") || path.ends_with("::*;");
                if !is_internal || is_whole {
                    errors.push(format!(
                        "{}:{}: `{name}` is re-exported: users name a public package themselves, and names of an internal one are listed",
                        file.display(),
                        index + 1
                    ));
                }
            }
            previous = line;
        }
    }
    report(&errors);
}

/// `cargo test --workspace` runs all tests.
#[test]
fn tests_need_no_features() {
    let mut errors = Vec::new();
    for package in workspace::packages() {
        for test in &package.tests_with_features {
            errors.push(format!(
                "{}/Cargo.toml: Cargo does not run the test `{test}` if a feature of `required-features` is off: delete that line, and enable the features in a `dev-dependency` of the package on itself",
                package.folder.display()
            ));
        }
    }
    report(&errors);
}
