//! Where the texts of edges are: beside their lines, where no line and no vertex is.

use std::collections::BTreeSet;

use super::{Drawing, HEIGHT, Line, text_width};

/// The size of the cells in which lines are noted.
const CELL: i32 = 4;
/// The height of a text, and its distance to its line.
const TALL: i32 = 10;
const BESIDE: i32 = 6;
/// The most points of a curve that are noted.
const MAX_POINTS: i32 = 2_000;

/// A point, in pixels.
pub(super) type Point = (i32, i32);

/// A cubic curve: its ends and, between them, its controls.
pub(super) type Curve = [Point; 4];

/// A text at its place: the left end and the base line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
}

/// A length of the drawing. A drawing has far fewer pixels than the type can count.
pub(super) fn pixels(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 4)
}

/// The cells of a drawing that have something.
#[derive(Default)]
struct Taken(BTreeSet<Point>);

impl Taken {
    fn add(&mut self, (x, y): Point) {
        self.0.insert((x.div_euclid(CELL), y.div_euclid(CELL)));
    }

    fn add_curve(&mut self, curve: &Curve) {
        let [from, .., to] = curve;
        let length = (from.0 - to.0).abs().max((from.1 - to.1).abs());
        let points = (length * 2 / CELL).clamp(8, MAX_POINTS);
        for at in 0..=points {
            self.add(point(curve, at, points));
        }
    }

    fn add_box(&mut self, (left, top): Point, (right, bottom): Point) {
        for x in left.div_euclid(CELL)..=right.div_euclid(CELL) {
            for y in top.div_euclid(CELL)..=bottom.div_euclid(CELL) {
                self.0.insert((x, y));
            }
        }
    }

    fn is_free(&self, label: &Label) -> bool {
        let columns = label.x.div_euclid(CELL)..=(label.x + label.width).div_euclid(CELL);
        let rows = (label.y - TALL).div_euclid(CELL)..=(label.y + 1).div_euclid(CELL);
        label.x >= 0
            && columns
                .into_iter()
                .all(|x| rows.clone().all(|y| !self.0.contains(&(x, y))))
    }
}

/// A point of a curve, at `at` of `of` parts.
fn point(curve: &Curve, at: i32, of: i32) -> Point {
    let (a, b, of) = (i64::from(at), i64::from(of - at), i64::from(of));
    let weights = [b * b * b, 3 * b * b * a, 3 * b * a * a, a * a * a];
    let sum = |of_point: fn(&Point) -> i32| -> i32 {
        let parts = curve.iter().zip(weights);
        let sum: i64 = parts
            .map(|(point, weight)| i64::from(of_point(point)) * weight)
            .sum();
        i32::try_from(sum / (of * of * of)).unwrap_or(i32::MAX / 4)
    };
    (sum(|point| point.0), sum(|point| point.1))
}

impl Drawing {
    /// The place of the text of each line. `None` for a line without text.
    pub(super) fn labels(&self) -> Vec<Option<Label>> {
        let mut taken = Taken::default();
        for vertex in &self.vertices {
            let (x, y, half) = (
                pixels(vertex.x),
                pixels(vertex.y()),
                pixels(vertex.width() / 2),
            );
            let tall = pixels(if vertex.is_drawn() { HEIGHT / 2 } else { 0 });
            taken.add_box((x - half, y - tall), (x + half, y + tall));
        }
        let curves: Vec<Vec<Curve>> = self.lines.iter().map(|line| self.curves(line)).collect();
        curves
            .iter()
            .flatten()
            .for_each(|curve| taken.add_curve(curve));
        let lines = self.lines.iter().zip(&curves);
        let labels = lines.map(|(line, curves)| {
            if line.text.is_empty() {
                return None;
            }
            let candidates = candidates(line, curves);
            let free = candidates.iter().find(|label| taken.is_free(label));
            let label = free.or(candidates.first())?.clone();
            taken.add_box(
                (label.x - 2, label.y - TALL),
                (label.x + label.width + 2, label.y + 2),
            );
            Some(label)
        });
        labels.collect()
    }
}

/// Where a text can be: along its line, at both sides, the best place first.
fn candidates(line: &Line, curves: &[Curve]) -> Vec<Label> {
    let width = pixels(text_width(&line.text));
    let mut labels = Vec::new();
    let parts = if line.back { 8 } else { 20 };
    for curve in curves {
        for at in (0..=parts).rev() {
            let (x, y) = point(curve, at, parts);
            let y = y + TALL / 2 - 2;
            let right = Label {
                x: x + BESIDE,
                y,
                width,
            };
            labels.push(right.clone());
            if !line.back {
                labels.push(Label {
                    x: x - BESIDE - width,
                    ..right
                });
            }
        }
    }
    if line.back {
        // The straight part, from its middle.
        let (from, to) = (curves[0][3], curves[curves.len() - 1][0]);
        let middle = i32::midpoint(from.1, to.1);
        let reach = (from.1 - to.1).abs() / 2;
        let steps = (0..=reach)
            .step_by(4)
            .flat_map(|step| [middle + step, middle - step]);
        let straight = steps.map(|y| Label {
            x: from.0 + BESIDE,
            y: y + TALL / 2 - 2,
            width,
        });
        labels.splice(0..0, straight);
    }
    labels
}
