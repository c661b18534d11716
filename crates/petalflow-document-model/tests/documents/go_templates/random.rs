//! Generates templates with their variables. Most of them can be filled.

use serde_json::{Map, Value, json};

/// A source of templates. The same seed gives the same ones.
pub(super) struct Random {
    state: u64,
    /// The variables `$x` that are in scope, with the types of their values.
    locals: Vec<(String, Kind)>,
    in_range: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Text,
    Bool,
}

/// The variables and their types. Their names are also those of functions and constants of other languages.
const VARS: [(&str, Kind); 12] = [
    ("n", Kind::Number),
    ("zero", Kind::Number),
    ("o.n", Kind::Number),
    ("or", Kind::Number),
    ("s", Kind::Text),
    ("empty", Kind::Text),
    ("print", Kind::Text),
    ("o.in", Kind::Text),
    ("none", Kind::Text),
    ("yes", Kind::Bool),
    ("true", Kind::Bool),
    ("o.not", Kind::Bool),
];

const TEXTS: [&str; 12] = [
    "\"\"",
    "\"a\"",
    "\"b c\"",
    "\"\\x41\"",
    "\"\\u00e9\"",
    "\"\\n\"",
    "`raw \"x\"`",
    "\"{{\"",
    "\"}}\"",
    "\"\\\"\"",
    "\"\\101\"",
    "\"ß\"",
];

const NUMBERS: [&str; 9] = ["0", "1", "2", "-1", "0x1F", "017", "1_000", "'a'", "42"];

