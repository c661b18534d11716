//! Graphs as pictures: SVG in layers, from START at the top to END at the bottom.

mod labels;
mod svg;

use std::collections::BTreeMap;

use crate::diagram::{edges, label};
use crate::graph::{Graph, Source, Via, When};

/// The distance between two layers, and the height of a node.
const LAYER: usize = 84;
const HEIGHT: usize = 28;
/// The space between two vertices of a layer, and the width of the margin for an edge that leads back.
const GAP: usize = 24;
const MARGIN: usize = 18;
/// The width of the sign of a pause, with the space beside it.
const SIGN: usize = 16;

/// The graph as an SVG drawing without blank lines, so that it can be part of Markdown. It has the color of the text around it.
/// Each node is a group with its name as `data-node`, so that a page can mark it.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via, picture};
/// let graph = Graph {
///     nodes: vec![Node::named("write")].into(),
///     edges: vec![Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) }].into(),
///     joins: 0,
/// };
/// let svg = picture(&graph);
/// assert!(svg.starts_with("<svg") && svg.contains(">write</text>") && !svg.contains("\n\n"));
/// ```
pub fn picture(graph: &Graph) -> String {
    draw(graph, " style=\"max-width:100%;height:auto\"")
}

/// The same without a `style` attribute, for a page whose `Content-Security-Policy` forbids it.
pub fn picture_without_style(graph: &Graph) -> String {
    draw(graph, "")
}

fn draw(graph: &Graph, style: &str) -> String {
    let drawing = Drawing::of(graph);
    let labels = drawing.labels();
    let (width, height) = drawing.size(&labels);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\"{style} role=\"img\" font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\" fill=\"none\" stroke=\"currentColor\">\n"
    );
    drawing.edges(&labels, &mut svg);
    drawing.vertices(&mut svg);
    svg.push_str("</svg>\n");
    svg
}

/// What a vertex looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Node,
    Subflow,
    /// START and END.
    End,
    Join,
    /// A bend of an edge over several layers.
    Bend,
}

struct Vertex {
    /// The name of the node. Empty if it is none.
    node: String,
    text: String,
    /// Whether the run stops before it, and after it.
    stops: [bool; 2],
    look: Look,
    layer: usize,
    /// The middle.
    x: usize,
    /// The width of the text at an edge from above.
    label: usize,
}

impl Vertex {
    fn width(&self) -> usize {
        match self.look {
            Look::Bend => 2,
            Look::Join => HEIGHT,
            Look::Node | Look::Subflow | Look::End => {
                let signs = self.stops.iter().filter(|stops| **stops).count();
                self.text.chars().count() * 8 + 20 + signs * SIGN
            }
        }
    }

    /// The width that it takes in its layer.
    fn room(&self) -> usize {
        self.width().max(self.label)
    }

    fn is_drawn(&self) -> bool {
        self.look != Look::Bend
    }

    fn y(&self) -> usize {
        self.layer * LAYER + HEIGHT
    }

    /// The right end.
    fn right(&self) -> usize {
        self.x + self.width() / 2
    }
}

/// An edge through its bends.
struct Line {
    path: Vec<usize>,
    text: String,
    dashed: bool,
    /// Whether it leads to the same layer or one above.
    back: bool,
    /// If so, the horizontal place of its straight part.
    margin: usize,
}

impl Line {
    /// The space that it needs at the right of the vertices, if it leads back.
    fn margin_width(&self) -> usize {
        if self.text.is_empty() {
            return MARGIN;
        }
        MARGIN + text_width(&self.text) + 4
    }
}

/// The width of a text of an edge.
fn text_width(text: &str) -> usize {
    text.chars().count() * 13 / 2 + 2
}

struct Drawing {
    vertices: Vec<Vertex>,
    lines: Vec<Line>,
    /// The vertices of each layer, from left to right.
    layers: Vec<Vec<usize>>,
}

