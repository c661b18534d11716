//! Templates: those of documents are Go's, those of settings in Rust are Jinja's.

mod jinja;
mod missing;

use std::fmt;
use std::sync::Arc;

use petalflow::BoxError;
pub(crate) use petalflow_document_model::documents::template::Variables;
use petalflow_document_model::documents::template::{MissingValue, Template as GoTemplate};

use jinja::Jinja;
pub use missing::MissingVariable;

/// The language of the templates in the settings of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// That of settings in Rust.
    Jinja,
    /// That of documents.
    Go,
}

/// A parsed template. Clones share it.
#[derive(Clone)]
pub(crate) struct Template(Arc<Parsed>);

struct Parsed {
    text: String,
    template: InLanguage,
}

enum InLanguage {
    Jinja(Box<Jinja>),
    Go(GoTemplate),
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.text.fmt(f)
    }
}

impl Template {
    /// Parses a template, or says what is wrong with it.
    pub(crate) fn parse(text: &str, language: Language) -> Result<Self, String> {
        let template = match language {
            Language::Jinja => InLanguage::Jinja(Box::new(Jinja::parse(text)?)),
            Language::Go => {
                InLanguage::Go(GoTemplate::parse(text).map_err(|error| error.to_string())?)
            }
        };
        let text = text.to_owned();
        Ok(Template(Arc::new(Parsed { text, template })))
    }

    /// Whether the template may read this variable.
    pub(crate) fn reads(&self, name: &str) -> bool {
        match &self.0.template {
            InLanguage::Jinja(_) => self.0.text.contains(name),
            InLanguage::Go(template) => template.reads(name),
        }
    }

    /// Fills the template.
    pub(crate) fn render(
        &self,
        values: &Variables<'_>,
        missing: MissingVariable,
    ) -> Result<String, BoxError> {
        match &self.0.template {
            InLanguage::Jinja(template) => template.render(values, missing),
            InLanguage::Go(template) => {
                let missing = match missing {
                    MissingVariable::Error => MissingValue::Error,
                    MissingVariable::Empty => MissingValue::Empty,
                };
                Ok(template.render(values, missing)?)
            }
        }
    }
}
