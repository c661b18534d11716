//! Variables that a template uses and that may be missing when it is filled, because only a choice leads to what writes them.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::targets::redirects;
use super::templates;
use super::texts::written;
use crate::documents::diagnostic::{Code, Report};
use crate::documents::graph::{EdgeDefinition, GraphDefinition, NodeDefinition};
use crate::documents::template::Template;
use crate::source::{Pointer, names::shown};

/// The number of edges and choices that are followed in one document. Documents that people write have far fewer; in a larger
/// one not all templates are checked.
const MAX_STEPS: usize = 1_000_000;

/// Warns of each variable that a template needs, that nodes write before it, and that they do not write on each way to it. What
/// no node writes is an input, about which a document says nothing. The edges form no cycle.
pub(super) fn check(graph: &GraphDefinition, report: &mut Report) {
    let reads: Vec<(usize, &str, BTreeSet<String>)> = (0..)
        .zip(&graph.nodes)
        .flat_map(|(index, node)| needed(node).map(move |(name, needed)| (index, name, needed)))
        .collect();
    if reads.is_empty() {
        return;
    }
    let ways = Ways::of(graph);
    let mut steps = MAX_STEPS;
    for (index, setting, names) in reads {
        for name in names {
            let Some(writers) = ways.writers.get(&name) else {
                continue;
            };
            match ways.may_miss(index, writers, &mut steps) {
                Err(TooManySteps) => return,
                Ok(None) => {}
                Ok(Some(writer)) => {
                    let (node, writer) = (&graph.nodes[index], &graph.nodes[writer].id);
                    let setting_fix = match node.kind.as_str() {
                        // A key without a value would be that of other values.
                        "cache" => "",
                        _ => ", or give the node `missing: empty`",
                    };
                    let at = Pointer::root().name("nodes").item(index).name("config");
                    let message = format!(
                        "node `{}`: `{name}` may be missing here, because node `{}`, which writes it, does not run on each way to it; \
                         write `{{{{.{name} | default \"..\"}}}}`{setting_fix}",
                        shown(&node.id),
                        shown(writer)
                    );
                    report.add(Code::MayBeMissing, at.name(setting), message);
                }
            }
        }
    }
}

/// The templates of a node that fail, or say `<no value>`, without some variables.
fn needed(node: &NodeDefinition) -> impl Iterator<Item = (&'static str, BTreeSet<String>)> {
    let is_empty = node.config.get("missing").is_some_and(|it| it == "empty");
    let names = if is_empty {
        &[][..]
    } else {
        templates::names(&node.kind)
    };
    names.iter().filter_map(|name| {
        let text = node.config.get(*name)?.as_str()?;
        // A text without an action needs nothing.
        let template = text.contains("{{").then(|| Template::parse(text).ok())??;
        let needed = template.needed();
        (!needed.is_empty()).then_some((*name, needed))
    })
}

/// The limit of the search was reached.
struct TooManySteps;

/// A choice of a node: the node, and what it chooses.
type Choice<'g> = (usize, &'g str);

struct Ways<'g> {
    graph: &'g GraphDefinition,
    /// The nodes that may write each variable.
    writers: HashMap<String, Vec<usize>>,
    /// The edges to each node, with the node that each comes from.
    before: Vec<Vec<(usize, &'g EdgeDefinition)>>,
    /// Where each node is when all nodes before it come first.
    place: Vec<usize>,
    /// The choices without which a node does not run.
    needs: Vec<Vec<Choice<'g>>>,
}

