//! The template for `cargo generate` makes a program that compiles with this version of petalflow.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Copies the template as `cargo generate --name desk-requests` does.
fn render(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            render(&entry.path(), &target)?;
            continue;
        }
        if entry.file_name() == "cargo-generate.toml" {
            continue;
        }
        let text = fs::read_to_string(entry.path())?;
        let text = text.replace("{{project-name}}", "desk-requests");
        let text = text.replace("{{crate_name}}", "desk_requests");
        assert!(
            !text.contains("{{"),
            "{}: an unknown placeholder",
            target.display()
        );
        fs::write(target, text)?;
    }
    Ok(())
}

#[test]
fn the_template_compiles_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    render(&root().join("template"), folder.path()).unwrap();
    // The packages of this workspace instead of published ones, in the versions of its lock file.
    let manifest = folder.path().join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest).unwrap();
    text.push_str("\n[lints.rust]\nwarnings = \"deny\"\n\n[workspace]\n\n[patch.crates-io]\n");
    for package in [
        "petalflow",
        "crates/petalflow-sqlite",
        "crates/petalflow-testing",
    ] {
        let path = root().join(package);
        let name = package.trim_start_matches("crates/");
        writeln!(text, "{name} = {{ path = \"{}\" }}", path.display()).unwrap();
    }
    fs::write(manifest, text).unwrap();
    fs::copy(root().join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--all-targets", "--offline", "--quiet"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
