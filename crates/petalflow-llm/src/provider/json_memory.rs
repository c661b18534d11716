//! The memory that JSON text takes when it is parsed: a short object takes a hundred times its text.

/// The maximum memory for one text, in bytes. The embeddings of a full request take a fifth of it.
pub(super) const MAX: usize = 1024 * 1024 * 1024;

/// The memory of an object with one field: its map reserves space for eleven.
const OBJECT: usize = 640;
/// The memory of a list with one item: it reserves space for four.
const LIST: usize = 160;
/// The memory of a further item or field.
const ITEM: usize = 64;

/// Whether the text, parsed as JSON, takes more memory than the maximum. The memory is estimated from its structure.
pub(super) fn is_too_much(json: &[u8]) -> bool {
    // Most texts are so short that they need not be read.
    json.len() > MAX / OBJECT && estimate(json) > MAX
}

fn estimate(json: &[u8]) -> usize {
    let (mut in_text, mut is_escaped) = (false, false);
    let structure = json.iter().map(|byte| match byte {
        _ if is_escaped => {
            is_escaped = false;
            1
        }
        b'\\' if in_text => {
            is_escaped = true;
            1
        }
        b'"' => {
            in_text = !in_text;
            1
        }
        _ if in_text => 1,
        b'{' => OBJECT,
        b'[' => LIST,
        b',' => ITEM,
        _ => 0,
    });
    structure.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_counts_and_text_does_not() {
        let text = format!("\"{}\"", r#"{[,\"{\\"#.repeat(10));
        assert_eq!(estimate(text.as_bytes()), text.len());
        let objects = r#"[{"a":1},{"a":[2,3]}]"#;
        let texts = 2 * r#""a""#.len();
        assert_eq!(
            estimate(objects.as_bytes()),
            2 * OBJECT + 2 * LIST + 2 * ITEM + texts
        );
    }

    #[test]
    fn large_texts_are_accepted_and_many_objects_are_not() {
        let numbers = format!("[{}0]", "0.1234567,".repeat(6_000_000));
        assert!(!is_too_much(numbers.as_bytes()));
        let text = format!("\"{}\"", "{".repeat(64 * 1024 * 1024));
        assert!(!is_too_much(text.as_bytes()));
        let objects = format!("[{}0]", r#"{"":0},"#.repeat(2_000_000));
        assert!(is_too_much(objects.as_bytes()));
    }
}
