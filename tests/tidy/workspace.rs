//! The packages of the workspace, as `cargo metadata` lists them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The folder of its `Cargo.toml`, below [`root`].
    pub(crate) folder: PathBuf,
    pub(crate) published: bool,
    pub(crate) dependencies: Vec<Dependency>,
    /// The root files of its libraries and programs, below [`root`].
    pub(crate) roots: Vec<PathBuf>,
    /// The tests that need features. If one is off, Cargo does not run the test and does not report it.
    pub(crate) tests_with_features: Vec<String>,
    /// Its features, without `default`.
    pub(crate) features: Vec<String>,
    /// The fields of `Cargo.toml` that a registry or docs.rs reads and that it does not have.
    pub(crate) missing_fields: Vec<&'static str>,
}

impl Package {
    /// The first line of its library, or of its program if it has no library.
    pub(crate) fn first_line(&self) -> String {
        let file = self.roots.first().expect("a package has a target");
        let text = std::fs::read_to_string(root().join(file)).expect("the file is readable");
        text.lines().next().unwrap_or_default().to_owned()
    }
}

pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only tests, examples and benchmarks use it.
    pub(crate) dev: bool,
}

/// The root folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub(crate) fn packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(root())
            .output()
            .expect("cargo runs");
        let metadata: Value =
            serde_json::from_slice(&output.stdout).expect("`cargo metadata` prints JSON");
        let workspace = Path::new(text(&metadata["workspace_root"]));
        list(&metadata["packages"])
            .map(|package| read(package, workspace))
            .collect()
    })
}

/// All Rust files of the repository, below [`root`], sorted. What is built is not among them.
pub(crate) fn rust_files() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        collect(Path::new(""), &mut files);
        files.sort();
        files
    })
}

fn read(package: &Value, workspace: &Path) -> Package {
    let below = |path: &Value| {
        let path = Path::new(text(path));
        path.strip_prefix(workspace)
            .expect("a package of the workspace is below its root")
            .to_owned()
    };
    let is_checked = |target: &&Value| {
        list(&target["kind"]).any(|kind| matches!(text(kind), "lib" | "proc-macro" | "bin"))
    };
    let targets = list(&package["targets"]);
    let tests_with_features = targets.filter(|target| {
        list(&target["kind"]).any(|kind| text(kind) == "test")
            && !target["required-features"].is_null()
    });
    let fields = [
        ("categories", &package["categories"][0]),
        ("description", &package["description"]),
        ("keywords", &package["keywords"][0]),
        ("license", &package["license"]),
        (
            "package.metadata.docs.rs",
            &package["metadata"]["docs"]["rs"]["all-features"],
        ),
        ("readme", &package["readme"]),
        ("rust-version", &package["rust_version"]),
        ("repository", &package["repository"]),
    ];
    Package {
        missing_fields: fields
            .into_iter()
            .filter_map(|(name, value)| value.is_null().then_some(name))
            .collect(),
        tests_with_features: tests_with_features
            .map(|target| text(&target["name"]).to_owned())
            .collect(),
        features: package["features"]
            .as_object()
            .into_iter()
            .flat_map(|features| features.keys())
            .filter(|feature| *feature != "default")
            .cloned()
            .collect(),
        name: text(&package["name"]).to_owned(),
        description: package["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        folder: below(&package["manifest_path"])
            .parent()
            .expect("a file has a folder")
            .to_owned(),
        published: package["publish"].is_null(),
        dependencies: list(&package["dependencies"])
            .map(|dependency| Dependency {
                name: text(&dependency["name"]).to_owned(),
                dev: dependency["kind"] == "dev",
            })
            .collect(),
        roots: list(&package["targets"])
            .filter(is_checked)
            .map(|target| below(&target["src_path"]))
            .collect(),
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in root().join(folder).read_dir().expect("the folder is there") {
        let entry = entry.expect("the folder is readable");
        let name = entry.file_name();
        let path = folder.join(&name);
        if entry.file_type().expect("the entry has a type").is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text in the metadata")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list in the metadata").iter()
}
