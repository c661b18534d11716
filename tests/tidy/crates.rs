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
