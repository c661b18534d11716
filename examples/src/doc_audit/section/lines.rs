//! Converts offsets into lines and columns.

use serde::{Deserialize, Serialize};

/// A position in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// In bytes, from 0.
    pub offset: usize,
}

/// The offsets of the lines of a text.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let next = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: [0].into_iter().chain(next).collect(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line at an offset, from 1.
    pub(super) fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    pub(super) fn start_of(&self, offset: usize) -> usize {
        self.starts[self.number(offset) - 1]
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let column = self.text[self.start_of(offset)..offset]
            .trim_start_matches('\u{feff}')
            .chars()
            .count()
            + 1;
        Position {
            line: self.number(offset),
            column,
            offset,
        }
    }

    /// The offset and the text of a line, without its ending. Empty after the last line.
    pub(super) fn get(&self, number: usize) -> (usize, &'a str) {
        let Some(&start) = self.starts.get(number - 1) else {
            return (self.text.len(), "");
        };
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// The ending of a line. If the last line has none, the ending of the first one.
    pub(super) fn ending(&self, number: usize) -> &'static str {
        let end = self.starts.get(number).or(self.starts.get(1));
        if end.is_some_and(|&end| self.text[..end].ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        }
    }
}
