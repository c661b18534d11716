//! The functions of templates.

/// All functions.
pub(super) const NAMES: [&str; 25] = [
    "and",
    "or",
    "not",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "len",
    "index",
    "print",
    "printf",
    "json",
    "jsonPretty",
    "join",
    "split",
    "upper",
    "lower",
    "trim",
    "contains",
    "hasPrefix",
    "hasSuffix",
    "default",
    "coalesce",
];

/// Whether the arguments may be missing variables.
pub(super) fn accepts_missing(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "default" | "coalesce")
}

/// A call as an expression of Jinja, or what is wrong with it.
pub(super) fn call(name: &str, arguments: &[String]) -> Result<String, String> {
    let infix = |word: &str| {
        if arguments.len() < 2 {
            return Err(format!("`{name}` takes two arguments"));
        }
        Ok(format!("({})", arguments.join(&format!(" {word} "))))
    };
    match (name, arguments) {
        ("and" | "or", [only]) => Ok(only.clone()),
        ("and" | "or", _) => infix(name),
        ("not", [value]) => Ok(format!("(not {value})")),
        ("eq", [first, rest @ ..]) if !rest.is_empty() => {
            // The first value is written once: it may be long, and such a test may be inside it.
            Ok(match rest {
                [only] => format!("({first} == {only})"),
                rest => format!("({first} in [{}])", rest.join(", ")),
            })
        }
        ("ne", [_, _]) => infix("!="),
        ("lt", [_, _]) => infix("<"),
        ("le", [_, _]) => infix("<="),
        ("gt", [_, _]) => infix(">"),
        ("ge", [_, _]) => infix(">="),
        ("len", [value]) => Ok(format!("({value}|length)")),
        ("index", [value, keys @ ..]) if !keys.is_empty() => {
            Ok(format!("{value}[{}]", keys.join("][")))
        }
        ("print", [_, ..]) => Ok(printed(arguments)),
        ("printf", [format, values @ ..]) => printf(format, values),
        ("json" | "jsonPretty" | "upper" | "lower" | "trim", [value]) => {
            Ok(format!("({value}|{name})"))
        }
        // The text between the parts may come first, as in `.list | join ", "`.
        ("join" | "split", [a, b]) => {
            let (value, separator) = if is_text(a) && !is_text(b) {
                (b, a)
            } else {
                (a, b)
            };
            Ok(format!("({value}|{name}({separator}))"))
        }
        ("contains" | "hasPrefix" | "hasSuffix", [a, b]) => {
            let (value, part) = if is_text(a) && !is_text(b) {
                (b, a)
            } else {
                (a, b)
            };
            Ok(format!("({value} is {name}({part}))"))
        }
        ("default", [default, value]) => Ok(format!("({value}|default({default}))")),
        ("coalesce", [_, ..]) => Ok(format!("coalesce({})", arguments.join(", "))),
        _ => Err(format!(
            "`{name}` does not take {} arguments",
            arguments.len()
        )),
    }
}

fn is_text(argument: &str) -> bool {
    argument.starts_with('"')
}

/// `printf "%s of %d" .a .b`.
fn printf(format: &str, values: &[String]) -> Result<String, String> {
    let text: String =
        serde_json::from_str(format).map_err(|_| "`printf` takes a text first".to_owned())?;
    let mut parts = Vec::new();
    let mut values = values.iter();
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next != '%' {
            plain.push(next);
            continue;
        }
        match chars.next() {
            Some('%') => plain.push('%'),
            Some('s' | 'v' | 'd') => {
                parts.push(serde_json::Value::from(std::mem::take(&mut plain)).to_string());
                parts.push(values.next().ok_or("`printf` has too few values")?.clone());
            }
            _ => return Err("`printf` knows `%s`, `%v`, `%d` and `%%`".into()),
        }
    }
    if values.next().is_some() {
        return Err("`printf` has too many values".into());
    }
    parts.push(serde_json::Value::from(plain).to_string());
    Ok(printed(&parts))
}

/// A function and no operator, because the nodes count what functions make.
fn printed(parts: &[String]) -> String {
    format!("print({})", parts.join(", "))
}
