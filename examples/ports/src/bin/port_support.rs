//! A patient support for patients: `cargo run --bin port_support -- --case unclear_knee_surgery`
//!
//! `--list` prints the cases, `--yes` and `--no` decide about a case that waits for a person. The conversation of all cases is in
//! `support.db`, and what is written about them in the folder `cases`. It needs a model: see [`model`].

use petalflow_port_examples::model;
use petalflow_port_examples::support::{Case, PatientSupport};
use petalflow_sqlite::SqliteStore;

const USAGE: &str = "usage: port_support [--list] [--case CASE] [--yes | --no]";

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    use lexopt::prelude::*;
    let (mut case, mut decision) = ("mri_benefits".to_string(), None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("case") => case = parser.value()?.string()?,
            Long("yes") => decision = Some(true),
            Long("no") => decision = Some(false),
            Long("list") => {
                for case in Case::all()? {
                    println!("{}: {}", case.id, case.description);
                }
                return Ok(());
            }
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    let case = Case::find(&case)?;
    let support = PatientSupport {
        model: model::from_environment()?,
        store: SqliteStore::open("support.db").await?,
        folder: "cases".into(),
    };
    println!("{}\n", case.transcript);
    let closed = support.close(&case, |call| {
        println!("{call}");
        decision
    });
    match closed.await? {
        Some(closed) => println!("{closed:#?}"),
        None => println!("Call it again with --yes or --no."),
    }
    Ok(())
}
