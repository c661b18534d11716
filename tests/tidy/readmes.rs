//! A published package has a README of its own, which is the first that a visitor of its page sees.

use std::fs;

use crate::{report, workspace};

#[test]
fn readmes_name_their_package_and_all_its_features() {
    let mut errors = Vec::new();
    for package in workspace::packages() {
        if !package.published {
            continue;
        }
        let file = package.folder.join("README.md");
        let Ok(text) = fs::read_to_string(workspace::root().join(&file)) else {
            errors.push(format!("{}: it does not exist", file.display()));
            continue;
        };
        if !text.starts_with(&format!("# {}\n", package.name)) {
            errors.push(format!(
                "{}: begins with `# {}`",
                file.display(),
                package.name
            ));
        }
        for feature in &package.features {
            if !text.contains(&format!("`{feature}`")) {
                errors.push(format!(
                    "{}: says what the feature `{feature}` adds",
                    file.display()
                ));
            }
        }
        for link in text.split("](").skip(1) {
            let path = link.split([')', '#']).next().unwrap_or_default();
            let target = workspace::root().join(&package.folder).join(path);
            if !path.contains("://") && !target.exists() {
                errors.push(format!("{}: there is no `{path}`", file.display()));
            }
        }
    }
    report(&errors);
}
