//! The start of a `SKILL.md`: the name and the description of the skill in YAML.

use serde::Deserialize;

/// The maximum number of characters in a name.
const MAX_NAME: usize = 64;
/// The maximum number of characters in a description.
const MAX_DESCRIPTION: usize = 1024;

/// The fields that are read. Programs add others, which are not errors.
#[derive(Debug, Deserialize)]
pub(super) struct FrontMatter {
    pub(super) name: String,
    pub(super) description: String,
}

/// Splits a `SKILL.md` into its fields and its instructions, and checks the fields. The error says what is wrong, and the fix.
pub(super) fn split<'t>(folder: &str, text: &'t str) -> Result<(FrontMatter, &'t str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, instructions) = fenced(text)?;
    let fields: FrontMatter = serde_saphyr::from_str(yaml)
        .map_err(|error| format!("the start of `SKILL.md` is not as the format says: {error}"))?;
    check_name(folder, &fields.name)?;
    let length = fields.description.chars().count();
    if fields.description.trim().is_empty() {
        return Err(
            "the `description` is empty: say what the skill does, and when to use it".into(),
        );
    }
    if length > MAX_DESCRIPTION {
        return Err(format!(
            "the `description` has {length} characters: the format allows {MAX_DESCRIPTION}"
        ));
    }
    Ok((fields, instructions.trim()))
}

/// The text between the first line, which is `---`, and the next such line, and the text after it.
fn fenced(text: &str) -> Result<(&str, &str), String> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if !is_fence(first) {
        return Err(
            "`SKILL.md` does not begin with a line `---`: begin it with `---`, `name`, `description` and `---`".into(),
        );
    }
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err("the start of `SKILL.md` has no end: add a line `---` after the description".into())
}

fn check_name(folder: &str, name: &str) -> Result<(), String> {
    if name != folder {
        return Err(format!(
            "its name is `{name}`, and its folder is `{folder}`: give both the same name"
        ));
    }
    let length = name.chars().count();
    if length > MAX_NAME {
        return Err(format!(
            "its name has {length} characters: the format allows {MAX_NAME}"
        ));
    }
    let is_letter = |letter: char| letter.is_alphanumeric() && !letter.is_uppercase();
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_letter);
    if name.split('-').all(is_word) {
        return Ok(());
    }
    Err("a name has only lower-case letters, digits, and single hyphens between them".into())
}
