//! Scripts of skills, as an executor runs them.

/// The code of a script: its text, with its arguments set before it. The errors are for the model.
pub(super) fn code(
    language: &str,
    script: &str,
    text: &str,
    arguments: &[String],
) -> Result<String, String> {
    let extension = script
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension);
    let of_script = match extension {
        "py" => "python",
        "sh" | "bash" => "bash",
        "js" | "mjs" => "javascript",
        other => other,
    };
    let is_shell = |language: &str| matches!(language, "bash" | "sh");
    if of_script != language && !(is_shell(of_script) && is_shell(language)) {
        return Err(format!(
            "the script `{script}` cannot be run: the program runs only `{language}`"
        ));
    }
    if arguments.is_empty() {
        return Ok(text.into());
    }
    let strings = || {
        serde_json::Value::from(
            std::iter::once(script)
                .chain(arguments.iter().map(String::as_str))
                .collect::<Vec<_>>(),
        )
    };
    let before = match language {
        // JSON has no form of a string that Python reads otherwise.
        "python" => format!("import sys; sys.argv = {}", strings()),
        "javascript" => format!("process.argv = [process.argv[0], ...{}];", strings()),
        language if is_shell(language) => {
            let quoted = arguments
                .iter()
                .map(|text| format!("'{}'", text.replace('\'', r"'\''")));
            format!("set -- {}", quoted.collect::<Vec<_>>().join(" "))
        }
        _ => {
            return Err(format!(
                "a script of `{language}` gets no arguments: run it without them"
            ));
        }
    };
    Ok(format!("{before}\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn f44_arguments_are_set_before_the_script() {
        let arguments = ["a b".to_string(), "it's \"$HOME\"\n".to_string()];
        assert_eq!(
            code("python", "scripts/x.py", "print(1)", &arguments).unwrap(),
            "import sys; sys.argv = [\"scripts/x.py\",\"a b\",\"it's \\\"$HOME\\\"\\n\"]\nprint(1)"
        );
        assert_eq!(
            code("bash", "x.sh", "echo", &arguments).unwrap(),
            "set -- 'a b' 'it'\\''s \"$HOME\"\n'\necho"
        );
        assert_eq!(
            code("javascript", "x.js", "f()", &arguments[..1]).unwrap(),
            "process.argv = [process.argv[0], ...[\"x.js\",\"a b\"]];\nf()"
        );
        assert_eq!(code("sh", "x.sh", "echo", &[]).unwrap(), "echo");
        assert_eq!(code("lua", "x.lua", "print()", &[]).unwrap(), "print()");
        let refused = [
            (
                code("lua", "x.lua", "", &arguments),
                "a script of `lua` gets no arguments: run it without them",
            ),
            (
                code("python", "x.sh", "", &[]),
                "the script `x.sh` cannot be run: the program runs only `python`",
            ),
            (
                code("python", "run", "", &[]),
                "the script `run` cannot be run: the program runs only `python`",
            ),
        ];
        for (result, problem) in refused {
            assert_eq!(result.unwrap_err(), problem);
        }
    }
}
