//! No modules, and no files inside a module, that use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::source::{Source, Use};
use crate::{report, rules, source};

/// The circles of each package: of its modules under the name `""`, and of the files of a module under that module's name.
type Found<'a> = BTreeMap<(&'a str, &'a str), Vec<Circle>>;

#[test]
fn neither_modules_nor_files_use_each_other_in_circles() {
    let mut found = Found::new();
    for (package, source) in source::crates() {
        let uses = source.uses();
        // For modules with an order, the error of `layers.rs` has more detail.
        if !rules::MODULES.iter().any(|(name, _)| name == package) {
            found.insert((package, ""), circles(source, &uses, modules));
        }
        for circle in circles(source, &uses, files) {
            let module = circle.uses[0].from;
            let module = source.modules[module]
                .top()
                .expect("`files` leaves the root out");
            found.entry((package, module)).or_default().push(circle);
        }
    }
    report(&compare(&found));
}

/// What is not as the list of known circles says.
fn compare(found: &Found) -> Vec<String> {
    let mut errors = Vec::new();
    for ((package, module), circles) in found {
        let members: usize = circles.iter().map(|circle| circle.members.len()).sum();
        let known = rules::KNOWN_CIRCLES
            .iter()
            .find(|(of, name, _)| (of, name) == (package, module));
        if members > known.map_or(0, |(_, _, members)| *members) {
            errors.extend(circles.iter().map(|circle| circle.text.clone()));
        }
    }
    for (package, module, known) in rules::KNOWN_CIRCLES {
        let circles = found
            .get(&(*package, *module))
            .map_or(&[][..], Vec::as_slice);
        let members: usize = circles.iter().map(|circle| circle.members.len()).sum();
        if members < *known {
            errors.push(format!(
                "{package}: {members} of {known} are still in circles in `{module}`: correct `KNOWN_CIRCLES` in tests/tidy/rules.rs"
            ));
        }
    }
    errors
}

/// The two modules of the crate that a use connects.
fn modules<'a>(source: &'a Source, one: &Use) -> Option<(&'a str, &'a str)> {
    let (from, to) = (
        source.modules[one.from].top()?,
        source.modules[one.to].top()?,
    );
    (from != to).then_some((from, to))
}

/// The two files inside one module that a use connects.
fn files<'a>(source: &'a Source, one: &Use) -> Option<(&'a str, &'a str)> {
    let (from, to) = (&source.modules[one.from], &source.modules[one.to]);
    (from.top()? == to.top()?).then_some((from.file.to_str()?, to.file.to_str()?))
}

/// Members that all use each other, if only through others.
struct Circle {
    members: BTreeSet<String>,
    /// One for each pair of members.
    uses: Vec<Use>,
    text: String,
}

/// The strongly connected components, of more than one member, of what `ends` makes of the uses.
fn circles<'a>(
    source: &'a Source,
    uses: &[Use],
    ends: fn(&'a Source, &Use) -> Option<(&'a str, &'a str)>,
) -> Vec<Circle> {
    let mut edges: Edges = BTreeMap::new();
    for one in uses {
        if let Some((from, to)) = ends(source, one) {
            edges
                .entry(from)
                .or_default()
                .entry(to)
                .or_insert_with(|| one.clone());
        }
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = edges
        .keys()
        .map(|from| (*from, reachable(&edges, from)))
        .collect();
    let mut found: Vec<Circle> = Vec::new();
    for (from, reached) in &reach {
        if !reached.contains(from) || found.iter().any(|circle| circle.members.contains(*from)) {
            continue;
        }
        let members: BTreeSet<&str> = reached
            .iter()
            .filter(|to| reach.get(**to).is_some_and(|back| back.contains(from)))
            .copied()
            .collect();
        let uses: Vec<Use> = members
            .iter()
            .flat_map(|from| edges[from].iter().filter(|(to, _)| members.contains(*to)))
            .map(|(_, one)| one.clone())
            .collect();
        found.push(Circle {
            text: describe(source, members.len(), &uses),
            members: members.into_iter().map(str::to_owned).collect(),
            uses,
        });
    }
    found
}

type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Use>>;

fn reachable<'a>(edges: &Edges<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = edges[from].keys().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(edges.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

fn describe(source: &Source, members: usize, uses: &[Use]) -> String {
    let mut text = format!(
        "{members} modules or files use each other in a circle: move what they share into one below them"
    );
    for one in uses {
        let (from, to) = (&source.modules[one.from], &source.modules[one.to]);
        write!(
            text,
            "\n    {}:{} uses {}",
            from.file.display(),
            one.line,
            to.file.display()
        )
        .expect("a text grows");
    }
    text
}
