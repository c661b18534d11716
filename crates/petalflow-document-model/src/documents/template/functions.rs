//! The functions of templates.

/// A function of Go's templates, or of PetalFlow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Or,
    Not,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Len,
    Index,
    Slice,
    Print,
    Printf,
    Println,
    Html,
    UrlQuery,
    Json,
    JsonPretty,
    Join,
    Split,
    Upper,
    Lower,
    Trim,
    Contains,
    HasPrefix,
    HasSuffix,
    Default,
    Coalesce,
}

use Function as F;

/// The functions, each with the fewest and the most arguments.
const ALL: [(&str, Function, usize, usize); 29] = [
    ("and", F::And, 1, usize::MAX),
    ("or", F::Or, 1, usize::MAX),
    ("not", F::Not, 1, 1),
    ("eq", F::Eq, 2, usize::MAX),
    ("ne", F::Ne, 2, 2),
    ("lt", F::Lt, 2, 2),
    ("le", F::Le, 2, 2),
    ("gt", F::Gt, 2, 2),
    ("ge", F::Ge, 2, 2),
    ("len", F::Len, 1, 1),
    ("index", F::Index, 1, usize::MAX),
    ("slice", F::Slice, 1, 4),
    ("print", F::Print, 0, usize::MAX),
    ("printf", F::Printf, 1, usize::MAX),
    ("println", F::Println, 0, usize::MAX),
    ("html", F::Html, 0, usize::MAX),
    ("urlquery", F::UrlQuery, 0, usize::MAX),
    ("json", F::Json, 1, 1),
    ("jsonPretty", F::JsonPretty, 1, 1),
    ("join", F::Join, 2, 2),
    ("split", F::Split, 2, 2),
    ("upper", F::Upper, 1, 1),
    ("lower", F::Lower, 1, 1),
    ("trim", F::Trim, 1, 1),
    ("contains", F::Contains, 2, 2),
    ("hasPrefix", F::HasPrefix, 2, 2),
    ("hasSuffix", F::HasSuffix, 2, 2),
    ("default", F::Default, 2, 2),
    ("coalesce", F::Coalesce, 1, usize::MAX),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = ALL.iter().find(|(known, ..)| *known == name);
        found.map(|(_, function, ..)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        let found = ALL.iter().find(|(_, function, ..)| *function == self);
        found.map_or("", |(name, ..)| name)
    }

    /// Whether it can have this many arguments.
    pub(super) fn takes(self, count: usize) -> bool {
        let found = ALL.iter().find(|(_, function, ..)| *function == self);
        found.is_some_and(|(_, _, fewest, most)| (*fewest..=*most).contains(&count))
    }

    /// Whether Go refuses a value that is missing, because the arguments are texts there.
    pub(super) fn takes_texts(self) -> bool {
        matches!(
            self,
            F::Join
                | F::Split
                | F::Upper
                | F::Lower
                | F::Trim
                | F::Contains
                | F::HasPrefix
                | F::HasSuffix
        )
    }

    /// Whether the arguments may be missing.
    pub(super) fn accepts_missing(self) -> bool {
        matches!(self, F::And | F::Or | F::Not | F::Default | F::Coalesce)
    }
}