impl Drawing {
    fn of(graph: &Graph) -> Self {
        let (start, end) = (graph.vertex(Source::Start), graph.vertices());
        let vertex = |text: &str, look| Vertex {
            node: String::new(),
            text: text.to_owned(),
            stops: [false; 2],
            look,
            layer: 0,
            x: 0,
            label: 0,
        };
        let nodes = graph.nodes().iter().map(|node| {
            let look = if node.subflow {
                Look::Subflow
            } else {
                Look::Node
            };
            Vertex {
                node: node.name.to_string(),
                stops: [node.before, node.after].map(|when| when != When::Never),
                ..vertex(&node.name, look)
            }
        });
        let joins = (0..graph.joins).map(|_| vertex("&", Look::Join));
        let ends = ["START", "END"].map(|name| vertex(name, Look::End));
        let vertices = nodes.chain(joins).chain(ends).collect();
        let mut lines: Vec<Line> = Vec::new();
        let mut known = BTreeMap::new();
        for edge in &edges(graph) {
            let to = edge.to.source().map_or(end, |to| graph.vertex(to));
            let path = vec![graph.vertex(edge.from), to];
            let text = label(&edge.via).unwrap_or_default();
            let at = *known.entry(path.clone()).or_insert(lines.len());
            if let Some(line) = lines.get_mut(at) {
                line.text = format!("{}, {text}", line.text);
                continue;
            }
            lines.push(Line {
                path,
                text,
                dashed: !matches!(edge.via, Via::Plain | Via::Each),
                back: false,
                margin: 0,
            });
        }
        let mut drawing = Drawing {
            vertices,
            lines,
            layers: Vec::new(),
        };
        drawing.find_backward(start, end);
        drawing.assign_layers(end);
        drawing.bend();
        drawing.order();
        drawing.place();
        drawing.place_margins();
        drawing
    }

