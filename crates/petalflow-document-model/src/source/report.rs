//! Findings of rules, before they have a position in a text.

use crate::source::diagnostic::{Code, Diagnostic};
use crate::source::pointer::Pointer;
use crate::source::tree::MAX_FINDINGS;

/// Something that is wrong at a pointer.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::{Finding, Pointer};
///
/// let finding = Finding {
///     code: Wrong,
///     pointer: Pointer::root().name("price"),
///     message: "a price is not negative".into(),
///     at_name: false,
/// };
/// assert_eq!(finding.into_diagnostic().to_string(), "error[W-1]: a price is not negative");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<C> {
    /// Its kind.
    pub code: C,
    /// The value. It may be missing.
    pub pointer: Pointer,
    /// What is wrong with what, why, and what to do.
    pub message: String,
    /// Whether the name of the value is wrong, and not the value.
    pub at_name: bool,
}

/// What rules have found.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::{Diagnostics, Pointer, Report, Source};
///
/// let source = Source::new("menu.yaml", "dish: soup\nprice: -3\n");
/// let (_, found): (_, Diagnostics<Wrong>) = source.inspect(|menu, report: &mut Report<Wrong>| {
///     if menu["price"].as_f64() < Some(0.0) {
///         report.add(Wrong, Pointer::root().name("price"), "a price is not negative");
///     }
///     Some(())
/// });
/// assert_eq!(found.to_string(), "menu.yaml:2:8: error[W-1]: a price is not negative");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<C>(pub Vec<Finding<C>>);

impl<C: Code> Report<C> {
    /// Adds something that is wrong with a value. After 10,000 findings, one more says that the rest is left out.
    pub fn add(&mut self, code: C, pointer: Pointer, message: impl Into<String>) {
        self.push(Finding {
            code,
            pointer,
            message: message.into(),
            at_name: false,
        });
    }

    /// Adds something that is wrong with the name of a value, as [`add`](Self::add) does.
    ///
    /// ```
    /// # #[derive(Clone, Copy, Debug, PartialEq)]
    /// # struct Wrong;
    /// # impl petalflow_document_model::source::Code for Wrong {
    /// #     const SYNTAX: Self = Wrong;
    /// #     const TOO_LARGE: Self = Wrong;
    /// #     const WRONG_VALUE: Self = Wrong;
    /// #     const DUPLICATE_NAME: Self = Wrong;
    /// #     fn as_str(&self) -> &'static str { "W-1" }
    /// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
    /// # }
    /// use petalflow_document_model::source::{Diagnostics, Pointer, Report, Source};
    ///
    /// let source = Source::new("menu.yaml", "prise: 3\n");
    /// let (_, found): (_, Diagnostics<Wrong>) = source.inspect(|_, report: &mut Report<Wrong>| {
    ///     report.add_at_name(Wrong, Pointer::root().name("prise"), "there is no field `prise`");
    ///     Some(())
    /// });
    /// assert_eq!(found.to_string(), "menu.yaml:1:1: error[W-1]: there is no field `prise`");
    /// ```
    pub fn add_at_name(&mut self, code: C, pointer: Pointer, message: impl Into<String>) {
        self.push(Finding {
            code,
            pointer,
            message: message.into(),
            at_name: true,
        });
    }

    fn push(&mut self, finding: Finding<C>) {
        self.0.push(match self.0.len() {
            0..MAX_FINDINGS => finding,
            MAX_FINDINGS => Finding {
                code: C::TOO_LARGE,
                pointer: Pointer::root(),
                message: format!(
                    "more than {MAX_FINDINGS} things are wrong; the others are not listed"
                ),
                at_name: false,
            },
            _ => return,
        });
    }

    /// Returns whether there is a finding of this kind.
    pub fn has(&self, code: C) -> bool {
        self.0.iter().any(|finding| finding.code == code)
    }

    /// Returns whether there is a finding at this pointer.
    ///
    /// ```
    /// # #[derive(Clone, Copy, Debug, PartialEq)]
    /// # struct Wrong;
    /// # impl petalflow_document_model::source::Code for Wrong {
    /// #     const SYNTAX: Self = Wrong;
    /// #     const TOO_LARGE: Self = Wrong;
    /// #     const WRONG_VALUE: Self = Wrong;
    /// #     const DUPLICATE_NAME: Self = Wrong;
    /// #     fn as_str(&self) -> &'static str { "W-1" }
    /// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
    /// # }
    /// use petalflow_document_model::source::{Pointer, Report};
    ///
    /// let mut report = Report(Vec::new());
    /// report.add(Wrong, Pointer::root().name("price"), "a price is not negative");
    /// assert!(report.has(Wrong));
    /// assert!(report.is_wrong("/price"));
    /// assert!(!report.is_wrong("/dish"));
    /// ```
    pub fn is_wrong(&self, pointer: &str) -> bool {
        let mut findings = self.0.iter();
        findings.any(|finding| finding.pointer.as_str() == pointer)
    }
}

impl<C: Code> Finding<C> {
    /// Returns the finding without a position in a text.
    pub fn into_diagnostic(self) -> Diagnostic<C> {
        Diagnostic {
            code: self.code,
            severity: self.code.severity(),
            message: self.message,
            pointer: self.pointer.into(),
            file: None,
            position: None,
        }
    }
}

impl<C> Default for Report<C> {
    fn default() -> Self {
        Report(Vec::new())
    }
}
