//! YAML with positions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::source::diagnostic::Position;
use crate::source::includes::Includes;
use crate::source::json::{too_deep, too_many};
use crate::source::names::shown;
use crate::source::tree::{
    Entry, MAX_DEPTH, MAX_TEXT, MAX_VALUES, Node, ParseError, Problem, Tree, check_length, number,
};

/// The tag of a path. The value is the content of the file with this path.
pub(crate) const INCLUDE: &str = "!include";

/// Parses one document of YAML 1.2 with aliases, merge keys and `!include`.
pub(crate) fn parse(text: &str, includes: &mut Includes<'_>) -> Result<Tree<'static>, ParseError> {
    parse_file(text, 0, Size::default(), includes).map(|(tree, _)| tree)
}

/// Parses the file with this number. `before` is the size of what was read before it. Returns the size with the file.
fn parse_file(
    text: &str,
    file: usize,
    before: Size,
    includes: &mut Includes<'_>,
) -> Result<(Tree<'static>, Size), ParseError> {
    check_length(text).inspect_err(|_| includes.failed = file)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder {
        file,
        includes,
        open: Vec::new(),
        anchors: HashMap::new(),
        size: before,
        documents: 0,
        root: None,
    };
    let parsed = builder.parse(text);
    let (size, includes) = (builder.size, builder.includes);
    // The innermost file has the error.
    if parsed.is_err() && includes.failed == 0 {
        includes.failed = file;
    }
    parsed.map(|tree| (tree, size))
}

fn syntax(error: &ScanError) -> ParseError {
    let mark = error.marker();
    let position = Position {
        line: mark.line().max(1),
        column: mark.col() + 1,
    };
    ParseError {
        kind: Problem::Syntax,
        message: format!("the document is not YAML: {}", error.info()),
        position,
    }
}

/// A list or an object whose end was not read yet.
struct Open {
    position: Position,
    anchor: usize,
    /// What was read before it.
    before: Size,
    content: Content,
}

enum Content {
    List(Vec<Tree<'static>>),
    Object(Vec<Entry<'static>>, Option<(Cow<'static, str>, Position)>),
}

/// What an anchor names.
struct Anchored {
    tree: Tree<'static>,
    size: Size,
    depth: usize,
}

/// How large values are: with those that aliases repeat.
#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    /// The bytes of the texts.
    bytes: usize,
}

impl Size {
    /// That of a list or an object alone.
    const OPEN: Self = Size {
        values: 1,
        bytes: 0,
    };

    fn of(text: &str) -> Self {
        let bytes = text.len();
        Size { values: 1, bytes }
    }

    fn since(self, before: Self) -> Self {
        Size {
            values: self.values - before.values,
            bytes: self.bytes - before.bytes,
        }
    }
}

struct Builder<'i, 's> {
    /// The number of the file.
    file: usize,
    includes: &'i mut Includes<'s>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    size: Size,
    documents: usize,
    root: Option<Tree<'static>>,
}