    /// Marks the edges that lead back, from START in the order of the edges.
    fn find_backward(&mut self, start: usize, end: usize) {
        let count = self.vertices.len();
        let mut lines_from = vec![Vec::new(); count];
        for (at, line) in self.lines.iter().enumerate() {
            lines_from[line.path[0]].push(at);
        }
        // 0: not seen, 1: on the path, 2: done.
        let mut state = vec![0; count];
        for root in std::iter::once(start).chain(0..count) {
            if state[root] != 0 || root == end {
                continue;
            }
            state[root] = 1;
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.last_mut() {
                let Some(&line) = lines_from[*at].get(*next) else {
                    state[*at] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let to = self.lines[line].path[1];
                match state[to] {
                    0 => {
                        state[to] = 1;
                        stack.push((to, 0));
                    }
                    1 => self.lines[line].back = true,
                    _ => {}
                }
            }
        }
    }

    /// Each vertex is below all that lead to it.
    fn assign_layers(&mut self, end: usize) {
        let mut changed = true;
        while changed {
            changed = false;
            for line in &self.lines {
                if line.back {
                    continue;
                }
                let (from, to) = (line.path[0], line.path[1]);
                let below = self.vertices[from].layer + 1;
                if self.vertices[to].layer < below {
                    self.vertices[to].layer = below;
                    changed = true;
                }
            }
        }
        self.vertices[end].layer = self.last_layer();
    }

    fn last_layer(&self) -> usize {
        let layers = self.vertices.iter().map(|vertex| vertex.layer);
        layers.max().unwrap_or(0)
    }

    /// Adds a bend in each layer that an edge crosses.
    fn bend(&mut self) {
        let Drawing {
            vertices, lines, ..
        } = self;
        for line in lines {
            if line.back {
                continue;
            }
            let (from, to) = (line.path[0], line.path[1]);
            let mut path = vec![from];
            for layer in vertices[from].layer + 1..vertices[to].layer {
                path.push(vertices.len());
                vertices.push(Vertex {
                    node: String::new(),
                    text: String::new(),
                    stops: [false; 2],
                    look: Look::Bend,
                    layer,
                    x: 0,
                    label: 0,
                });
            }
            path.push(to);
            let next = &mut vertices[path[1]];
            if !line.text.is_empty() {
                // The text is at the left or at the right of the line.
                next.label = next.label.max(2 * (text_width(&line.text) + 10));
            }
            line.path = path;
        }
    }

    /// Orders each layer by the middle of the neighbors, several times down and up.
    fn order(&mut self) {
        self.layers = vec![Vec::new(); self.last_layer() + 1];
        for (index, vertex) in self.vertices.iter().enumerate() {
            self.layers[vertex.layer].push(index);
        }
        let mut position = vec![0; self.vertices.len()];
        let mut above = vec![Vec::new(); position.len()];
        let mut below = above.clone();
        for line in self.lines.iter().filter(|line| !line.back) {
            for step in line.path.windows(2) {
                above[step[1]].push(step[0]);
                below[step[0]].push(step[1]);
            }
        }
        for round in 0..8 {
            for layer in &self.layers {
                number(layer, &mut position);
            }
            let is_down = round % 2 == 0;
            let neighbors = if is_down { &above } else { &below };
            let count = self.layers.len();
            for at in 0..count {
                let layer = &mut self.layers[if is_down { at } else { count - 1 - at }];
                // The sort is stable: vertices with the same middle retain their order.
                layer.sort_by_cached_key(|vertex| {
                    let near = &neighbors[*vertex];
                    let sum: usize = near.iter().map(|near| position[*near]).sum();
                    sum.checked_div(near.len()).unwrap_or(position[*vertex])
                });
                number(layer, &mut position);
            }
        }
    }

    /// Places the vertices of each layer side by side, around one axis.
    fn place(&mut self) {
        let width = |layer: &Vec<usize>| {
            let rooms = layer.iter().map(|vertex| self.vertices[*vertex].room());
            rooms.sum::<usize>() + GAP * layer.len().saturating_sub(1)
        };
        let widths: Vec<usize> = self.layers.iter().map(width).collect();
        let widest = widths.iter().max().copied().unwrap_or(0);
        let axis = widest / 2 + GAP / 2;
        for (layer, width) in self.layers.iter().zip(widths) {
            let mut x = axis - width / 2;
            for vertex in layer {
                let vertex = &mut self.vertices[*vertex];
                let room = vertex.room();
                vertex.x = x + room / 2;
                x += room + GAP;
            }
        }
    }

    /// Gives each line that leads back a place of its own at the right, with room for its text.
    fn place_margins(&mut self) {
        let mut right = self.right();
        for line in self.lines.iter_mut().filter(|line| line.back) {
            line.margin = right + MARGIN;
            right += line.margin_width();
        }
    }

    /// The right end of all vertices.
    fn right(&self) -> usize {
        let ends = self.vertices.iter().map(Vertex::right);
        ends.max().unwrap_or(0)
    }
}

/// Sets the positions of the vertices of a layer, in thousandths of its length.
fn number(layer: &[usize], position: &mut [usize]) {
    for (place, vertex) in layer.iter().enumerate() {
        position[*vertex] = place * 1000 / layer.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Node, Target};
    use crate::idx::{JoinIdx, NodeIdx};

    fn node(index: u32) -> NodeIdx {
        NodeIdx::new(index)
    }

    fn edge(from: Source, via: Via, to: Target) -> Edge {
        Edge { from, via, to }
    }

    fn route(from: u32, name: &'static str, to: Target) -> Edge {
        edge(Source::Node(node(from)), Via::Route(name.into()), to)
    }

    /// A loop, routes, a join, a sub-flow and an edge over several layers.
    fn essay() -> Graph {
        let (both, plain) = (JoinIdx::new(0), Via::Plain);
        let review = Node {
            subflow: true,
            ..Node::named("review")
        };
        let publish = Node::named("publish<now>");
        Graph {
            nodes: vec![
                Node::named("write"),
                Node::named("critique"),
                Node::named("polish"),
                review,
                publish,
            ]
            .into(),
            edges: vec![
                edge(Source::Start, plain.clone(), Target::Node(node(0))),
                edge(Source::Node(node(0)), plain.clone(), Target::Node(node(1))),
                route(1, "Revise", Target::Node(node(0))),
                route(1, "Polish", Target::Node(node(2))),
                route(1, "Review", Target::Node(node(3))),
                route(1, "Stop", Target::End),
                edge(Source::Node(node(2)), plain.clone(), Target::Join(both)),
                edge(Source::Node(node(3)), plain.clone(), Target::Join(both)),
                edge(Source::Join(both), plain, Target::Node(node(4))),
            ]
            .into(),
            joins: 1,
        }
    }

    #[test]
    fn f43_a_pause_is_drawn_without_a_character() {
        let mut graph = essay();
        let plain = picture(&graph);
        let nodes = graph.nodes.to_mut();
        nodes[1].before = When::Always;
        nodes[2].after = When::Always;
        let svg = picture(&graph);
        assert!(svg.contains(">critique</text>") && svg.contains(">polish</text>"));
        let pauses = |svg: &str| svg.matches("v10m4 -10v10\" stroke-width=\"2\"").count();
        assert_eq!((pauses(&plain), pauses(&svg)), (0, 2));
        assert!(svg.is_ascii(), "{svg}");
    }

    #[test]
    fn a_picture_has_every_name_and_no_blank_line() {
        let svg = picture(&essay());
        for text in [
            "START",
            "END",
            "write",
            "critique",
            "polish",
            "review",
            "publish&lt;now&gt;",
            "Revise",
            "Polish",
            "Review",
            "Stop",
            "&amp;",
        ] {
            assert!(
                svg.contains(&format!(">{text}</text>")),
                "no `{text}` in {svg}"
            );
        }
        assert!(
            !svg.contains("\n\n"),
            "Markdown would end the drawing there: {svg}"
        );
        assert_eq!(
            svg,
            picture(&essay()),
            "the same graph has the same picture"
        );
    }

    #[test]
    fn vertices_are_below_what_leads_to_them_and_do_not_overlap() {
        let drawing = Drawing::of(&essay());
        for line in &drawing.lines {
            for step in line.path.windows(2) {
                let (from, to) = (&drawing.vertices[step[0]], &drawing.vertices[step[1]]);
                assert_eq!(
                    line.back,
                    to.layer <= from.layer,
                    "{} to {}",
                    from.text,
                    to.text
                );
            }
        }
        for layer in &drawing.layers {
            for pair in layer.windows(2) {
                let (left, right) = (&drawing.vertices[pair[0]], &drawing.vertices[pair[1]]);
                assert!(
                    left.x + left.width() / 2 < right.x - right.width() / 2,
                    "{} and {}",
                    left.text,
                    right.text
                );
            }
        }
        let (width, height) = drawing.size(&drawing.labels());
        for vertex in &drawing.vertices {
            assert!(
                vertex.x + vertex.width() / 2 < width && vertex.y() + HEIGHT / 2 < height,
                "{}",
                vertex.text
            );
        }
    }

    /// Whether the text at a place has a point of a line in it.
    fn lies_on_a_line(drawing: &Drawing, label: &labels::Label) -> bool {
        let curves = drawing.lines.iter().flat_map(|line| drawing.curves(line));
        let mut points = curves.flat_map(|curve| {
            // Finer than the placement looks, in floating point.
            (0..=1_000_u32).map(move |at| {
                let after = f64::from(at) / 1_000.0;
                let before = 1.0 - after;
                let of = |value: fn(&(i32, i32)) -> i32| {
                    let [from, first, second, to] = curve.map(|point| f64::from(value(&point)));
                    from * before.powi(3)
                        + 3.0 * first * before.powi(2) * after
                        + 3.0 * second * before * after.powi(2)
                        + to * after.powi(3)
                };
                (of(|point| point.0), of(|point| point.1))
            })
        });
        let (left, right) = (f64::from(label.x), f64::from(label.x + label.width));
        let (top, bottom) = (f64::from(label.y - 8), f64::from(label.y + 1));
        points.any(|(x, y)| left < x && x < right && top < y && y < bottom)
    }

    #[test]
    fn texts_of_edges_do_not_lie_on_lines() {
        let names = [
            "approved",
            "needs changes",
            "rejected",
            "spam",
            "default",
            "another reason",
        ];
        let fan = |count: u32| {
            let nodes = (0..=count).map(|at| Node::named(format!("n{at}")));
            let routes = (0..count).map(|at| {
                let name = names[at as usize % names.len()];
                route(0, name, Target::Node(node(at + 1)))
            });
            let back = (0..count).map(|at| route(at + 1, "again", Target::Node(node(0))));
            let start = edge(Source::Start, Via::Plain, Target::Node(node(0)));
            Graph {
                nodes: nodes.collect::<Vec<_>>().into(),
                edges: std::iter::once(start).chain(routes).chain(back).collect(),
                joins: 0,
            }
        };
        for graph in [essay(), fan(1), fan(2), fan(3), fan(6)] {
            let drawing = Drawing::of(&graph);
            for (line, label) in drawing.lines.iter().zip(drawing.labels()) {
                if let Some(label) = label {
                    assert!(
                        !lies_on_a_line(&drawing, &label),
                        "{} at {label:?}",
                        line.text
                    );
                }
            }
        }
    }

    #[test]
    fn graphs_of_any_shape_have_a_picture() {
        let count = 40;
        let nodes: Vec<Node> = (0..count)
            .map(|index| Node::named(format!("n{index}")))
            .collect();
        // Multiplication spreads the targets: forward, backward, and to the node itself.
        let leads = (0..count * 2).map(|at| {
            edge(
                Source::Node(node(at % count)),
                Via::Plain,
                Target::Node(node(at * 17 % count)),
            )
        });
        let first = edge(Source::Start, Via::Plain, Target::Node(node(0)));
        let graph = Graph {
            nodes: nodes.into(),
            edges: std::iter::once(first).chain(leads).collect(),
            joins: 0,
        };
        assert_eq!(picture(&graph).matches("<rect").count(), 42);
        assert!(picture(&Graph::default()).contains("START"));
    }
}
