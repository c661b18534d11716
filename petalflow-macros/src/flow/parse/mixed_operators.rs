//! The message for `&` and `|` without parentheses. It shows how to write each possible meaning.

use petalflow_graph::{Text, messages};

use crate::flow::ast::{Group, route_named_like};

/// The maximum number of arms in a suggestion.
const MAX_ARMS: usize = 6;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Operator {
    And,
    Or,
}

/// The position of a group. It decides how the meanings of mixed operators are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Position {
    Source,
    Target,
    Arm,
}

/// The message for mixed operators at this position.
pub(super) fn message(operands: &[Group], operators: &[Operator], position: Position) -> Text {
    // The groups that bind more tightly, for each of the two meanings.
    let all = runs(operands, operators, Operator::And);
    let any = runs(operands, operators, Operator::Or);
    match position {
        Position::Arm => messages::mixed_in_arm(&written(operands, " & ")),
        Position::Source => {
            let mut joins = Vec::new();
            for run in &all {
                joins.push(bracketed(run, " & "));
            }
            let mut choices = Vec::new();
            for run in &any {
                if run.len() > 1 {
                    choices.push(format!("`{}`", written(run, " | ")));
                }
            }
            let each = if choices.len() > 1 { "each of " } else { "" };
            messages::mixed_operators(
                &format!("`{}`", joins.join(" | ")),
                &format!(
                    "lead {each}{} into another node and join that node with `&`",
                    choices.join(" and ")
                ),
            )
        }
        Position::Target => {
            let mut one = Vec::new();
            for run in &all {
                let mut targets = Vec::new();
                for group in *run {
                    targets.push(group);
                }
                one.push(targets);
            }
            match (choice(&one), choice(&combinations(&any))) {
                (Some(one), Some(other)) => messages::mixed_operators(&one, &other),
                _ => messages::mixed_at_length(),
            }
        }
    }
}

/// Splits the operands at every operator other than `inner`.
fn runs<'a>(operands: &'a [Group], operators: &[Operator], inner: Operator) -> Vec<&'a [Group]> {
    let mut runs = Vec::new();
    let mut begin = 0;
    for (i, operator) in operators.iter().enumerate() {
        if *operator != inner {
            runs.push(&operands[begin..=i]);
            begin = i + 1;
        }
    }
    runs.push(&operands[begin..]);
    runs
}

fn written(groups: &[Group], operator: &str) -> String {
    let mut texts = Vec::new();
    for group in groups {
        texts.push(bracketed(std::slice::from_ref(group), operator));
    }
    texts.join(operator)
}

/// The run as an operand, in parentheses if it has several groups.
fn bracketed(run: &[Group], operator: &str) -> String {
    match run {
        [group @ (Group::And(_) | Group::Or(_))] => format!("({group})"),
        [group] => group.to_string(),
        run => format!("({})", written(run, operator)),
    }
}

/// All selections of one group per run.
fn combinations<'a>(runs: &[&'a [Group]]) -> Vec<Vec<&'a Group>> {
    let mut all: Vec<Vec<&Group>> = vec![Vec::new()];
    for run in runs {
        let mut longer = Vec::new();
        for before in &all {
            for group in *run {
                let mut targets = before.clone();
                targets.push(group);
                longer.push(targets);
            }
        }
        all = longer;
        if all.len() > MAX_ARMS {
            break;
        }
    }
    all
}

/// A `match` with one arm per set of targets. `None` if it would be too long.
fn choice(arms: &[Vec<&Group>]) -> Option<String> {
    if arms.len() > MAX_ARMS {
        return None;
    }
    for arm in arms {
        for group in arm {
            if let Group::And(_) | Group::Or(_) = group {
                return None;
            }
        }
    }
    let mut texts = Vec::new();
    for arm in arms {
        let mut route = String::new();
        let mut targets = Vec::new();
        for group in arm {
            let name = names(group);
            if arms.len() == 1 || !in_all(arms, &name) {
                route.push_str(&name);
            }
            targets.push(group.to_string());
        }
        texts.push(format!("{route} => {}", targets.join(" & ")));
    }
    Some(format!("`match {{ {} }}`", texts.join(", ")))
}

/// Whether each arm has a target of this name.
fn in_all(arms: &[Vec<&Group>], name: &str) -> bool {
    for arm in arms {
        if !arm.iter().any(|group| names(group) == name) {
            return false;
        }
    }
    true
}

/// The name of a route to the nodes of a group.
fn names(group: &Group) -> String {
    let mut name = String::new();
    for node in &group.nodes() {
        name.push_str(&route_named_like(&node.name()));
    }
    name
}
