//! Forms of parts: `multipart/form-data` of RFC 7578.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A part of a form.
#[derive(Clone, Debug, Hash)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) content: Vec<u8>,
}

impl Part {
    /// A part without a media type, which is a text.
    pub(super) fn text(name: &str, text: String) -> Self {
        Part {
            name: name.into(),
            file_name: None,
            content_type: None,
            content: text.into_bytes(),
        }
    }

    /// Whether each server reads the name as it is. Some look for `filename=` in it.
    pub(super) fn has_plain_name(&self) -> bool {
        let mut chars = self.name.chars();
        !chars.any(|c| matches!(c, '"' | ';') || c.is_control())
    }
}

/// The boundary and the bytes of a form.
pub(super) fn write(parts: &[Part]) -> (String, Vec<u8>) {
    let boundary = free_boundary(parts, candidates(parts));
    let mut bytes = Vec::new();
    for part in parts {
        let name = format!("form-data; name=\"{}\"", quoted(&part.name));
        let file_name = part.file_name.as_ref();
        let file_name = file_name.map(|it| format!("; filename=\"{}\"", quoted(it)));
        let kind = part.content_type.as_ref();
        let kind = kind.map(|it| format!("\r\nContent-Type: {it}"));
        let head = format!(
            "--{boundary}\r\nContent-Disposition: {name}{}{}\r\n\r\n",
            file_name.unwrap_or_default(),
            kind.unwrap_or_default()
        );
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(&part.content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (boundary, bytes)
}

/// A name as browsers write it: without the characters that would end it.
fn quoted(name: &str) -> String {
    let name = name.replace('"', "%22");
    name.replace('\r', "%0D").replace('\n', "%0A")
}

/// Boundaries that depend on the content, so a call that is repeated after a crash has the same bytes.
fn candidates(parts: &[Part]) -> impl Iterator<Item = String> {
    (0_u64..).map(move |number| {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (number, salt, parts).hash(&mut hasher);
            hasher.finish()
        };
        format!("petalflow-{:016x}{:016x}", half(0), half(1))
    })
}

/// The first boundary that no content has.
fn free_boundary(parts: &[Part], mut candidates: impl Iterator<Item = String>) -> String {
    let is_free = |boundary: &String| {
        let has = |part: &Part| {
            let mut windows = part.content.windows(boundary.len());
            windows.any(|window| window == boundary.as_bytes())
        };
        !parts.iter().any(has)
    };
    candidates.find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f44_6_a_boundary_is_in_no_content() {
        let content =
            "x\r\n--first\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\n--first--";
        let parts = [
            Part::text("a", "second".into()),
            Part::text("b", content.into()),
        ];
        let candidates = ["first", "second", "third"].map(String::from);
        assert_eq!(free_boundary(&parts, candidates.into_iter()), "third");
        // The boundary of a content in another content gives another boundary.
        let parts = vec![Part::text("a", "text".into())];
        let (boundary, bytes) = write(&parts);
        let (other, _) = write(&[Part::text("a", format!("text--{boundary}"))]);
        assert_ne!(boundary, other);
        assert_eq!(
            (boundary, bytes),
            write(&parts),
            "the same call has the same bytes"
        );
    }

    #[test]
    fn f44_6_names_of_parts_do_not_end() {
        let part = Part {
            file_name: Some("a\"\r\nX: 1".into()),
            ..Part::text("n\"; filename=\"x\r\n\r\nbody", "v".into())
        };
        let (boundary, bytes) = write(&[part]);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"n%22; filename=%22x%0D%0A%0D%0Abody\"; filename=\"a%22%0D%0AX: 1\"\r\n\r\nv\r\n--{boundary}--\r\n"
            )
        );
    }
}
