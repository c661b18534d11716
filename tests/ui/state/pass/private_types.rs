#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
struct Section(String);

#[state]
pub struct Audit {
    #[key(input)]
    files: Vec<String>,
    #[key(append)]
    sections: Vec<Section>,
}

#[node(Audit)]
async fn split(files: &[String]) -> AuditSections {
    AuditSections(files.iter().cloned().map(Section).collect())
}

#[node(Audit)]
pub async fn reread() -> AuditFiles {
    AuditFiles(Vec::new())
}
