//! Names of Rust from names of documents.

/// The words of a name: `getOrder`, `get_order` and `get order` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let chars: Vec<char> = name.chars().collect();
    let mut is_inside = false;
    for (index, &c) in chars.iter().enumerate() {
        if !is_part(c) {
            is_inside = false;
            continue;
        }
        let previous = index.checked_sub(1).map(|index| chars[index]);
        let next = chars.get(index + 1);
        // `getOrder`, and the `O` of `HTTPOrder`.
        let begins = c.is_uppercase()
            && previous.is_some_and(|it| {
                it.is_lowercase() || it.is_ascii_digit() || next.is_some_and(|it| it.is_lowercase())
            });
        match words.last_mut() {
            Some(word) if is_inside && !begins => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().collect()),
        }
        is_inside = true;
    }
    words
}

/// Whether a character can be inside of a name of Rust.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && syn::parse_str::<syn::Ident>(&format!("a{c}")).is_ok())
}

/// The name of a method, field or module. `None` if no character can be in one.
pub(crate) fn snake(name: &str) -> Option<String> {
    let words = words(name);
    (!words.is_empty()).then(|| valid(words.join("_")))
}

/// The name of a type or variant. `None` if no character can be in one.
pub(crate) fn camel(name: &str) -> Option<String> {
    let words = words(name);
    let name: String = words.iter().map(|word| capitalized(word)).collect();
    let begins_well = syn::parse_str::<syn::Ident>(&name).is_ok();
    (!name.is_empty()).then(|| if begins_well { name } else { valid(name) })
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// Keywords get an underscore behind them, and names that begin with a digit one before them.
fn valid(mut name: String) -> String {
    // `gen` is a keyword since the edition of 2024.
    if syn::parse_str::<syn::Ident>(&name).is_ok() && name != "gen" {
        return name;
    }
    if syn::parse_str::<syn::Ident>(&format!("{name}_")).is_ok() {
        name.push('_');
    } else {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{camel, snake};

    #[test]
    fn names_of_documents_become_names_of_rust() {
        for (name, snake_name, camel_name) in [
            ("order_soup", "order_soup", "OrderSoup"),
            ("getOrder", "get_order", "GetOrder"),
            ("HTTPOrder", "http_order", "HttpOrder"),
            ("party size", "party_size", "PartySize"),
            ("first-name", "first_name", "FirstName"),
            ("type", "type_", "Type"),
            ("self", "self_", "Self_"),
            ("gen", "gen_", "Gen"),
            ("_", "_", "_"),
            ("7up", "_7up", "_7up"),
            ("größe", "größe", "Größe"),
            ("v2Api", "v2_api", "V2Api"),
            ("__x__", "x", "X"),
        ] {
            if name == "_" {
                assert_eq!((snake(name), camel(name)), (None, None));
                continue;
            }
            assert_eq!(snake(name).as_deref(), Some(snake_name));
            assert_eq!(camel(name).as_deref(), Some(camel_name));
        }
        assert_eq!(snake("?!"), None);
    }
}