impl Builder<'_, '_> {
    fn parse(&mut self, text: &str) -> Result<Tree<'static>, ParseError> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        // The parser's own limits are a little higher, so that ours gives the message.
        options.flow_nesting_limit = MAX_DEPTH + 8;
        options.block_nesting_limit = MAX_DEPTH + 8;
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| syntax(&error))?;
            self.event(event, span)?;
        }
        self.root.take().ok_or(ParseError {
            kind: Problem::Syntax,
            message: "the document is empty".into(),
            position: Position { line: 1, column: 1 },
        })
    }

    /// Reads the file that `!include` names.
    fn include(
        &mut self,
        path: &str,
        position: Position,
    ) -> Result<(Tree<'static>, Size), ParseError> {
        let begun = self.includes.begin(path);
        let (file, text) = begun.map_err(|message| wrong(position, &message))?;
        let before = self.size;
        let (tree, size) = parse_file(&text, file, before, self.includes)?;
        self.includes.end();
        self.size = size;
        if self.open.len() + depth(&tree) > MAX_DEPTH {
            return Err(too_deep(position));
        }
        Ok((tree, size.since(before)))
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), ParseError> {
        let position = Position {
            line: span.start.line().max(1),
            column: span.start.col() + 1,
        };
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(wrong(position, "the file has more than one document"));
                }
                Ok(())
            }
            Event::Scalar(path, _, anchor, Some(tag)) if tag.original() == INCLUDE => {
                let (tree, size) = self.include(&path, position)?;
                self.complete(tree, anchor, size, None)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let size = Size::of(&text);
                self.count(size, 0, position)?;
                let node = scalar(&text, style, tag.as_deref(), position)?;
                let file = self.file;
                self.complete(
                    Tree {
                        position,
                        file,
                        node,
                    },
                    anchor,
                    size,
                    Some(&text),
                )
            }
            Event::SequenceStart(_, anchor, tag) => self.start(
                position,
                anchor,
                tag.as_deref(),
                "seq",
                Content::List(Vec::new()),
            ),
            Event::MappingStart(_, anchor, tag) => {
                let content = Content::Object(Vec::new(), None);
                self.start(position, anchor, tag.as_deref(), "map", content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some(anchored) = self.anchors.get(&id) else {
                    return Err(wrong(
                        position,
                        "the alias is inside the value that it names",
                    ));
                };
                let (size, depth) = (anchored.size, anchored.depth);
                // Counted before anything is copied.
                self.count(size, depth, position)?;
                let tree = self.anchors.get(&id).map(|anchored| anchored.tree.clone());
                match tree {
                    Some(tree) => self.complete(tree, 0, size, None),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Counts values that are added below the open ones.
    fn count(&mut self, size: Size, depth: usize, position: Position) -> Result<(), ParseError> {
        self.size.values = self.size.values.saturating_add(size.values);
        self.size.bytes = self.size.bytes.saturating_add(size.bytes);
        if self.size.values > MAX_VALUES {
            return Err(too_many(position));
        }
        if self.size.bytes > MAX_TEXT {
            return Err(ParseError {
                kind: Problem::TooLarge,
                message: format!(
                    "the texts of the document have more than {MAX_TEXT} bytes, counting those that aliases repeat"
                ),
                position,
            });
        }
        if self.open.len() + depth > MAX_DEPTH {
            return Err(too_deep(position));
        }
        Ok(())
    }

    fn start(
        &mut self,
        position: Position,
        anchor: usize,
        tag: Option<&Tag>,
        core: &str,
        content: Content,
    ) -> Result<(), ParseError> {
        if let Some(tag) = tag
            && !tag.is_yaml_core_schema_tag(core)
        {
            let message = match tag.original() {
                it if it == INCLUDE => "`!include` takes the path of one file".to_string(),
                other => format!("the tag `{}` has no meaning here", shown(&other)),
            };
            return Err(wrong(position, &message));
        }
        let before = self.size;
        self.count(Size::OPEN, 1, position)?;
        self.open.push(Open {
            position,
            anchor,
            before,
            content,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), ParseError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let size = self.size.since(open.before);
        let node = match open.content {
            Content::List(items) => Node::List(items),
            Content::Object(entries, _) => Node::Object(merged(entries)?),
        };
        self.complete(
            Tree {
                position: open.position,
                file: self.file,
                node,
            },
            open.anchor,
            size,
            None,
        )
    }

    /// Adds a complete value to the list or object around it. `text` is that of a scalar.
    fn complete(
        &mut self,
        tree: Tree<'static>,
        anchor: usize,
        size: Size,
        text: Option<&str>,
    ) -> Result<(), ParseError> {
        if anchor != 0 {
            let depth = depth(&tree);
            // A copy for each anchor: they count like aliases.
            self.count(size, 0, tree.position)?;
            let tree = tree.clone();
            self.anchors.insert(anchor, Anchored { tree, size, depth });
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(tree);
            return Ok(());
        };
        match &mut open.content {
            Content::List(items) => items.push(tree),
            Content::Object(entries, name) => {
                if let Some((name, position)) = name.take() {
                    let value = tree;
                    entries.push(Entry {
                        name,
                        position,
                        value,
                    });
                    return Ok(());
                }
                let text = match (&tree.node, text) {
                    (Node::String(text), _) => text.clone(),
                    (Node::Null | Node::Bool(_) | Node::Number(_), Some(text)) => {
                        text.to_owned().into()
                    }
                    _ => return Err(wrong(tree.position, "a name in an object must be a text")),
                };
                *name = Some((text, tree.position));
            }
        }
        Ok(())
    }
}

/// The entries with those of merge keys (`<<`), which never replace others.
fn merged(entries: Vec<Entry<'static>>) -> Result<Vec<Entry<'static>>, ParseError> {
    if !entries.iter().any(|entry| entry.name == "<<") {
        return Ok(entries);
    }
    let (merges, mut entries): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.name == "<<");
    let mut names: HashSet<Cow<'_, str>> = entries.iter().map(|entry| entry.name.clone()).collect();
    for merge in merges {
        let sources = match merge.value.node {
            Node::List(items) => items,
            _ => vec![merge.value],
        };
        for source in sources {
            let Node::Object(others) = source.node else {
                return Err(wrong(
                    source.position,
                    "`<<` takes an object or a list of objects",
                ));
            };
            for other in others {
                if names.insert(other.name.clone()) {
                    entries.push(other);
                }
            }
        }
    }
    Ok(entries)
}

fn depth(tree: &Tree<'_>) -> usize {
    match &tree.node {
        Node::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Node::Object(entries) => {
            let depths = entries.iter().map(|entry| depth(&entry.value));
            1 + depths.max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn wrong(position: Position, message: &str) -> ParseError {
    ParseError {
        kind: Problem::Syntax,
        message: message.into(),
        position,
    }
}

/// The value of a scalar, by the core schema of YAML 1.2.
fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    position: Position,
) -> Result<Node<'static>, ParseError> {
    if let Some(tag) = tag {
        if tag.is_yaml_core_schema_tag("str") {
            return Ok(Node::String(Cow::Owned(text.into())));
        }
        if !tag.is_yaml_core_schema() {
            return Err(wrong(
                position,
                &format!("the tag `{}` has no meaning here", shown(&tag.original())),
            ));
        }
    }
    if style != ScalarStyle::Plain {
        return Ok(Node::String(Cow::Owned(text.into())));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" => Node::Bool(true),
        "false" | "False" | "FALSE" => Node::Bool(false),
        _ if is_number(text) => Node::Number(number(text).map_err(|message| ParseError {
            kind: Problem::WrongValue,
            message,
            position,
        })?),
        _ => match radix(text) {
            Some(value) => Node::Number(value.into()),
            None => Node::String(Cow::Owned(text.into())),
        },
    })
}

fn radix(text: &str) -> Option<u64> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 8),
        _ => return None,
    };
    u64::from_str_radix(digits, radix).ok()
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_number(text: &str) -> bool {
    fn digits(text: &str) -> (usize, &str) {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (text.len() - rest.len(), rest)
    }
    let (whole, rest) = digits(text.strip_prefix(['-', '+']).unwrap_or(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => (0, rest),
    };
    if whole + fraction == 0 {
        return false;
    }
    match rest.strip_prefix(['e', 'E']) {
        None => rest.is_empty(),
        Some(rest) => {
            let (exponent, rest) = digits(rest.strip_prefix(['-', '+']).unwrap_or(rest));
            exponent > 0 && rest.is_empty()
        }
    }
}
