//! The message for `&` and `|` without parentheses. It shows how to write each possible meaning.

use petalflow_graph::messages;

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
pub(super) fn message(operands: &[Group], operators: &[Operator], position: Position) -> String {
    // The groups that bind more tightly, for each of the two meanings.
    let all = runs(operands, operators, Operator::And);
    let any = runs(operands, operators, Operator::Or);
    match position {
        Position::Arm => messages::mixed_in_arm(&join_groups(operands, " & ")),
        Position::Source => {
            let joins: Vec<_> = all.iter().map(|run| in_parentheses(run, " & ")).collect();
            let choices = any.iter().filter(|run| run.len() > 1);
            let choices = choices.map(|run| format!("`{}`", join_groups(run, " | ")));
            let choices: Vec<_> = choices.collect();
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
            let one: Vec<Vec<_>> = all.iter().map(|run| run.iter().collect()).collect();
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

fn join_groups(groups: &[Group], operator: &str) -> String {
    let texts = groups
        .iter()
        .map(|group| in_parentheses(std::slice::from_ref(group), operator));
    texts.collect::<Vec<_>>().join(operator)
}

/// The run as an operand, in parentheses if it has several groups.
fn in_parentheses(run: &[Group], operator: &str) -> String {
    match run {
        [group @ (Group::And(_) | Group::Or(_))] => format!("({group})"),
        [group] => group.to_string(),
        run => format!("({})", join_groups(run, operator)),
    }
}

/// All selections of one group per run.
fn combinations<'a>(runs: &[&'a [Group]]) -> Vec<Vec<&'a Group>> {
    let mut all: Vec<Vec<&Group>> = vec![Vec::new()];
    for run in runs {
        let longer = |before: Vec<&'a Group>| {
            run.iter()
                .map(move |group| [&before[..], &[group]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
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
    let is_several = |group: &&Group| matches!(group, Group::And(_) | Group::Or(_));
    if arms.iter().flatten().any(is_several) {
        return None;
    }
    let texts = arms.iter().map(|arm| {
        let names = arm.iter().map(|group| names(group));
        let route: String = names
            .filter(|name| arms.len() == 1 || !in_all(arms, name))
            .collect();
        let targets: Vec<_> = arm.iter().map(ToString::to_string).collect();
        format!("{route} => {}", targets.join(" & "))
    });
    Some(format!(
        "`match {{ {} }}`",
        texts.collect::<Vec<_>>().join(", ")
    ))
}

/// Whether each arm has a target of this name.
fn in_all(arms: &[Vec<&Group>], name: &str) -> bool {
    arms.iter()
        .all(|arm| arm.iter().any(|group| names(group) == name))
}

/// The name of a route to the nodes of a group.
fn names(group: &Group) -> String {
    let nodes = group.nodes().into_iter();
    nodes.map(|node| route_named_like(&node.name())).collect()
}
