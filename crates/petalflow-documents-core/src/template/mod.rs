//! Templates of PetalFlow, which are those of Go, as templates of Jinja.

mod action;
mod error;
mod functions;
mod lexer;

use std::fmt::Write as _;

use action::Parser;
pub use error::TemplateError;
use error::error;

/// Translates a template of a document, in the language of Go's `text/template`, to Jinja, which the nodes of
/// `petalflow-documents` use.
///
/// It knows variables (`{{.a.b}}`), texts, numbers, pipes, parentheses, comments, `if`, `else if`, `else`, `with`, `range`
/// over lists, `{{$x := ..}}`, trimming (`{{-`), and these functions: `and` `or` `not` `eq` `ne` `lt` `le` `gt` `ge` `len`
/// `index` `print` `printf` (`%s`, `%v`, `%d`), and those of PetalFlow: `json` `jsonPretty` `join` `split` `upper` `lower`
/// `trim` `contains` `hasPrefix` `hasSuffix` `default` `coalesce`.
///
/// ```
/// use petalflow_documents_core::template::to_jinja;
///
/// assert_eq!(to_jinja("Hello, {{.user.name}}!")?, "Hello, {{ user.name }}!");
/// assert_eq!(to_jinja("{{ .names | join \", \" | upper }}")?, "{{ ((names|join(\", \"))|upper) }}");
/// assert_eq!(to_jinja("{{name}}").unwrap_err().to_string(),
///     "the template is wrong at position 2: there is no function `name`: a variable is written `.name`");
/// # Ok::<(), petalflow_documents_core::template::TemplateError>(())
/// ```
///
/// # Errors
///
/// If it is not a template, or uses a part of the language that is not in this list.
pub fn to_jinja(text: &str) -> Result<String, TemplateError> {
    let mut output = Output::default();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|found| at + found) {
        output.text(&text[at..start]);
        let (inside, end) = action_at(text, start)?;
        output.action(
            inside,
            start + 2 + (inside.as_ptr() as usize - text[start + 2..].as_ptr() as usize),
        )?;
        at = end;
    }
    output.text(&text[at..]);
    if let Some(open) = output.open.last() {
        return Err(error(
            format!("`{}` has no `end`", open.word()),
            open.position,
        ));
    }
    // Jinja drops the last line break.
    if text.ends_with('\n') {
        output.jinja.push_str("{{ \"\" }}");
    }
    Ok(output.jinja)
}

/// What is between the braces that begin at `start`, with its trim marks, and the position of the text after it.
fn action_at(text: &str, start: usize) -> Result<(&str, usize), TemplateError> {
    let inside = &text[start + 2..];
    let after_mark = inside.strip_prefix('-').unwrap_or(inside).trim_start();
    if after_mark.starts_with("/*") {
        let close = inside
            .find("*/")
            .ok_or_else(|| error("the comment has no end", start))?;
        let rest = &inside[close + 2..];
        let length = rest
            .find("}}")
            .ok_or_else(|| error("`{{` has no `}}`", start))?;
        return Ok((
            &inside[..close + 2 + length],
            start + 2 + close + 2 + length + 2,
        ));
    }
    let mut quote = None;
    let mut escaped = false;
    for (index, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(b'"'), b'\\') => escaped = true,
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'`') => quote = Some(byte),
            (None, b'}') if inside[index + 1..].starts_with('}') => {
                return Ok((&inside[..index], start + 2 + index + 2));
            }
            _ => {}
        }
    }
    Err(error("`{{` has no `}}`", start))
}

#[derive(Clone, Copy, PartialEq)]
enum Block {
    If,
    With,
    Range,
}

struct Open {
    block: Block,
    position: usize,
    /// The blocks that `else if` adds: in Jinja, each is inside the one before it.
    branches: usize,
    has_else: bool,
    /// The dot before the block, if the block changes it.
    dot: Option<String>,
}

impl Open {
    fn word(&self) -> &'static str {
        match self.block {
            Block::If => "if",
            Block::With => "with",
            Block::Range => "range",
        }
    }
}

#[derive(Default)]
struct Output {
    jinja: String,
    open: Vec<Open>,
    /// The Jinja expression of the dot. Empty for the variables themselves.
    dot: String,
    names: usize,
}

/// The most blocks in each other.
const MAX_BLOCKS: usize = 40;

/// The most blocks in each other in Jinja.
const MAX_LEVELS: usize = 100;

