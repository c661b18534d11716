//! The sources that texts cite, as parts.

use std::ops::Range;

#[cfg(feature = "bedrock")]
use serde_json::Map;
use serde_json::Value;

use crate::Part;
use crate::native::{Citation, DocumentPlace, Source};
use crate::stream::Delta;

fn part(citation: Citation) -> Delta {
    Delta::Part(Part::Citation(citation))
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_string)
}

/// The annotations of a text of OpenAI, which count in characters.
pub(super) fn of_annotations(words: &str, annotations: &Value) -> Vec<Delta> {
    let annotations = annotations.as_array().into_iter().flatten();
    let cited = annotations.filter_map(|annotation| {
        let source = match annotation["type"].as_str()? {
            "url_citation" => Source::Web {
                url: text(annotation, "url")?,
                title: text(annotation, "title"),
            },
            "file_citation" | "container_file_citation" | "file_path" => Source::File {
                id: text(annotation, "file_id"),
                name: text(annotation, "filename"),
            },
            _ => return None,
        };
        let index = |field: &str| usize::try_from(annotation.get(field)?.as_u64()?).ok();
        let range = index("start_index")
            .zip(index("end_index"))
            .and_then(|(start, end)| bytes_of(words, start..end));
        Some(Citation {
            range,
            ..Citation::of(source)
        })
    });
    cited.map(part).collect()
}

/// The annotations of an answer of the chat completions, whose text is not known here.
pub(super) fn of_chat_annotations(annotations: &Value) -> Vec<Delta> {
    let annotations = annotations.as_array().into_iter().flatten();
    let cited = annotations.filter_map(|annotation| {
        let page = annotation.get("url_citation")?;
        let source = Source::Web {
            url: text(page, "url")?,
            title: text(page, "title"),
        };
        Some(Citation {
            quote: text(page, "content").filter(|quote| !quote.is_empty()),
            ..Citation::of(source)
        })
    });
    cited.map(part).collect()
}

/// The bytes of these characters. `None` if there are none, or the text is shorter.
fn bytes_of(words: &str, characters: Range<usize>) -> Option<Range<usize>> {
    let offset = |index: usize| {
        let starts = words.char_indices().map(|(offset, _)| offset);
        starts.chain([words.len()]).nth(index)
    };
    let range = offset(characters.start)?..offset(characters.end)?;
    (range.start < range.end).then_some(range)
}

/// The citations of a text block of Anthropic, which are for the whole block.
pub(super) fn of_block(cited: &[Value]) -> Vec<Delta> {
    let cited = cited.iter().filter_map(|cited| {
        let title = text(cited, "title").or_else(|| text(cited, "document_title"));
        let range = |start: &str, end: &str| Some(cited[start].as_u64()?..cited[end].as_u64()?);
        let document = |place: Option<DocumentPlace>| {
            Some(Source::Document {
                index: cited["document_index"].as_u64()?,
                title: title.clone(),
                place,
            })
        };
        let source = match cited["type"].as_str()? {
            "web_search_result_location" => Source::Web {
                url: text(cited, "url")?,
                title: title.clone(),
            },
            "search_result_location" => match text(cited, "source")? {
                url if url.starts_with("http") => Source::Web {
                    url,
                    title: title.clone(),
                },
                id => Source::File {
                    id: Some(id),
                    name: title.clone(),
                },
            },
            "page_location" => {
                document(range("start_page_number", "end_page_number").map(DocumentPlace::Pages))?
            }
            "char_location" => document(
                range("start_char_index", "end_char_index").map(DocumentPlace::Characters),
            )?,
            "content_block_location" => {
                document(range("start_block_index", "end_block_index").map(DocumentPlace::Blocks))?
            }
            _ => return None,
        };
        Some(Citation {
            quote: text(cited, "cited_text").filter(|quote| !quote.is_empty()),
            ..Citation::of(source)
        })
    });
    cited.map(part).collect()
}

