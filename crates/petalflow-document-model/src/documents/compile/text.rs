//! References to tasks and inputs in the texts of a workflow.

/// The task names in `{{tasks.NAME.field}}`, without repetition.
pub(crate) fn task_references(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (_, _, inside) in actions(text) {
        if let Some(rest) = inside.strip_prefix("tasks.")
            && let Some((task, _)) = rest.split_once('.')
            && is_name(task)
            && !found.contains(&task)
        {
            found.push(task);
        }
    }
    found
}

/// `{{input.x}}` becomes `{{.x}}`, and `{{tasks.t.output}}` the output of the node that `node` returns for `t`.
pub(crate) fn prompt(text: &str, node: impl Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, end, inside) in actions(text) {
        let replacement = match inside.split_once('.') {
            Some(("input", path)) if path.split('.').all(is_name) => {
                Some(format!("{{{{.{path}}}}}"))
            }
            Some(("tasks", rest)) => rest
                .strip_suffix(".output")
                .filter(|task| is_name(task))
                .and_then(&node)
                .map(|node| format!("{{{{.{node}_output}}}}")),
            _ => None,
        };
        if let Some(replacement) = replacement {
            result.push_str(&text[copied..start]);
            result.push_str(&replacement);
            copied = end;
        }
    }
    result.push_str(&text[copied..]);
    result
}

/// `tasks.t.output` in an expression becomes the variable that `variable` returns for `t`.
///
/// Texts in quotes are not changed.
pub(crate) fn condition(text: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(next) = rest.chars().next() {
        let continues =
            before.is_some_and(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if next == '"' {
            let length = string_length(rest);
            result.push_str(&rest[..length]);
            rest = &rest[length..];
            before = Some('"');
            continue;
        }
        if !continues
            && let Some(after) = rest.strip_prefix("tasks.")
            && let Some((task, tail)) = split_name(after)
            && let Some(tail) = tail.strip_prefix(".output")
            && !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && let Some(variable) = variable(task)
        {
            result.push_str(&variable);
            rest = tail;
            before = Some('t');
            continue;
        }
        result.push(next);
        before = Some(next);
        rest = &rest[next.len_utf8()..];
    }
    result
}

/// The length of the text in quotes at the beginning.
fn string_length(text: &str) -> usize {
    let mut escaped = true;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn split_name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What is between `{{` and `}}`, trimmed, with the places of the braces.
fn actions(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find("{{")?;
        let inside = &text[start + 2..];
        let length = inside.find("}}")?;
        from = start + 2 + length + 2;
        Some((start, from, inside[..length].trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{condition, prompt, task_references};

    fn node(task: &str) -> Option<String> {
        (task == "a").then(|| "a__x".to_owned())
    }

    #[test]
    fn prompts_name_variables() {
        assert_eq!(
            prompt(
                "{{input.topic}} {{tasks.a.output}} {{ tasks.a.output }} {{tasks.b.output}} {{x",
                node
            ),
            "{{.topic}} {{.a__x_output}} {{.a__x_output}} {{tasks.b.output}} {{x"
        );
        assert_eq!(
            task_references("{{tasks.a.output}}{{tasks.b.x}}{{tasks.a.y}}{{tasks.}}"),
            ["a", "b"]
        );
    }

    #[test]
    fn conditions_name_variables_and_keep_texts() {
        let variable = |task: &str| node(task).map(|node| format!("{node}_output"));
        let text = r#"tasks.a.output.n > 1 && x == "tasks.a.output" && my.tasks.a.output && tasks.a.outputs"#;
        let expected =
            r#"a__x_output.n > 1 && x == "tasks.a.output" && my.tasks.a.output && tasks.a.outputs"#;
        assert_eq!(condition(text, variable), expected);
    }
}
