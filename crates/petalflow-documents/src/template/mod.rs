//! The templates of settings: those of Go.

mod missing;

use std::fmt;
use std::sync::Arc;

use petalflow::BoxError;
pub(crate) use petalflow_document_model::documents::template::Variables;
use petalflow_document_model::documents::template::{MissingValue, Template as GoTemplate};

pub use missing::MissingVariable;

/// A parsed template. Clones share it.
#[derive(Clone)]
pub(crate) struct Template(Arc<Parsed>);

struct Parsed {
    text: String,
    template: GoTemplate,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.text.fmt(f)
    }
}

impl Template {
    /// Parses a template, or says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let template = GoTemplate::parse(text).map_err(|error| error.to_string())?;
        let text = text.to_owned();
        Ok(Template(Arc::new(Parsed { text, template })))
    }

    /// Whether the template may read this variable.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.0.template.reads(name)
    }

    /// Fills the template.
    pub(crate) fn render(
        &self,
        values: &Variables<'_>,
        missing: MissingVariable,
    ) -> Result<String, BoxError> {
        let missing = match missing {
            MissingVariable::Error => MissingValue::Error,
            MissingVariable::Empty => MissingValue::Empty,
            MissingVariable::NoValue => MissingValue::NoValue,
        };
        Ok(self.0.template.render(values, missing)?)
    }
}
