//! The types that can read the values of another type.

/// Whether the type `is` can read every stored value of the type `was`. Only the names of the types are known.
///
/// In storage a number has no width, and `Some` and pointers leave no bytes.
pub fn reads(was: &str, is: &str) -> bool {
    let (was, is) = (bare(was), bare(is));
    if was == is || widens(was, is) {
        return true;
    }
    match (inner(was), inner(is)) {
        (Some(("Option", was)), Some(("Option", is)))
        | (Some(("Vec" | "VecDeque", was)), Some(("Vec" | "VecDeque", is))) => reads(was, is),
        (_, Some(("Option", is))) => reads(was, is),
        _ => false,
    }
}

/// A type without its modules, and without pointers around it.
fn bare(ty: &str) -> &str {
    let mut ty = ty.trim();
    loop {
        // The path ends before the arguments.
        let head = ty.find(['<', '(', '[', ' ']).unwrap_or(ty.len());
        if let Some(module) = ty[..head].rfind("::") {
            ty = &ty[module + 2..];
        } else if let Some(("Box" | "Arc" | "Rc", pointee)) = inner(ty) {
            ty = pointee;
        } else {
            return ty;
        }
    }
}

/// Whether the name of a type says all about its values: it has no type of the program in it.
pub(super) fn is_plain(ty: &str) -> bool {
    const KNOWN: &[&str] = &[
        "Arc",
        "BTreeMap",
        "BTreeSet",
        "Box",
        "Duration",
        "HashMap",
        "HashSet",
        "Option",
        "PathBuf",
        "Rc",
        "String",
        "SystemTime",
        "Vec",
        "VecDeque",
    ];
    let names = ty.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    names.into_iter().all(|name| {
        // Modules, lengths and the primitive types.
        !name.starts_with(char::is_uppercase) || KNOWN.contains(&name)
    })
}

/// The name and the argument of a type with one argument.
fn inner(ty: &str) -> Option<(&str, &str)> {
    let (name, argument) = ty.strip_suffix('>')?.split_once('<')?;
    let (mut depth, mut one) = (0_i32, true);
    for c in argument.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => one = false,
            _ => {}
        }
    }
    one.then(|| (bare(name), bare(argument)))
}

/// Whether one number type holds all values of the other.
pub(super) fn widens(was: &str, is: &str) -> bool {
    if (was, is) == ("f32", "f64") {
        return true;
    }
    let bits = |ty: &str, sign: char| -> Option<u32> {
        match ty.strip_prefix(sign)? {
            // The program that wrote the value may have had 64 bits.
            "size" => Some(64),
            bits => bits.parse().ok(),
        }
    };
    match (bits(was, 'u'), bits(is, 'u'), bits(was, 'i'), bits(is, 'i')) {
        (Some(was), Some(is), ..) | (.., Some(was), Some(is)) => was <= is,
        (Some(was), _, _, Some(is)) => was < is,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn wider_types_read_what_narrower_ones_wrote() {
        for (was, is) in [
            ("u32", "u64"),
            ("u32", "i64"),
            ("usize", "u64"),
            ("f32", "f64"),
            ("String", "std::string::String"),
            ("String", "Option<String>"),
            ("Option<u8>", "Option<u16>"),
            ("Vec<u8>", "std::collections::VecDeque<Option<u32>>"),
            ("Arc<Doc>", "Doc"),
            ("Doc", "Option<Box<crate::docs::Doc>>"),
        ] {
            assert!(reads(was, is), "{was} as {is}");
        }
        for (was, is) in [
            ("u64", "u32"),
            ("i32", "u64"),
            ("u64", "i64"),
            ("String", "u8"),
            ("Option<u8>", "u8"),
            ("Vec<u16>", "Vec<u8>"),
            ("HashMap<u8, u8>", "HashMap<u8, u16>"),
            ("Old", "New"),
            ("f64", "f32"),
        ] {
            assert!(!reads(was, is), "{was} as {is}");
        }
    }
}
