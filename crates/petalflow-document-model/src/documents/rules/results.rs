//! The results that descriptions use: each task runs after those that it names there.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::documents::agent::{AgentWorkflow, Strategy};
use crate::documents::compile::text::task_references;
use crate::documents::diagnostic::{Code, Report};
use crate::source::{Pointer, names::shown};

/// The number of edges that are followed in one document. Documents that people write have far fewer. A larger document is
/// not checked further: a result that is missing is then an error of the run.
const MAX_STEPS: usize = 10_000_000;

/// Checks that a result exists when the text is written. Under the strategy `hierarchical` the manager chooses the order.
pub(super) fn check(workflow: &AgentWorkflow, report: &mut Report) {
    if workflow.execution.strategy == Strategy::Hierarchical {
        return;
    }
    let order = Order::of(workflow);
    let mut steps = MAX_STEPS;
    for (name, task) in &workflow.tasks {
        let mut missing: HashSet<&str> = task_references(&task.description)
            .into_iter()
            .filter(|used| {
                workflow.tasks.contains_key(*used) && !order.is_listed_before(used, name)
            })
            .collect();
        order.remove_tasks_before(name, &mut missing, &mut steps);
        if steps == 0 {
            return;
        }
        let mut missing: Vec<&str> = missing.into_iter().collect();
        missing.sort_unstable();
        for used in missing {
            let at = Pointer::root().name("tasks").name(name).name("description");
            report.add(Code::BadTaskOrder, at, problem(workflow, name, used));
        }
    }
}

fn problem(workflow: &AgentWorkflow, name: &str, used: &str) -> String {
    let (name, used) = (shown(name), shown(used));
    if name == used {
        return format!("task `{name}` uses its own result in its description; remove it");
    }
    let fix = match workflow.execution.strategy {
        Strategy::Sequential => format!("put `{used}` before it in `task_order`"),
        Strategy::Custom => format!("add `{used}` to its `depends_on`"),
        Strategy::Parallel | Strategy::Hierarchical => format!("add `{used}` to its `context`"),
    };
    format!(
        "task `{name}` uses the result of task `{used}` in its description, but `{used}` does not run before it; {fix}"
    )
}

/// Which tasks run before others.
struct Order<'w> {
    /// The index of each task in `task_order`.
    indices: HashMap<&'w str, usize>,
    /// The tasks right before each task, apart from those in `task_order`.
    before: BTreeMap<&'w str, Vec<&'w str>>,
    listed: &'w [String],
}

impl<'w> Order<'w> {
    fn of(workflow: &'w AgentWorkflow) -> Self {
        let execution = &workflow.execution;
        let listed: &[String] = match execution.strategy {
            Strategy::Sequential => &execution.task_order,
            _ => &[],
        };
        let mut before: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, task) in &workflow.tasks {
            let inputs = task.inputs.values().flat_map(|text| task_references(text));
            let context = task.context.iter().map(String::as_str);
            before
                .entry(name)
                .or_default()
                .extend(inputs.chain(context));
        }
        if execution.strategy == Strategy::Custom {
            for (name, dependencies) in execution.tasks.iter().flatten() {
                let dependencies = dependencies.depends_on.iter().map(String::as_str);
                before.entry(name).or_default().extend(dependencies);
            }
        }
        Order {
            indices: (0..)
                .zip(listed)
                .map(|(index, name)| (name.as_str(), index))
                .collect(),
            before,
            listed,
        }
    }

    fn is_listed_before(&self, first: &str, second: &str) -> bool {
        let indices = (self.indices.get(first), self.indices.get(second));
        matches!(indices, (Some(first), Some(second)) if first < second)
    }

    /// Removes the tasks that run before this one.
    fn remove_tasks_before(&self, name: &str, tasks: &mut HashSet<&str>, steps: &mut usize) {
        let mut open = vec![name];
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            if tasks.is_empty() {
                return;
            }
            let listed = self
                .indices
                .get(next)
                .and_then(|index| index.checked_sub(1));
            let listed = listed.map(|index| self.listed[index].as_str());
            let others = self.before.get(next).into_iter().flatten().copied();
            for before in others.chain(listed) {
                *steps = steps.saturating_sub(1);
                if *steps == 0 {
                    return;
                }
                tasks.remove(before);
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
    }
}