const PLAIN: [&str; 12] = [
    " ", "\n", "a", "b ", " c", "{", "}", "{%", "{#", "ü", "\t\n x", "end",
];

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            locals: Vec::new(),
            in_range: false,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let bound = u64::try_from(bound).expect("it is small");
        usize::try_from(self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound.max(1))
            .expect("it is small")
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }

    /// A template and its variables.
    pub(super) fn template(&mut self) -> (String, Map<String, Value>) {
        self.locals.clear();
        self.in_range = false;
        let mut text = String::new();
        let defines = self.below(4) == 0;
        if defines {
            text.push_str("{{define \"t\"}}");
            let body = self.nodes(1);
            text.push_str(&body);
            text.push_str("{{end}}");
            self.locals.clear();
        }
        text.push_str(&self.nodes(3));
        if defines {
            text.push_str("{{template \"t\" .}}");
        }
        (text, self.vars())
    }

    fn vars(&mut self) -> Map<String, Value> {
        let numbers = [json!(0), json!(1), json!(2), json!(-7), json!(1000)];
        let number = |random: &mut Self| numbers[random.below(numbers.len())].clone();
        let text = |random: &mut Self| json!(random.one_of(&["", "a", "b c", "A", "é", "x\"y"]));
        let item = |random: &mut Self| match random.below(3) {
            0 => text(random),
            _ => number(random),
        };
        let count = self.below(4);
        let list: Vec<Value> = (0..count).map(|_| item(self)).collect();
        let float = [
            json!(1.5),
            json!(0.25),
            json!(1e21),
            json!(2_500_000.5),
            json!(1e-7),
        ];
        let vars = json!({
            "n": number(self), "zero": 0, "or": number(self), "s": text(self), "empty": "", "print": text(self),
            "none": text(self), "yes": self.below(2) == 0, "true": true, "f": float[self.below(float.len())],
            "o": { "n": number(self), "in": text(self), "not": false, "list": [1, 2] }, "list": list, "null": null,
            "deep": { "a": { "b": item(self) } },
        });
        match vars {
            Value::Object(vars) => vars,
            _ => Map::new(),
        }
    }

    fn nodes(&mut self, depth: usize) -> String {
        let scope = self.locals.len();
        let count = 1 + self.below(4);
        let nodes = (0..count).map(|_| self.node(depth)).collect();
        self.locals.truncate(scope);
        nodes
    }

    fn node(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 8 } else { 14 }) {
            0..=2 => self.one_of(&PLAIN).to_owned(),
            3 | 4 => {
                let kind = self.kind();
                let value = self.value(kind, 2);
                self.action(&value)
            }
            5 => {
                let value = self.other();
                self.action(&value)
            }
            6 => {
                let kind = self.kind();
                let value = self.value(kind, 1);
                let name = format!("${}", self.one_of(&["x", "y", "z"]));
                self.locals.push((name.clone(), kind));
                self.action(&format!("{name} := {value}"))
            }
            7 => {
                let Some((name, kind)) = self.local() else {
                    return "{{/* none */}}".into();
                };
                let value = self.value(kind, 1);
                self.action(&format!("{name} = {value}"))
            }
            8..=10 => self.condition(depth),
            11 => self.with(),
            _ => self.range(depth),
        }
    }

    /// An action, with trim marks now and then.
    fn action(&mut self, inside: &str) -> String {
        let left = self.one_of(&["{{", "{{ ", "{{- ", "{{"]);
        let right = self.one_of(&["}}", " }}", " -}}", "}}"]);
        format!("{left}{inside}{right}")
    }

    fn kind(&mut self) -> Kind {
        [Kind::Number, Kind::Text, Kind::Bool][self.below(3)]
    }

    fn local(&mut self) -> Option<(String, Kind)> {
        let index = self.below(self.locals.len());
        self.locals.get(index).cloned()
    }

    fn condition(&mut self, depth: usize) -> String {
        let kind = self.kind();
        let value = match self.below(5) {
            0 => ".null".to_owned(),
            1 => ".list".to_owned(),
            _ => self.value(kind, 2),
        };
        let mut text = self.action(&format!("if {value}"));
        text.push_str(&self.nodes(depth - 1));
        if self.below(3) == 0 {
            let value = self.value(Kind::Bool, 1);
            text.push_str(&self.action(&format!("else if {value}")));
            text.push_str(&self.nodes(depth - 1));
        }
        if self.below(2) == 0 {
            text.push_str(&self.action("else"));
            text.push_str(&self.nodes(depth - 1));
        }
        text + &self.action("end")
    }

    fn with(&mut self) -> String {
        let kind = self.kind();
        let value = self.value(kind, 1);
        let scope = self.locals.len();
        let declared = if self.below(2) == 0 {
            self.locals.push(("$w".into(), kind));
            "$w := "
        } else {
            ""
        };
        // The dot is the value, so only `$` reaches the variables.
        let inside = self.one_of(&["{{.}}", "{{$.n}}", "{{print . $.s}}", "{{$.o.in}}"]);
        let text = format!("{{{{with {declared}{value}}}}}{inside}");
        self.locals.truncate(scope);
        text + self.one_of(&["{{end}}", "{{else}}{{.n}}{{end}}"])
    }

    fn range(&mut self, depth: usize) -> String {
        let list = self.one_of(&[
            ".list",
            ".o.list",
            ".deep",
            ".o",
            ".null",
            "(slice .o.list 1)",
            "$.list",
        ]);
        let declared = self.one_of(&["", "$v := ", "$i, $v := "]);
        let mut inside: Vec<&str> = vec![
            "{{.}}",
            " ",
            "{{$.n}}",
            "{{if $.yes}}{{continue}}{{end}}",
            "{{if $.true}}{{break}}{{end}}",
        ];
        if declared.contains("$v") {
            inside.extend([
                "{{$v}}",
                "{{print $v \"-\"}}",
                "{{$v := 1}}{{$v}}",
                "{{$v = 2}}{{$v}}",
            ]);
        }
        if declared.contains("$i") {
            inside.extend(["{{$i}}", "{{if $i}},{{end}}"]);
        }
        let count = 1 + self.below(3);
        let body: String = (0..count).map(|_| self.one_of(&inside)).collect();
        let mut text = format!("{{{{range {declared}{list}}}}}{body}");
        if self.below(3) == 0 {
            text.push_str("{{else}}");
            text.push_str(&self.nodes(depth - 1));
        }
        text + "{{end}}"
    }

    /// A value of a type.
    fn value(&mut self, kind: Kind, depth: usize) -> String {
        let fitting: Vec<String> = self
            .locals
            .iter()
            .filter(|(_, it)| *it == kind)
            .map(|(name, _)| name.clone())
            .collect();
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 if !fitting.is_empty() => {
                // Another variable of this name may be nearer, of another type.
                let name = &fitting[self.below(fitting.len())];
                let nearest = self.locals.iter().rev().find(|(it, _)| it == name);
                match nearest {
                    Some((name, it)) if *it == kind => name.clone(),
                    _ => self.variable(kind),
                }
            }
            0..=2 => self.variable(kind),
            3 => self.constant(kind),
            _ => self.function(kind, depth - 1),
        }
    }

    fn variable(&mut self, kind: Kind) -> String {
        let fitting: Vec<&str> = VARS
            .iter()
            .filter(|(_, it)| *it == kind)
            .map(|(name, _)| *name)
            .collect();
        format!(
            "{}{}",
            self.one_of(&[".", ".", "$."]),
            self.one_of(&fitting)
        )
    }

    fn constant(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Number => self.one_of(&NUMBERS),
            Kind::Text => self.one_of(&TEXTS),
            Kind::Bool => self.one_of(&["true", "false"]),
        }
        .to_owned()
    }

    /// An argument: functions are in parentheses.
    fn argument(&mut self, kind: Kind, depth: usize) -> String {
        let value = self.value(kind, depth);
        if value.contains(' ') && !value.starts_with(['"', '`']) || value.contains('|') {
            format!("({value})")
        } else {
            value
        }
    }

    fn function(&mut self, kind: Kind, depth: usize) -> String {
        let of = match self.below(2) {
            0 => Kind::Number,
            _ => Kind::Text,
        };
        match kind {
            Kind::Number => match self.below(3) {
                0 => format!("len {}", self.argument(Kind::Text, depth)),
                1 => "index .o.list 1".into(),
                _ => "len .list".into(),
            },
            Kind::Text => match self.below(8) {
                0 => format!(
                    "print {} {}",
                    self.argument(of, depth),
                    self.argument(Kind::Number, depth)
                ),
                1 => format!("upper {}", self.argument(Kind::Text, depth)),
                2 => format!(
                    "{} | printf \"%s-%v\" {}",
                    self.argument(Kind::Number, depth),
                    self.argument(Kind::Text, depth)
                ),
                3 => format!(
                    "printf \"{}\" {}",
                    self.one_of(&[
                        "%d", "%5d", "%-5d|", "%05d", "%x", "%+d", "%v", "%b", "%o", "%#x"
                    ]),
                    self.argument(Kind::Number, depth)
                ),
                4 => format!(
                    "printf \"{}\" {}",
                    self.one_of(&["%s", "%8s", "%-4s|", "%.1s", "%q", "%x", "%X"]),
                    self.argument(Kind::Text, depth)
                ),
                5 => format!(
                    "printf \"{}\" .f",
                    self.one_of(&["%f", "%.2f", "%8.1f", "%e", "%g", "%v", "%.3g", "%08.2f"])
                ),
                6 => format!("html {}", self.argument(Kind::Text, depth)),
                _ => format!("urlquery {}", self.argument(Kind::Text, depth)),
            },
            Kind::Bool => match self.below(6) {
                0 => format!("not {}", self.argument(of, depth)),
                1 | 2 => {
                    let name = self.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]);
                    format!(
                        "{name} {} {}",
                        self.argument(of, depth),
                        self.argument(of, depth)
                    )
                }
                3 => format!(
                    "eq {} {} {}",
                    self.argument(of, depth),
                    self.argument(of, depth),
                    self.argument(of, depth)
                ),
                4 => format!(
                    "and {} {}",
                    self.argument(Kind::Bool, depth),
                    self.argument(Kind::Bool, depth)
                ),
                _ => format!(
                    "or {} {}",
                    self.argument(Kind::Bool, depth),
                    self.argument(Kind::Bool, depth)
                ),
            },
        }
    }

    /// Values and mistakes that the types do not have.
    fn other(&mut self) -> String {
        let all = [
            ".f",
            ".null",
            ".list",
            ".o",
            ".deep.a.b",
            "json .o",
            "println .n .s",
            "index .deep \"a\" \"b\"",
            "print .null",
            "1.5",
            "1e3",
            "1000000.0",
            ".gone",
            "eq .n .s",
            "eq .list .list",
            "eq .null nil",
            "eq .null .n",
            "lt .yes true",
            "index .list 9",
            "index .list -1",
            "slice .s 0 9",
            "or .empty .zero .s",
            "and .n .s",
            "len .n",
            ".s.x",
            "lt .null 1",
            "eq .n 1 2 3",
            "printf \"%v %v\" .list .o",
            "not .list",
            "(index .o.list 0)",
            "slice \"abc\" 1 2",
            "$.n",
            "len .",
        ];
        self.one_of(&all).to_owned()
    }
}
