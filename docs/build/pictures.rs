//! Pictures as parts of the pages that show them: a site of rustdoc has no place for other files.

use std::path::Path;
use std::{fs, io};

/// Before the address of a picture, in Markdown and in HTML.
const BEFORE: [&str; 3] = ["](", " src=\"", " srcset=\""];

/// The text with its pictures in place of their addresses. Other addresses stay.
pub(crate) fn embed(text: &str, path: &Path, root: &Path) -> io::Result<String> {
    let mut embedded = String::new();
    let mut rest = text;
    while let Some((at, before)) = next_address(rest) {
        let (start, after) = rest.split_at(at + before.len());
        embedded.push_str(start);
        let end = after.find([')', '"']).unwrap_or(after.len());
        let (address, after) = after.split_at(end);
        let file = root.join(path.with_file_name(address));
        match media_type(address).filter(|_| file.exists()) {
            Some(kind) => {
                println!("cargo::rerun-if-changed={}", file.display());
                embedded.extend(["data:", kind, ";base64,", &base64(&fs::read(file)?)]);
            }
            None => embedded.push_str(address),
        }
        rest = after;
    }
    Ok(embedded + rest)
}

/// Where the next address may begin, and what is before it.
fn next_address(text: &str) -> Option<(usize, &'static str)> {
    let found = BEFORE
        .iter()
        .filter_map(|before| Some((text.find(before)?, *before)));
    found.min()
}

fn media_type(address: &str) -> Option<&'static str> {
    match Path::new(address).extension()?.to_str()? {
        "svg" => Some("image/svg+xml"),
        "png" => Some("image/png"),
        _ => None,
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let bits = a << 16 | b << 8 | c;
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            // Two bytes give three digits, and one byte two.
            let written = digit <= chunk.len();
            text.push(if written {
                char::from(DIGITS[index as usize])
            } else {
                '='
            });
        }
    }
    text
}
