//! The name under which the crate that is compiled depends on `petalflow`.

use crate::site;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use proc_macro2::Ident;

/// The name that the manifest of the crate gives to `petalflow`, as in `pf = { package = "petalflow" }`. `None` if it gives none,
/// or if there is no manifest.
pub(crate) fn renamed_crate() -> Option<Ident> {
    // The process of an editor expands the macros of many crates.
    static LAST: Mutex<Option<(PathBuf, Option<String>)>> = Mutex::new(None);
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, name)) = &*last
        && *of == folder
    {
        return name.as_deref().map(ident);
    }
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let (_, name) = last.insert((folder, renamed_in(&manifest)));
    name.as_deref().map(ident)
}

fn ident(name: &str) -> Ident {
    Ident::new(name, site::span())
}

/// Reads what matters of a manifest, line by line: a parser of TOML would be the largest dependency of the macros.
fn renamed_in(manifest: &str) -> Option<String> {
    let mut table = "";
    let mut renamed = None;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end_matches(']');
            if is_dependency(table, "petalflow") {
                return None;
            }
            continue;
        }
        if !table.contains("dependencies") {
            continue;
        }
        let key = line.split(['=', '.']).next().unwrap_or_default().trim();
        let names_package = line.split_once("package").is_some_and(|(_, rest)| {
            let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
            value.is_some_and(|value| {
                value.starts_with("\"petalflow\"") || value.starts_with("'petalflow'")
            })
        });
        if names_package {
            let name = if key == "package" {
                table.rsplit('.').next().unwrap_or_default()
            } else {
                key
            };
            renamed = Some(name.trim_matches(['"', '\'']).replace('-', "_"));
        } else if key == "petalflow" && !table.ends_with(".petalflow") {
            return None;
        }
    }
    renamed.filter(|name| syn::parse_str::<Ident>(name).is_ok())
}

/// Whether the header is that of a table of this dependency, as in `dependencies.petalflow`.
fn is_dependency(table: &str, name: &str) -> bool {
    let dependency = table.rsplit_once("dependencies.");
    dependency.is_some_and(|(_, of)| of == name)
}

#[cfg(test)]
mod tests {
    use super::renamed_in;

    #[test]
    fn f42_h_a_renamed_dependency_is_found() {
        let renamed = |manifest: &str| renamed_in(manifest);
        let pf = Some("pf".to_string());
        assert_eq!(
            renamed("[dependencies]\npf = { version = \"1\", package = \"petalflow\" }"),
            pf
        );
        assert_eq!(
            renamed("[dependencies.pf]\npackage='petalflow'\nversion = \"1\""),
            pf
        );
        assert_eq!(
            renamed("[dev-dependencies]\npf={package=\"petalflow\"} # for tests"),
            pf
        );
        let dashed = "[target.'cfg(unix)'.dependencies]\npetal-flow = { package = \"petalflow\" }";
        assert_eq!(renamed(dashed).as_deref(), Some("petal_flow"));
    }

    #[test]
    fn f42_h_a_dependency_with_its_own_name_comes_first() {
        let own = [
            "[package]\nname = \"petalflow\"",
            "[dependencies]\npetalflow = \"1\"\npf = { package = \"petalflow\", version = \"0.9\" }",
            "[dependencies]\npetalflow.workspace = true\n[dev-dependencies]\npf = { package = \"petalflow\" }",
            "[dependencies.petalflow]\nversion = \"1\"\n[dev-dependencies.pf]\npackage = \"petalflow\"",
            "[dependencies]\nllm = { package = \"petalflow-llm\" }",
            "[package.metadata]\nx = { package = \"petalflow\" }",
            "[dependencies]\n1x = { package = \"petalflow\" }",
            "",
        ];
        for manifest in own {
            assert_eq!(renamed_in(manifest), None, "{manifest}");
        }
    }
}
