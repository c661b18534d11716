//! The sources that the text of an answer cites.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A source that a text of the model cites: [`Part::Citation`](crate::Part::Citation), after the text.
///
/// ```
/// use petalflow_llm::native::{Citation, Source};
/// use petalflow_llm::{ChatMessage, Part, Role};
///
/// let source = Source::Web { url: "https://tokio.rs".into(), title: Some("Tokio".into()) };
/// let cited = Citation { range: Some(0..9), ..Citation::of(source) };
/// let message = ChatMessage::new(Role::Assistant, vec![Part::text("It is 1.5. I looked."), Part::Citation(cited)]);
/// let (passage, citation) = message.citations().next().unwrap();
/// assert_eq!((passage, citation.source.url()), ("It is 1.5", Some("https://tokio.rs")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The passage that the source supports: its bytes in the text part before the citation. `None`: the whole text, or the
    /// provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range<usize>>,
    /// The source.
    pub source: Source,
    /// The words of the source that support the text, if the provider gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

impl Citation {
    /// A citation of this source, for the whole text.
    pub fn of(source: Source) -> Self {
        Citation {
            range: None,
            source,
            quote: None,
        }
    }
}

/// What was found or cited; see [`Citation`].
///
/// ```
/// use petalflow_llm::native::Source;
///
/// let page = Source::Web { url: "https://tokio.rs".into(), title: None };
/// assert_eq!(page.title(), "https://tokio.rs");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// A page of the web.
    Web {
        /// The address. Gemini gives one of Google that leads to the page.
        url: String,
        /// The title. For Gemini, the domain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A file at the provider: one that was searched, or one that code has written.
    File {
        /// The id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A document of the request.
    Document {
        /// Its index among the documents, from 0.
        index: u64,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The place in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<DocumentPlace>,
    },
}

impl Source {
    /// The address, if it is a page of the web.
    ///
    /// ```
    /// use petalflow_llm::native::Source;
    ///
    /// assert_eq!(Source::File { id: None, name: Some("a.txt".into()) }.url(), None);
    /// ```
    pub fn url(&self) -> Option<&str> {
        match self {
            Source::Web { url, .. } => Some(url),
            Source::File { .. } | Source::Document { .. } => None,
        }
    }

    /// The title, or what else names it.
    pub fn title(&self) -> &str {
        let title = match self {
            Source::Web { url, title } => title.as_ref().or(Some(url)),
            Source::File { id, name } => name.as_ref().or(id.as_ref()),
            Source::Document { title, .. } => title.as_ref(),
        };
        title.map_or("a source without a name", String::as_str)
    }
}

/// A place in a document; see [`Source::Document`].
///
/// ```
/// use petalflow_llm::native::DocumentPlace;
///
/// assert_ne!(DocumentPlace::Pages(1..2), DocumentPlace::Characters(1..2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocumentPlace {
    /// Pages, from 1. The end is not among them.
    Pages(Range<u64>),
    /// Characters, from 0. The end is not among them.
    Characters(Range<u64>),
    /// Blocks of the content, from 0. The end is not among them.
    Blocks(Range<u64>),
}