/// The sources of a text of Bedrock, in the fields of its block.
#[cfg(feature = "bedrock")]
pub(super) fn of_converse(block: &Map<String, Value>) -> Vec<Delta> {
    let cited = block.get("citationsContent");
    let cited = cited.and_then(|cited| cited["citations"].as_array());
    let cited = cited.into_iter().flatten().filter_map(|cited| {
        let title = text(cited, "title").filter(|title| !title.is_empty());
        let location = cited.get("location")?;
        let source = if let Some(page) = location.get("web") {
            Source::Web {
                url: text(page, "url")?,
                title: title.or_else(|| text(page, "domain")),
            }
        } else if location.get("searchResultLocation").is_some() {
            match text(cited, "source")? {
                url if url.starts_with("http") => Source::Web { url, title },
                id => Source::File {
                    id: Some(id),
                    name: title,
                },
            }
        } else {
            // A document. Bedrock does not say whether the end of a place is a part of it.
            let place = location.as_object()?.values().next()?;
            Source::Document {
                index: place["documentIndex"].as_u64()?,
                title,
                place: None,
            }
        };
        let words = cited["sourceContent"].as_array().into_iter().flatten();
        let quote: String = words.filter_map(|words| words["text"].as_str()).collect();
        Some(Citation {
            quote: Some(quote).filter(|quote| !quote.is_empty()),
            ..Citation::of(source)
        })
    });
    cited.map(part).collect()
}

/// The last text of an answer, whose sources come at the end of it.
#[derive(Debug, Default)]
pub(super) struct CitedText {
    words: String,
    /// Whether something else has arrived after it.
    has_ended: bool,
}

impl CitedText {
    pub(super) fn read(&mut self, deltas: &[Delta]) {
        for delta in deltas {
            let Delta::Text(words) = delta else {
                self.has_ended = true;
                continue;
            };
            if std::mem::take(&mut self.has_ended) {
                self.words.clear();
            }
            self.words.push_str(words);
        }
    }

    /// The sources, as Gemini writes them.
    pub(super) fn sources(&self, metadata: &Value) -> Vec<Delta> {
        of_grounding(&self.words, metadata)
    }
}

/// The sources of an answer of Gemini. It counts in bytes, but not always from the start of the text: the passage decides.
fn of_grounding(words: &str, metadata: &Value) -> Vec<Delta> {
    let list = |field: &str| metadata[field].as_array().into_iter().flatten();
    let chunks: Vec<&Value> = list("groundingChunks").collect();
    let mut deltas = Vec::new();
    for support in list("groundingSupports") {
        let range = passage(words, &support["segment"]);
        let indices = support["groundingChunkIndices"].as_array();
        let cited = indices.into_iter().flatten();
        let cited = cited.filter_map(|index| chunks.get(usize::try_from(index.as_u64()?).ok()?));
        deltas.extend(cited.filter_map(|chunk| {
            let (source, quote) = of_chunk(chunk)?;
            Some(part(Citation {
                range: range.clone(),
                source,
                quote,
            }))
        }));
    }
    deltas
}

fn of_chunk(chunk: &Value) -> Option<(Source, Option<String>)> {
    if let Some(page) = chunk.get("web").or_else(|| chunk.get("maps")) {
        let source = Source::Web {
            url: text(page, "uri")?,
            title: text(page, "title"),
        };
        return Some((source, text(page, "text")));
    }
    let file = chunk.get("retrievedContext")?;
    let source = Source::File {
        id: text(file, "uri").or_else(|| text(file, "fileSearchStore")),
        name: text(file, "title"),
    };
    Some((source, text(file, "text")))
}

fn passage(words: &str, segment: &Value) -> Option<Range<usize>> {
    let index = |field: &str| usize::try_from(segment[field].as_u64()?).ok();
    let said = index("startIndex").unwrap_or(0)..index("endIndex")?;
    match segment["text"].as_str() {
        Some(cited) if words.get(said.clone()) != Some(cited) => {
            let start = words.find(cited)?;
            Some(start..start + cited.len())
        }
        _ => words.get(said.clone()).map(|_| said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_become_bytes() {
        assert_eq!(bytes_of("äöü", 1..2), Some(2..4));
        assert_eq!(bytes_of("äöü", 0..3), Some(0..6));
        // OpenAI sends an empty range for a file that is not linked in the text.
        assert_eq!(bytes_of("äöü", 0..0), None);
        assert_eq!(bytes_of("äöü", 1..4), None);
    }
}
