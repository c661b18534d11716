//! `rename_all` of serde.

/// The name of a field in this style. `None` if there is no such style.
pub(super) fn renamed(field: &str, style: &str) -> Option<String> {
    Some(match style {
        "lowercase" | "snake_case" => field.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_ascii_uppercase(),
        "PascalCase" => pascal(field),
        "camelCase" => {
            let pascal = pascal(field);
            let mut letters = pascal.chars();
            let first = letters.next().map(|first| first.to_ascii_lowercase());
            first.into_iter().chain(letters).collect()
        }
        "kebab-case" => field.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => field.to_ascii_uppercase().replace('_', "-"),
        _ => return None,
    })
}

fn pascal(field: &str) -> String {
    let words = field.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn f44_4_names_are_those_of_serde() {
        for (style, name) in [
            ("lowercase", "cook_time"),
            ("UPPERCASE", "COOK_TIME"),
            ("PascalCase", "CookTime"),
            ("camelCase", "cookTime"),
            ("snake_case", "cook_time"),
            ("SCREAMING_SNAKE_CASE", "COOK_TIME"),
            ("kebab-case", "cook-time"),
            ("SCREAMING-KEBAB-CASE", "COOK-TIME"),
        ] {
            assert_eq!(renamed("cook_time", style).as_deref(), Some(name));
        }
        assert_eq!(renamed("cook_time", "Train-Case"), None);
    }
}
