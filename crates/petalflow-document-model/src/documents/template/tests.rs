use serde_json::{Value, json};

use super::{MissingValue, Template, Variables};

fn render(text: &str, vars: &Value, missing: MissingValue) -> Result<String, String> {
    let template = Template::parse(text).map_err(|error| error.to_string())?;
    let vars = vars.as_object().expect("the variables are an object");
    let rendered = template.render(&Variables::new(vars), missing);
    rendered.map_err(|error| error.to_string())
}

fn filled(text: &str, vars: &Value) -> String {
    render(text, vars, MissingValue::Error).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_variable_of_a_block_ends_with_it_and_an_assignment_changes_the_outer_one() {
    let vars = json!({ "n": 1, "list": [1, 2] });
    for (text, expected) in [
        (r#"{{$x := "a"}}{{if .n}}{{$x := "b"}}{{end}}{{$x}}"#, "a"),
        (r#"{{$x := "a"}}{{if .n}}{{$x = "b"}}{{end}}{{$x}}"#, "b"),
        (r"{{$x := 0}}{{range .list}}{{$x = .}}{{end}}{{$x}}", "2"),
        (r"{{with $y := .n}}{{$y}}{{.}}{{end}}", "11"),
        (
            r"{{range $i, $x := .list}}{{$i}}:{{$x}} {{end}}",
            "0:1 1:2 ",
        ),
    ] {
        assert_eq!(filled(text, &vars), expected, "{text}");
    }
    let gone = Template::parse("{{if .n}}{{$x := 1}}{{end}}{{$x}}").unwrap_err();
    assert_eq!(gone.problem, "there is no variable `$x` here");
}

#[test]
fn a_missing_value_is_an_error_unless_it_is_a_condition() {
    let vars = json!({ "user": {}, "null": null });
    for text in [
        "{{.gone}}",
        r#"{{if eq .gone "a"}}{{end}}"#,
        r#"{{if ne .gone "a"}}{{end}}"#,
        "{{if lt .gone 1}}{{end}}",
        "{{with len .gone}}{{end}}",
        r#"{{if and true (eq .gone "a")}}{{end}}"#,
        "{{$x := .gone}}{{$x}}",
        r#"{{index . "gone"}}"#,
    ] {
        let error = render(text, &vars, MissingValue::Error).expect_err(text);
        assert_eq!(error, "the template cannot be filled: `gone` has no value");
    }
    for (text, expected) in [
        ("{{if .gone}}a{{else}}b{{end}}", "b"),
        ("{{range .gone}}a{{else}}b{{end}}", "b"),
        ("{{with .gone}}a{{else with .user}}c{{else}}b{{end}}", "b"),
        (
            r#"{{.gone | default "x"}}{{coalesce .gone .null "y"}}{{not .gone}}"#,
            "xytrue",
        ),
        (r#"{{if and .gone (eq .gone "a")}}a{{else}}b{{end}}"#, "b"),
    ] {
        assert_eq!(filled(text, &vars), expected, "{text}");
    }
    let inner = render("{{.user.name.first}}", &vars, MissingValue::Error);
    assert!(inner.unwrap_err().contains("`user.name.first`"));
    let empty = |text: &str| render(text, &vars, MissingValue::Empty);
    assert_eq!(
        empty(r#"[{{.gone.x}}]{{eq .gone ""}}"#).as_deref(),
        Ok("[]true")
    );
}

/// The expected texts are those of Go's `text/template` without an option, with the functions of PetalFlow.
#[test]
fn f45_a_missing_value_can_be_written_as_in_go() {
    let vars = json!({ "name": "Ann", "null": null, "user": {} });
    let no_value = |text: &str| render(text, &vars, MissingValue::NoValue);
    for (text, expected) in [
        ("[{{.gone}}]", "[<no value>]"),
        ("[{{.user.name.first}}]", "[<no value>]"),
        (
            "[{{$.gone}}]{{$a := .gone}}[{{$a}}]",
            "[<no value>][<no value>]",
        ),
        ("{{if .gone}}a{{else}}b{{end}}", "b"),
        (r#"{{.gone | default "x"}}{{.name}}"#, "xAnn"),
        ("{{eq .gone 1}}", "false"),
        ("{{json .gone}}", "null"),
    ] {
        assert_eq!(no_value(text).as_deref(), Ok(expected), "{text}");
    }
    // Go: "invalid value; expected string".
    for text in [
        "{{upper .gone}}",
        r#"{{.gone | contains "a"}}"#,
        r#"{{split .gone ","}}"#,
    ] {
        let error = no_value(text).expect_err(text);
        assert!(error.contains("`gone` has no value"), "{text}: {error}");
    }
}

#[test]
fn variables_with_the_names_of_functions_and_keywords_are_variables() {
    let names = [
        "print", "coalesce", "or", "true", "none", "if", "end", "in", "größe",
    ];
    for name in names {
        let vars = json!({ name: "v" });
        let text = format!(
            r#"{{{{.{name}}}}} {{{{print "a" .{name} | upper}}}} {{{{coalesce .{name} ""}}}}"#
        );
        assert_eq!(filled(&text, &vars), "v AV v", "{name}");
    }
}

#[test]
fn texts_have_the_escapes_of_go() {
    let text = r#"{{"\x41\u00e9\U0001F33C\101\n\"" }}{{'a'}}{{`\x41}}`}}"#;
    assert_eq!(filled(text, &json!({})), "Aé🌼A\n\"97\\x41}}");
    for wrong in [
        r#"{{"\xff"}}"#,
        r#"{{"\q"}}"#,
        r#"{{"\u12"}}"#,
        "{{'ab'}}",
        r#"{{"\ud800"}}"#,
    ] {
        assert!(Template::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn values_of_different_types_are_not_compared() {
    let vars = json!({ "n": 1, "f": 1.5, "t": "1", "b": true, "l": [1], "z": null });
    for text in [
        "{{eq .n .t}}",
        "{{lt .b true}}",
        "{{eq .l .l}}",
        "{{lt .z 1}}",
        "{{ne .b 1}}",
    ] {
        let error = render(text, &vars, MissingValue::Error).expect_err(text);
        assert!(error.contains("cannot be compared"), "{error}");
    }
    let text = "{{eq .n 1.0}} {{lt .n .f}} {{eq .z nil}} {{eq .n 2 1}} {{ge 2 .f}}";
    assert_eq!(filled(text, &vars), "true true true true true");
}

#[test]
fn functions_and_blocks_are_those_of_go_and_petalflow() {
    let vars = json!({
        "s": " Ann ", "list": ["a", "b"], "o": { "b": 1, "a": [1.5, true] }, "text": "a,b", "big": 1e21,
        "tags": [{ "n": 1 }, { "n": 2 }],
    });
    for (text, expected) in [
        (
            "{{.o}} {{.list | json}} {{json .o.a}}",
            r#"{"a":[1.5,true],"b":1} ["a","b"] [1.5,true]"#,
        ),
        ("{{.s | trim | upper}}", "ANN"),
        (
            r#"{{join .list ", "}} {{.list | join "-"}} {{join "+" .list}}"#,
            "a, b a-b a+b",
        ),
        (
            r#"{{index (split .text ",") 1}} {{.text | split "," | len}}"#,
            "b 2",
        ),
        (
            r#"{{.text | contains ","}} {{contains .list "c"}} {{hasPrefix .text "a"}}"#,
            "true false true",
        ),
        (
            r#"{{printf "%s: %05.1f|%-4d|%q" .text 2.25 7 "é\n"}}"#,
            r#"a,b: 002.2|7   |"é\n""#,
        ),
        (
            "{{.big}} {{1000000.0}} {{0x1f}} {{1_000}} {{.5}}",
            "1e+21 1e+06 31 1000 0.5",
        ),
        (
            "{{range $k, $v := .o}}{{$k}}={{$v}};{{end}}",
            "a=[1.5,true];b=1;",
        ),
        (
            "{{range .list}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}",
            "a",
        ),
        (
            "{{define \"t\"}}<{{.n}}>{{end}}{{range .tags}}{{template \"t\" .}}{{end}}",
            "<1><2>",
        ),
        ("a  {{- 1 -}}  b {{- /* no */ -}} c", "a1bc"),
        ("{{/* no */}}{% {# }} \n", "{% {# }} \n"),
        (
            r#"{{slice .text 0 1}}{{html "<a>"}}{{urlquery "a b"}}{{println 1 "a"}}"#,
            "a&lt;a&gt;a+b1 a\n",
        ),
        (
            r#"{{if and (eq .text "a,b") .list}}1{{else}}2{{end}}{{$.text}}"#,
            "1a,b",
        ),
    ] {
        assert_eq!(filled(text, &vars), expected, "{text}");
    }
}

#[test]
fn wrong_templates_say_where() {
    for (text, expected) in [
        (
            "a {{ name }}",
            "position 5: there is no function `name`: a variable is written `{{.name}}`",
        ),
        ("{{ .a", "position 0: `{{` has no `}}`"),
        ("{{if .a}}", "position 2: `if` has no `end`"),
        (
            "{{end}}",
            "position 2: `end` without `if`, `with` or `range`",
        ),
        ("{{else}}", "position 2: `else` without `if`"),
        (
            "{{if .a}}{{else}}{{else}}{{end}}",
            "position 19: a second `else`",
        ),
        (
            "{{range .a}}{{else if .b}}{{end}}",
            "position 14: `else if` without `if`",
        ),
        ("{{ .a .b }}", "position 6: a value cannot have arguments"),
        (
            "{{ .a | .b }}",
            "position 8: only a function can follow `|`",
        ),
        (
            "{{ template \"x\" }}",
            "position 3: there is no template `x`: it needs a `define`",
        ),
        ("{{ (.a }}", "position 3: `(` has no `)`"),
        ("{{ }}", "position 3: a value is missing"),
        ("{{ printf \"%y\" .a }}", "`printf` does not know `%y`"),
        ("{{ printf \"%s\" }}", "`printf` has too few values"),
        ("{{ {.a }}", "position 3: unexpected `{`"),
        ("{{ break }}", "`break` without `range`"),
        ("{{ eq .a }}", "`eq` does not take 1 arguments"),
        ("{{ .a\"b\" }}", "put a space before it"),
        ("{{ $x }}", "there is no variable `$x` here"),
        (
            "{{ $x, $y := .a }}",
            "at most 1 variables can be declared here",
        ),
    ] {
        let error = Template::parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn what_a_template_reads_is_known() {
    let template = Template::parse("{{.a.b}}{{$.c}}{{range .d}}{{.e}}{{end}}").unwrap();
    assert!(["a", "c", "d", "e"].iter().all(|name| template.reads(name)));
    assert!(!template.reads("b"));
    assert!(Template::parse("{{json .}}").unwrap().reads("anything"));
}

#[test]
fn deep_and_long_templates_are_refused_in_bounded_time() {
    for (text, expected) in [
        ("{{if .a}}".repeat(50_000), "40 blocks in each other"),
        (format!("{{{{ {}", "(".repeat(100_000)), "`{{` has no `}}`"),
        (
            format!("{{{{ {}.a{} }}}}", "(".repeat(400), ")".repeat(50)),
            "too many parentheses",
        ),
        (
            format!("{{{{{}.a{}}}}}", "(".repeat(100), ")".repeat(100)),
            "too many parentheses",
        ),
        (
            format!("{{{{.a{}}}}}", ".b".repeat(100_000)),
            "the action is too long",
        ),
        (
            format!("{{{{print{}}}}}", " .a".repeat(100_000)),
            "the action is too long",
        ),
        (
            format!("{{{{.a{}}}}}", " | upper".repeat(100_000)),
            "the action is too long",
        ),
        (
            format!("{{{{(index .a 0){}}}}}", ".b".repeat(100_000)),
            "the action is too long",
        ),
    ] {
        let error = Template::parse(&text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let branches = format!(
        "{{{{if .a}}}}x{}{{{{end}}}}",
        "{{else if .b}}y".repeat(10_000)
    );
    assert!(Template::parse(&branches).is_ok());
}

#[test]
fn a_run_is_limited() {
    let vars = json!({ "text": "x".repeat(1 << 20), "list": vec![0; 1_000] });
    let nested = "{{range $.list}}{{range $.list}}{{end}}{{end}}";
    for (text, expected) in [
        (
            format!("{{{{range .list}}}}{nested}{{{{end}}}}"),
            "takes more than 1000000 steps",
        ),
        (
            "{{range .list}}{{$.text}}{{end}}".into(),
            "makes more than 16777216 bytes",
        ),
        (
            format!("{{{{$x := \"ab\"}}}}{}", "{{$x = print $x $x}}".repeat(60)),
            "functions make more than",
        ),
        (
            "{{range .list}}{{$x := print $.text}}{{end}}".into(),
            "functions make more than",
        ),
        (
            "{{range .list}}{{range $.list}}{{if contains $.text \"y\"}}{{end}}{{end}}{{end}}"
                .into(),
            "functions read more",
        ),
        (
            "{{define \"t\"}}{{template \"t\" .}}{{end}}{{template \"t\" .}}".into(),
            "more than 100 blocks and templates",
        ),
    ] {
        let error = render(&text, &vars, MissingValue::Error).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}
