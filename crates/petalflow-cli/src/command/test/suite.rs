//! Files of tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};

/// A file with cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    /// The path of the document, beside this file.
    pub(super) document: PathBuf,
    pub(super) cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    /// The variables of a graph, or the values of a conversation, at the beginning.
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// The replies of all models, in order.
    #[serde(default)]
    pub(super) replies: Vec<Value>,
    /// The answers of people to the questions of a graph.
    #[serde(default)]
    pub(super) answers: Vec<String>,
    /// What the person says to a conversation, in order.
    #[serde(default)]
    pub(super) messages: Vec<String>,
    /// The results of the functions of a conversation: one for all calls, or a list with one for each.
    #[serde(default)]
    pub(super) results: BTreeMap<String, Value>,
    /// The values of some variables, by their paths.
    #[serde(default)]
    pub(super) expect: Map<String, Value>,
    /// What the person hears in a conversation, in order.
    #[serde(default)]
    pub(super) texts: Option<Vec<String>>,
    /// The node of a conversation at the end.
    #[serde(default)]
    pub(super) node: Option<String>,
    /// Whether a conversation has ended.
    #[serde(default)]
    pub(super) ended: Option<bool>,
    /// The path of a file with the values of all variables, beside this file.
    #[serde(default)]
    pub(super) golden: Option<PathBuf>,
    /// The paths of variables that are not compared with the golden file, such as times.
    #[serde(default)]
    pub(super) ignore: Vec<String>,
    /// A part of the error.
    #[serde(default)]
    pub(super) fails: Option<String>,
}

impl Suite {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = File::read(path)?;
        let suite: Suite = serde_json::from_value(file.value()?)
            .map_err(|error| wrong(path, &error.to_string()))?;
        suite
            .cases
            .iter()
            .try_for_each(Case::check)
            .map_err(|problem| wrong(path, &problem))?;
        Ok(suite)
    }

    /// Fails if a case has a field that is for documents of another kind. `path` is the file of the tests.
    pub(super) fn check_kind(&self, kind: Kind, path: &Path) -> Result<()> {
        let problem = self.cases.iter().find_map(|case| case.misplaced(kind));
        problem.map_or(Ok(()), |problem| Err(wrong(path, &problem)))
    }
}

fn wrong(path: &Path, problem: &str) -> Failure {
    let text = format_args!("the tests `{}` cannot be used: {problem}", path.display());
    Failure::new(Exit::Input, text).hint("`petalflow test --help` says what a file of tests has")
}

impl Case {
    fn check(&self) -> std::result::Result<(), String> {
        let has_end = self.texts.is_some() || self.node.is_some() || self.ended.is_some();
        let has_result = has_end || !self.expect.is_empty() || self.golden.is_some();
        match (has_result, &self.fails) {
            (false, None) => Err(format!(
                "the case `{}` expects nothing: write `expect`, `golden` or `fails`, and for a conversation flow also \
                 `texts`, `node` or `ended`",
                self.name
            )),
            _ if self.golden.is_none() && !self.ignore.is_empty() => Err(format!(
                "the case `{}` has `ignore` without `golden`: `expect` names what is compared",
                self.name
            )),
            (true, Some(_)) => Err(format!(
                "the case `{}` cannot have a result and fail: write `fails` alone",
                self.name
            )),
            _ => Ok(()),
        }
    }

    /// The problem of a field that documents of this kind have no use for.
    fn misplaced(&self, kind: Kind) -> Option<String> {
        let given = match kind {
            Kind::Conversation => vec![("answers", !self.answers.is_empty())],
            Kind::Graph => vec![
                ("messages", !self.messages.is_empty()),
                ("results", !self.results.is_empty()),
                ("texts", self.texts.is_some()),
                ("node", self.node.is_some()),
                ("ended", self.ended.is_some()),
            ],
        };
        let (field, _) = given.into_iter().find(|(_, is_given)| *is_given)?;
        let (of, document) = match kind {
            Kind::Conversation => ("graphs", "a conversation flow"),
            Kind::Graph => ("conversation flows", "a graph"),
        };
        Some(format!(
            "the case `{}` has `{field}`, which is for {of}, and the document is {document}",
            self.name
        ))
    }
}
