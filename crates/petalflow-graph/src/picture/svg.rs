//! The SVG of a drawing.

use std::fmt::Write as _;

use super::{Drawing, GAP, HEIGHT, LAYER, Line, Look, MARGIN, Vertex};

impl Drawing {
    pub(super) fn size(&self) -> (usize, usize) {
        let (mut margins, mut widest) = (0, 0);
        for line in &self.lines {
            if line.back {
                margins += MARGIN;
                widest = widest.max(line.text.chars().count() * 8 + GAP);
            }
        }
        let width = self.right() + GAP / 2 + margins + widest;
        (width, self.layers.len() * LAYER)
    }

    pub(super) fn edges(&self, svg: &mut String) {
        let mut margin = self.right();
        for line in &self.lines {
            let dash = if line.dashed {
                " stroke-dasharray=\"4 3\""
            } else {
                ""
            };
            let (from, to) = (
                &self.vertices[line.path[0]],
                &self.vertices[line.path[line.path.len() - 1]],
            );
            let (x, y, path, head);
            if line.back {
                margin += MARGIN;
                let (below, above) = (from.y(), to.y() + 4);
                path = back_path(from, to, margin);
                (x, y) = (
                    margin + line.text.chars().count() * 4 + 4,
                    usize::midpoint(above, below),
                );
                head = format!("M{} {above}l7 -4v8z", to.right());
            } else {
                path = self.forward_path(line);
                let next = &self.vertices[line.path[1]];
                // Nearer to the source, where the edges of one node are apart from those of others.
                (x, y) = (
                    usize::midpoint(from.x, next.x),
                    usize::midpoint(from.y(), next.y()) + 4,
                );
                head = format!("M{} {}l-4 -7h8z", to.x, to.y() - HEIGHT / 2);
            }
            let _ = writeln!(
                svg,
                "<path d=\"{path}\"{dash}/><path d=\"{head}\" fill=\"currentColor\"/>"
            );
            if !line.text.is_empty() {
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{y}\" fill=\"currentColor\" stroke=\"none\" font-size=\"11\" font-style=\"italic\">{}</text>",
                    escaped(&line.text)
                );
            }
        }
    }

    /// Curves through all layers between the two ends of a line.
    fn forward_path(&self, line: &Line) -> String {
        let half = |vertex: &Vertex, height| match vertex.look {
            Look::Bend => 0,
            _ => height,
        };
        let from = &self.vertices[line.path[0]];
        let mut path = format!("M{} {}", from.x, from.y() + HEIGHT / 2);
        for step in line.path.windows(2) {
            let (above, below) = (&self.vertices[step[0]], &self.vertices[step[1]]);
            let top = above.y() + half(above, HEIGHT / 2);
            let bottom = below.y() - half(below, HEIGHT / 2 + 6);
            let middle = usize::midpoint(top, bottom);
            let _ = write!(
                path,
                "C{} {middle} {} {middle} {} {bottom}",
                above.x, below.x, below.x
            );
        }
        path
    }

    pub(super) fn vertices(&self, svg: &mut String) {
        for vertex in &self.vertices {
            let (x, y, width) = (vertex.x, vertex.y(), vertex.width());
            let (left, top) = (x - width / 2, y - HEIGHT / 2);
            let round = match vertex.look {
                Look::Bend => continue,
                Look::End | Look::Join => HEIGHT / 2,
                Look::Node | Look::Subflow => 4,
            };
            let _ = write!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\"/>"
            );
            if vertex.look == Look::Subflow {
                let _ = write!(
                    svg,
                    "<path d=\"M{} {top}v{HEIGHT}M{} {top}v{HEIGHT}\"/>",
                    left + 5,
                    left + width - 5
                );
            }
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{}\" fill=\"currentColor\" stroke=\"none\">{}</text>",
                y + 4,
                escaped(&vertex.text)
            );
        }
    }
}

/// A line that leads back, in the margin at the right of all vertices.
fn back_path(from: &Vertex, to: &Vertex, margin: usize) -> String {
    let (begin, end) = (from.right(), to.right() + 6);
    let (below, above) = (from.y(), to.y() + 4);
    let (leave, enter) = (
        below.saturating_sub(GAP).max(above),
        above + GAP.min(below.saturating_sub(above)),
    );
    format!(
        "M{begin} {below}C{margin} {below} {margin} {below} {margin} {leave}\
         L{margin} {enter}C{margin} {above} {margin} {above} {end} {above}"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
