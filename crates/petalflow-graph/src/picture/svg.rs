//! The SVG of a drawing.

use std::fmt::Write as _;

use super::labels::{Curve, Label, pixels};
use super::{Drawing, GAP, HEIGHT, LAYER, Line, Look, SIGN, Vertex};

impl Drawing {
    pub(super) fn size(&self, labels: &[Option<Label>]) -> (usize, usize) {
        let margins = self.lines.iter().map(|line| line.margin);
        let labels = labels.iter().flatten();
        let labels = labels.map(|it| usize::try_from(it.x + it.width).unwrap_or_default());
        let right = margins.chain(labels).fold(self.right(), usize::max);
        (right + GAP / 2, self.layers.len() * LAYER)
    }

    pub(super) fn edges(&self, labels: &[Option<Label>], svg: &mut String) {
        for (line, label) in self.lines.iter().zip(labels) {
            let dash = if line.dashed {
                " stroke-dasharray=\"4 3\""
            } else {
                ""
            };
            let to = &self.vertices[line.path[line.path.len() - 1]];
            let head = if line.back {
                format!("M{} {}l7 -4v8z", to.right(), to.y() + 4)
            } else {
                format!("M{} {}l-4 -7h8z", to.x, to.y() - HEIGHT / 2)
            };
            let path = path(&self.curves(line));
            let _ = writeln!(
                svg,
                "<path d=\"{path}\"{dash}/><path d=\"{head}\" fill=\"currentColor\"/>"
            );
            if let Some(Label { x, y, .. }) = label {
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{y}\" fill=\"currentColor\" stroke=\"none\" font-size=\"11\" font-style=\"italic\" \
                     text-anchor=\"start\">{}</text>",
                    escaped(&line.text)
                );
            }
        }
    }

    /// The curves of a line, one after another.
    pub(super) fn curves(&self, line: &Line) -> Vec<Curve> {
        if line.back {
            return self.back_curves(line);
        }
        let half = |vertex: &Vertex, height| if vertex.is_drawn() { height } else { 0 };
        let steps = line.path.windows(2).map(|step| {
            let (above, below) = (&self.vertices[step[0]], &self.vertices[step[1]]);
            let top = above.y() + half(above, HEIGHT / 2);
            let bottom = below.y() - half(below, HEIGHT / 2 + 6);
            let middle = usize::midpoint(top, bottom);
            curve([
                (above.x, top),
                (above.x, middle),
                (below.x, middle),
                (below.x, bottom),
            ])
        });
        steps.collect()
    }

    /// The curves of a line that leads back, in the margin at the right of all vertices.
    fn back_curves(&self, line: &Line) -> Vec<Curve> {
        let (from, to) = (&self.vertices[line.path[0]], &self.vertices[line.path[1]]);
        let (begin, end, margin) = (from.right(), to.right() + 6, line.margin);
        let (below, above) = (from.y(), to.y() + 4);
        let leave = below.saturating_sub(GAP).max(above);
        let enter = above + GAP.min(below.saturating_sub(above));
        vec![
            curve([
                (begin, below),
                (margin, below),
                (margin, below),
                (margin, leave),
            ]),
            curve([
                (margin, leave),
                (margin, leave),
                (margin, enter),
                (margin, enter),
            ]),
            curve([
                (margin, enter),
                (margin, above),
                (margin, above),
                (end, above),
            ]),
        ]
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
            let data = match &*vertex.node {
                "" => String::new(),
                node => format!(" data-node=\"{}\"", escaped(node).replace('"', "&quot;")),
            };
            let _ = write!(
                svg,
                "<g{data}><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\"/>"
            );
            if vertex.look == Look::Subflow {
                let _ = write!(
                    svg,
                    "<path d=\"M{} {top}v{HEIGHT}M{} {top}v{HEIGHT}\"/>",
                    left + 5,
                    left + width - 5
                );
            }
            let [before, after] = vertex.stops;
            // A character for a pause is missing in many fonts.
            for at in [
                before.then_some(left + 12),
                after.then_some(left + width - 16),
            ] {
                let Some(at) = at else { continue };
                let _ = write!(
                    svg,
                    "<path d=\"M{at} {}v10m4 -10v10\" stroke-width=\"2\"/>",
                    y - 5
                );
            }
            let x = x + SIGN / 2 * usize::from(before) - SIGN / 2 * usize::from(after);
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{}\" fill=\"currentColor\" stroke=\"none\">{}</text></g>",
                y + 4,
                escaped(&vertex.text)
            );
        }
    }
}

fn curve(points: [(usize, usize); 4]) -> Curve {
    points.map(|(x, y)| (pixels(x), pixels(y)))
}

fn path(curves: &[Curve]) -> String {
    let mut path = String::new();
    for (at, [from, a, b, to]) in curves.iter().enumerate() {
        if at == 0 {
            let _ = write!(path, "M{} {}", from.0, from.1);
        }
        let _ = write!(path, "C{} {} {} {} {} {}", a.0, a.1, b.0, b.1, to.0, to.1);
    }
    path
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