impl<'g> Ways<'g> {
    fn of(graph: &'g GraphDefinition) -> Self {
        let index: HashMap<&str, usize> = (graph.nodes.iter().enumerate())
            .map(|(index, node)| (node.id.as_str(), index))
            .collect();
        let mut before = vec![Vec::new(); graph.nodes.len()];
        let mut after = vec![Vec::new(); graph.nodes.len()];
        for edge in &graph.edges {
            if let (Some(&from), Some(&to)) = (
                index.get(edge.source.as_str()),
                index.get(edge.target.as_str()),
            ) {
                before[to].push((from, edge));
                after[from].push(to);
            }
        }
        let mut writers: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, node) in graph.nodes.iter().enumerate() {
            for name in written(&node.id, &node.config) {
                writers.entry(name).or_default().push(index);
            }
        }
        let order = in_order(&before, &after);
        let mut place = vec![0; graph.nodes.len()];
        for (at, node) in order.iter().enumerate() {
            place[*node] = at;
        }
        let mut ways = Ways {
            graph,
            writers,
            before,
            place,
            needs: vec![Vec::new(); graph.nodes.len()],
        };
        // A chain of many choices would have as many of them at each node: the last ones decide.
        for node in order {
            let edges = ways.before[node].iter();
            let mut all = edges.map(|(from, edge)| ways.needs_of_edge(*from, edge));
            let Some(mut common) = all.next() else {
                continue;
            };
            for other in all {
                common.retain(|choice| other.contains(choice));
            }
            ways.needs[node] = common;
        }
        ways
    }

    /// The choices without which an edge is not taken.
    fn needs_of_edge(&self, from: usize, edge: &'g EdgeDefinition) -> Vec<Choice<'g>> {
        const MAX_CHOICES: usize = 32;
        let mut needs = self.needs[from].clone();
        if let Some(choice) = choice(&self.graph.nodes[from], edge) {
            needs.push((from, choice));
        }
        let surplus = needs.len().saturating_sub(MAX_CHOICES);
        needs.drain(..surplus);
        needs
    }

    /// A node that writes a variable before this node, if it does not do so on each way. `None` if the variable is there.
    fn may_miss(
        &self,
        reader: usize,
        writers: &[usize],
        steps: &mut usize,
    ) -> Result<Option<usize>, TooManySteps> {
        // The nodes before the reader, up to those that write.
        let mut seen = HashSet::from([reader]);
        let mut open = vec![reader];
        let mut first_writer = None;
        while let Some(node) = open.pop() {
            for (from, _) in &self.before[node] {
                *steps = steps.checked_sub(1).ok_or(TooManySteps)?;
                if writers.contains(from) {
                    first_writer.get_or_insert(*from);
                } else if seen.insert(*from) {
                    open.push(*from);
                }
            }
        }
        let Some(writer) = first_writer else {
            return Ok(None);
        };
        let mut nodes: Vec<usize> = seen.into_iter().collect();
        nodes.sort_unstable_by_key(|node| self.place[*node]);
        let mut has: HashSet<usize> = HashSet::new();
        for node in nodes {
            let (mut on_each, mut on_sure) = (!self.before[node].is_empty(), false);
            for (from, edge) in &self.before[node] {
                *steps = steps
                    .checked_sub(1 + self.needs[*from].len())
                    .ok_or(TooManySteps)?;
                let writes = writers.contains(from) || has.contains(from);
                let needs = self.needs_of_edge(*from, edge);
                let is_sure = needs.iter().all(|choice| self.needs[node].contains(choice));
                on_each &= writes;
                on_sure |= writes && is_sure;
            }
            if on_each || on_sure {
                has.insert(node);
            }
        }
        Ok((!has.contains(&reader)).then_some(writer))
    }
}

/// What a node chooses when it takes this edge, if it chooses.
fn choice<'g>(node: &NodeDefinition, edge: &'g EdgeDefinition) -> Option<&'g str> {
    match node.kind.as_str() {
        "conditional" | "rule_router" | "llm_router" => {
            let handle = edge.source_handle.as_str();
            Some(match handle {
                "output" | "decision" | "" => edge.target.as_str(),
                handle => handle,
            })
        }
        _ if redirects(node) => {
            let target = node.config.get("redirect_node_id").and_then(Value::as_str);
            Some(if target == Some(edge.target.as_str()) {
                "redirect"
            } else {
                "pass"
            })
        }
        _ => None,
    }
}

/// All nodes, each after those before it. Nodes of a cycle are left out.
fn in_order(before: &[Vec<(usize, &EdgeDefinition)>], after: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..before.len()).filter(|node| open[*node] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &to in &after[node] {
            open[to] -= 1;
            if open[to] == 0 {
                order.push(to);
            }
        }
    }
    order
}
