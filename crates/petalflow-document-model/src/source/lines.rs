//! Lines and columns of offsets.

use crate::source::diagnostic::Position;

/// Finds lines by their offset.
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// The offset of the first byte of each line.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(index, _)| index + 1));
        Lines {
            text,
            starts: starts.collect(),
        }
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        // A document of one line would otherwise cost the square of its length.
        let column = if before.len() > 10_000 {
            before.len()
        } else {
            before.chars().count()
        };
        Position {
            line,
            column: column + 1,
        }
    }
}
