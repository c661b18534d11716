//! The kind and the version of the format of a document.

use semver::Version;

use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Report;
use crate::source::{Pointer, names::shown};

/// Checks the kind, which must be one of these, and the version. Both may be absent.
pub(crate) fn check(kind: &str, version: &str, kinds: &[&str], code: Code, report: &mut Report) {
    kind_is_known(kind, kinds, code, report);
    version_is_supported(version, code, report);
}

fn kind_is_known(kind: &str, kinds: &[&str], code: Code, report: &mut Report) {
    if !kind.is_empty() && !kinds.contains(&kind) {
        let message = format!("kind `{}` is unknown: use `{}`", shown(kind), kinds[0]);
        report.add(code, Pointer::root().name("kind"), message);
    }
}

/// The major number is 1.
fn version_is_supported(version: &str, code: Code, report: &mut Report) {
    if version.is_empty() {
        return;
    }
    let problem = match Version::parse(version) {
        Ok(version) if version.major == 1 => return,
        Ok(version) => format!("major version {} is not supported", version.major),
        Err(error) => format!("it is not a semantic version: {error}"),
    };
    let message = format!(
        "schema_version `{}`: {problem}; use `1.0.0`",
        shown(version)
    );
    report.add(code, Pointer::root().name("schema_version"), message);
}