impl Output {
    /// Copies text. What begins a statement or a comment of Jinja is put into an expression.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(index) = rest.find('{') {
            let (before, after) = rest.split_at(index);
            self.jinja.push_str(before);
            match after.as_bytes().get(1) {
                Some(b'%') => self.jinja.push_str("{{ \"{%\" }}"),
                Some(b'#') => self.jinja.push_str("{{ \"{#\" }}"),
                _ => {
                    self.jinja.push('{');
                    rest = &after[1..];
                    continue;
                }
            }
            rest = &after[2..];
        }
        self.jinja.push_str(rest);
    }

    fn action(&mut self, inside: &str, position: usize) -> Result<(), TemplateError> {
        let (left, body) = match inside.strip_prefix('-') {
            Some(body) if body.starts_with(char::is_whitespace) => ("-", body),
            _ => ("", inside),
        };
        let (right, body) = match body.strip_suffix('-') {
            Some(body) if body.ends_with(char::is_whitespace) => ("-", body),
            _ => ("", body),
        };
        let start = position
            + (inside.len()
                - inside
                    .trim_start_matches(['-', ' ', '\t', '\n', '\r'])
                    .len());
        let body = body.trim();
        if body.starts_with("/*") {
            let _ = write!(self.jinja, "{{#{left} {right}#}}");
            return Ok(());
        }
        let (word, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        let rest_at = start + (body.len() - rest.len());
        let marks = (left, right);
        match word {
            "if" => {
                let condition = self.condition(rest, rest_at)?;
                self.statement(marks, &format!("if {condition}"));
                self.push(Block::If, start, None)
            }
            "with" => {
                let value = self.condition(rest, rest_at)?;
                let name = self.name();
                self.statement((left, ""), &format!("if {value}"));
                self.statement(("", right), &format!("with {name} = {value}"));
                let dot = std::mem::replace(&mut self.dot, name);
                self.push(Block::With, start, Some(dot))
            }
            "range" => self.range(rest, rest_at, marks, start),
            "else" => self.otherwise(rest.trim(), rest_at, marks, start),
            "end" if rest.is_empty() => self.end(marks, start),
            "template" | "block" | "define" | "break" | "continue" => {
                Err(error(format!("`{word}` is not supported"), start))
            }
            _ => match body.split_once(":=") {
                Some((name, value)) if name.starts_with('$') => {
                    let name = lexer::variable(name.trim())
                        .ok_or_else(|| error("expected `$name`", start))?;
                    let value = self.value(value, start + body.len() - value.len())?;
                    self.statement(marks, &format!("set {name} = {value}"));
                    Ok(())
                }
                _ => {
                    let value = self.value(body, start)?;
                    let _ = write!(self.jinja, "{{{{{left} {value} {right}}}}}");
                    Ok(())
                }
            },
        }
    }

    fn range(
        &mut self,
        rest: &str,
        rest_at: usize,
        marks: (&str, &str),
        start: usize,
    ) -> Result<(), TemplateError> {
        let (declared, list) = match rest.split_once(":=") {
            Some((names, list)) => (Some(names.trim()), list),
            None => (None, rest),
        };
        let name = match declared {
            None => self.name(),
            Some(names) if names.contains(',') => {
                return Err(error(
                    "`range` with two names is not supported: use `range $value := ..`",
                    start,
                ));
            }
            Some(name) => lexer::variable(name).ok_or_else(|| error("expected `$name`", start))?,
        };
        let value = self.condition(list, rest_at + rest.len() - list.len())?;
        self.statement(marks, &format!("for {name} in {value} or []"));
        let dot = std::mem::replace(&mut self.dot, name);
        self.push(Block::Range, start, Some(dot))
    }

    fn otherwise(
        &mut self,
        rest: &str,
        rest_at: usize,
        marks: (&str, &str),
        start: usize,
    ) -> Result<(), TemplateError> {
        let Some(open) = self.open.last_mut() else {
            return Err(error("`else` without `if`", start));
        };
        if open.has_else {
            return Err(error("a second `else`", start));
        }
        if let Some(condition) = rest.strip_prefix("if") {
            if open.block != Block::If {
                return Err(error("`else if` without `if`", start));
            }
            open.branches += 1;
            self.check_depth(start)?;
            let condition = self.condition(condition, rest_at + 2)?;
            self.statement(marks, &format!("elif {condition}"));
            return Ok(());
        }
        if !rest.is_empty() {
            return Err(error("expected `else` or `else if`", start));
        }
        open.has_else = true;
        // The dot of the `else` is that before the block.
        if let Some(dot) = &open.dot {
            self.dot.clone_from(dot);
        }
        if open.block == Block::With {
            self.statement((marks.0, ""), "endwith");
            self.statement(("", marks.1), "else");
        } else {
            self.statement(marks, "else");
        }
        Ok(())
    }

    fn end(&mut self, marks: (&str, &str), start: usize) -> Result<(), TemplateError> {
        let Some(open) = self.open.pop() else {
            return Err(error("`end` without `if`, `with` or `range`", start));
        };
        match open.block {
            Block::If => self.statement(marks, "endif"),
            Block::Range => self.statement(marks, "endfor"),
            Block::With if open.has_else => self.statement(marks, "endif"),
            Block::With => {
                self.statement((marks.0, ""), "endwith");
                self.statement(("", marks.1), "endif");
            }
        }
        if let Some(dot) = open.dot {
            self.dot = dot;
        }
        Ok(())
    }

    fn push(
        &mut self,
        block: Block,
        position: usize,
        dot: Option<String>,
    ) -> Result<(), TemplateError> {
        self.open.push(Open {
            block,
            position,
            branches: 0,
            has_else: false,
            dot,
        });
        self.check_depth(position)
    }

    /// The parser of Jinja is recursive, and so are its templates.
    fn check_depth(&self, position: usize) -> Result<(), TemplateError> {
        if self.open.len() > MAX_BLOCKS {
            let problem = format!("more than {MAX_BLOCKS} blocks in each other");
            return Err(error(problem, position));
        }
        let levels: usize = self.open.iter().map(|open| 1 + open.branches).sum();
        if levels > MAX_LEVELS {
            let problem = format!(
                "more than {MAX_LEVELS} of `if`, `else if`, `with` and `range` in each other"
            );
            return Err(error(problem, position));
        }
        Ok(())
    }

    fn statement(&mut self, (left, right): (&str, &str), statement: &str) {
        let _ = write!(self.jinja, "{{%{left} {statement} {right}%}}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("_dot{}", self.names)
    }

    fn value(&self, text: &str, position: usize) -> Result<String, TemplateError> {
        Parser::new(text, position, &self.dot, false)?.all()
    }

    /// A value that may be missing.
    fn condition(&self, text: &str, position: usize) -> Result<String, TemplateError> {
        Parser::new(text, position, &self.dot, true)?.all()
    }
}

#[cfg(test)]
mod tests;
