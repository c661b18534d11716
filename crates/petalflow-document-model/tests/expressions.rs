//! The expression language, rows P186 to P194.

use petalflow_document_model::expression::Expression;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn variables() -> Map<String, Value> {
    let Value::Object(vars) = json!({
        "n": 7, "x": 2.5, "s": "petal", "e": "", "t": true, "f": false, "z": null,
        "list": [1, "two", [3]],
        "obj": { "a": { "b": 1 }, "in": 5, "with space": 6 },
        "umlaut": "für",
    }) else {
        unreachable!("it is an object")
    };
    vars
}

fn eval(text: &str) -> Value {
    let expression = Expression::parse(text);
    let expression = expression.unwrap_or_else(|error| panic!("{text}: {error}"));
    let value = expression.evaluate(&variables());
    value.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn problem(text: &str) -> String {
    let error = Expression::parse(text);
    error.expect_err("it cannot be parsed").to_string()
}

fn assert_values(cases: &[(&str, Value)]) {
    for (text, value) in cases {
        assert_eq!(&eval(text), value, "{text}");
    }
}

#[test]
fn p186_operators_and_values() {
    assert_values(&[
        ("n == 7", json!(true)),
        ("n != 7", json!(false)),
        ("n > 6 && n >= 7 && n < 8 && n <= 7", json!(true)),
        ("!t", json!(false)),
        ("!!s", json!(true)),
        ("z ?? n", json!(7)),
        (r#""two" in list"#, json!(true)),
        ("2 in [1, 2.0]", json!(true)),
        (r#"obj has "a""#, json!(true)),
        (r#"obj has "b""#, json!(false)),
        (r#"s contains "eta""#, json!(true)),
        (r#"s startsWith "pe""#, json!(true)),
        (r#"s endsWith "al""#, json!(true)),
        (r#"s matches "^p.t""#, json!(true)),
        ("obj.a.b", json!(1)),
        ("list[1]", json!("two")),
        ("list[2][0]", json!(3)),
        (r#"obj["with space"]"#, json!(6)),
        (r#"obj["a"].b"#, json!(1)),
        ("list.length", json!(3)),
        ("s.length", json!(5)),
        ("obj.length", json!(3)),
        ("[]", json!([])),
        (
            "[1, -2, 2.5, \"a\", true, null, [n]]",
            json!([1, -2, 2.5, "a", true, null, [7]]),
        ),
        ("[n, s][1]", json!("petal")),
        ("(n)", json!(7)),
        ("-3 < n", json!(true)),
    ]);
    assert_eq!(
        problem("a = b"),
        "unexpected character `=` (`==` compares) at position 2"
    );
    assert_eq!(
        problem("len(tags) > 0"),
        "unexpected `(` (there are no functions; a length is `name.length`) at position 3"
    );
    assert_eq!(problem("1 (2)"), "unexpected `(` at position 2");
    assert_eq!(
        problem("n and s"),
        "unexpected `and` (`&&` is and) at position 2"
    );
    assert_eq!(
        problem("n OR s"),
        "unexpected `OR` (`||` is or) at position 2"
    );
    assert_eq!(
        problem("not n"),
        "unexpected `n` (`!` is not) at position 4"
    );
    assert_eq!(
        problem("n \u{1b}[31m"),
        "unexpected character `\\u{1b}` at position 2"
    );
    assert_eq!(
        problem("n \"a\u{7}\""),
        "unexpected text \"a\\u{7}\" at position 2"
    );
    let long = "9".repeat(10_000);
    assert!(problem(&long).len() < 300 && problem(&format!("n {long}")).len() < 300);
    assert_eq!(
        problem(""),
        "unexpected end of the expression at position 0"
    );
    assert_eq!(problem("a b"), "unexpected `b` at position 2");
    assert_eq!(
        problem("[1, 2"),
        "expected `]`, found end of the expression at position 5"
    );
    assert_eq!(
        problem("a."),
        "expected a name after `.`, found end of the expression at position 2"
    );
    assert_eq!(problem("a == in"), "unexpected `in` at position 5");
}

#[test]
fn p187_precedence() {
    assert_values(&[
        // `f == (n > 6)` would be false, `(f == n) > 6` is false too; with `true` they differ.
        ("t == n > 6", json!(true)),
        ("f || t && f", json!(false)),
        ("t || t && f", json!(true)),
        ("z ?? f || t", json!(true)),
        ("!f == t", json!(true)),
        ("!(f == t)", json!(true)),
        ("n > 6 == n < 8", json!(true)),
        (r#"s contains "p" && s contains "x""#, json!(false)),
        (r#"s contains "p" == t"#, json!(true)),
        ("!list[0] == f", json!(true)),
    ]);
    assert_eq!(problem("1 in [1] in [t]"), "unexpected `in` at position 9");
    assert_eq!(
        problem(r#"s contains "a" matches "b""#),
        "unexpected `matches` at position 15"
    );
}

#[test]
fn p188_and_and_or_are_boolean_and_lazy() {
    assert_values(&[
        ("n && s", json!(true)),
        ("n && e", json!(false)),
        ("e || n", json!(true)),
        ("e || z", json!(false)),
        ("z ?? e", json!("")),
        ("f ?? n", json!(false)),
        // The right side would fail.
        (r#"f && s matches obj["p"]"#, json!(false)),
    ]);
    let lazy = |text: &str| {
        let expression = Expression::parse(text).expect("it parses");
        let mut vars = variables();
        vars.insert("bad".into(), json!("("));
        expression.evaluate(&vars)
    };
    assert_eq!(lazy("f && s matches bad"), Ok(json!(false)));
    assert_eq!(lazy("t || s matches bad"), Ok(json!(true)));
    assert_eq!(lazy("n ?? s matches bad"), Ok(json!(7)));
    assert!(lazy("t && s matches bad").is_err());
}

#[test]
fn p189_a_missing_value_is_null() {
    for text in [
        "nothing",
        "nothing.at.all",
        "obj.missing",
        "s.missing",
        "n.length",
        "list[3]",
        "list[-1]",
        "list[0.5]",
        "list[99999999999999999999]",
        "list[t]",
        "obj[0]",
        "s[0]",
        "z[0]",
        "list.a",
    ] {
        assert_eq!(eval(text), json!(null), "{text}");
    }
}

#[test]
fn p190_equality_and_order() {
    assert_values(&[
        (r#"null == """#, json!(false)),
        ("null == 0", json!(false)),
        ("null == nothing", json!(true)),
        ("1 == 1.0", json!(true)),
        ("[1] == [1.0]", json!(true)),
        (r#""1" == 1"#, json!(false)),
        (r#""a" < "b""#, json!(true)),
        (r#""a" < "B""#, json!(false)),
        (r#"2 < "3""#, json!(false)),
        (r#"2 >= "3""#, json!(false)),
        ("null < 1", json!(false)),
        ("f < t", json!(false)),
    ]);
}

#[test]
fn p191_texts_are_searched_in_texts_only() {
    for text in [
        "n contains 7",
        r#"list contains "two""#,
        r#"n startsWith "7""#,
        r#"z endsWith """#,
        r#"n matches "7""#,
        "s matches n",
        r#"s contains "PETAL""#,
    ] {
        assert_eq!(eval(text), json!(false), "{text}");
    }
    // A constant pattern is checked when the expression is parsed, another one when it is used.
    let error = problem(r#"s matches "(""#);
    assert!(
        error.starts_with("`(` is not a regular expression"),
        "{error}"
    );
    assert!(error.ends_with("at position 10"), "{error}");
    let expression = Expression::parse("s matches p").expect("it parses");
    let mut vars = variables();
    vars.insert("p".into(), json!("("));
    let error = expression
        .evaluate(&vars)
        .expect_err("the pattern is wrong");
    assert!(
        error.to_string().contains("not a regular expression"),
        "{error}"
    );
}

#[test]
fn p192_keywords_are_names_after_a_dot() {
    assert_values(&[
        ("obj.in", json!(5)),
        ("obj.in == 5", json!(true)),
        ("obj.null", json!(null)),
    ]);
}

#[test]
fn p193_texts_and_their_escapes() {
    assert_values(&[
        (r#""say \"hi\"""#, json!("say \"hi\"")),
        (r#""a\\b""#, json!("a\\b")),
        (r#""a\/b""#, json!("a/b")),
        (r#""a\nb\tc\rd""#, json!("a\nb\tc\rd")),
        (r#""a\xb""#, json!("a\\xb")),
        (r#""ü\üü""#, json!("ü\\üü")),
        (r#""""#, json!("")),
    ]);
    assert_eq!(
        problem(r#"s == "open"#),
        "unterminated string at position 5"
    );
    assert_eq!(problem(r#""end\"#), "unterminated string at position 0");
    assert_eq!(
        problem("'single'"),
        "unexpected character `'` (texts are in double quotes) at position 0"
    );
}

#[test]
fn p194_the_length_of_a_text_is_its_characters() {
    // Upstream counts bytes: 4.
    assert_eq!(eval("umlaut.length"), json!(3));
}

#[test]
fn deep_expressions_are_refused_in_bounded_memory() {
    for text in [
        "(".repeat(10_000),
        "!".repeat(10_000),
        "[".repeat(10_000),
        format!("a{}", ".b".repeat(10_000)),
        format!("a{}", "[0]".repeat(10_000)),
        format!("a{}", " && a".repeat(10_000)),
        format!("a{}", "[a".repeat(10_000)),
    ] {
        let error = Expression::parse(&text).expect_err("it is too deep");
        assert!(
            error.to_string().contains("deeper than 100 levels"),
            "{error}"
        );
    }
    let wide = format!("n in [{}]", vec!["1"; 10_000].join(", "));
    assert_eq!(eval(&wide), json!(false));
    let huge = problem(r#"s matches "(a{1000}){1000}""#);
    assert!(huge.contains("use smaller repetitions"), "{huge}");
}

#[test]
fn long_expressions_are_refused_before_they_are_read() {
    let error = Expression::parse(&"(".repeat(1 << 20)).expect_err("it is too long");
    assert_eq!(
        error.to_string(),
        "the expression has more than 65536 bytes at position 0"
    );
    let names: Vec<String> = (0..9_000).map(|n| format!("n{n}")).collect();
    let expression = Expression::parse(&format!("[{}]", names.join(", "))).expect("it is wide");
    assert!(expression.reads("n8999") && !expression.reads("n9000"));
}

#[test]
fn all_patterns_of_an_expression_have_a_limit_together() {
    let patterns = |count: usize| {
        let patterns = vec![r#"s matches "\w{20}""#; count].join(", ");
        Expression::parse(&format!("[{patterns}]"))
    };
    let few = patterns(3).expect("they are small enough");
    assert!(few.pattern_bytes() > 0 && few.pattern_bytes() <= 4 << 20);
    let error = patterns(2_000).expect_err("they are too large").to_string();
    assert!(
        error.contains(
            "the regular expressions of the expression need more than 4194304 bytes together"
        ),
        "{error}"
    );
    // From a variable, one pattern at a time: the work is limited in the same way.
    let many = format!("[{}]", vec!["s matches p"; 5_000].join(", "));
    let many = Expression::parse(&many).expect("it has no pattern of its own");
    let mut vars = variables();
    vars.insert("p".into(), json!(r"\w{20}"));
    let error = many.evaluate(&vars).expect_err("they are too large");
    assert!(
        error
            .to_string()
            .contains("more than 4194304 bytes together"),
        "{error}"
    );
    vars.insert("p".into(), json!("("));
    let error = many
        .evaluate(&vars)
        .expect_err("it is not a pattern")
        .to_string();
    assert!(
        error.starts_with("the right side of `matches` is wrong: `(`"),
        "{error}"
    );
}

#[test]
fn lists_do_not_copy_large_variables_without_limit() {
    let mut vars = variables();
    vars.insert("large".into(), json!("x".repeat(1 << 20)));
    let copies = |count: usize| {
        let list = format!("\"y\" in [{}]", vec!["large"; count].join(", "));
        Expression::parse(&list).expect("it parses").evaluate(&vars)
    };
    assert_eq!(copies(15), Ok(json!(false)));
    let error = copies(5_000).expect_err("it is too much").to_string();
    assert_eq!(
        error,
        "the lists of the expression copy more than 16777216 bytes of the variables"
    );
}

#[test]
fn the_message_about_a_long_pattern_is_short() {
    let error = problem(&format!("s matches \"({}\"", "a".repeat(50_000)));
    assert!(error.len() < 500, "{} bytes", error.len());
}

fn expression() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "n",
        "list",
        "obj",
        "in",
        "has",
        "contains",
        "matches",
        "startsWith",
        "true",
        "null",
        "1",
        "-2.5",
        "\"x\"",
        "\"[\"",
        "\"\\",
        "\"",
        "(",
        ")",
        "[",
        "]",
        ".",
        ",",
        "!",
        "==",
        "!=",
        "<",
        ">=",
        "&&",
        "||",
        "??",
        "&",
        "=",
        "ü",
        " ",
        "length",
        "0",
        "99999999999999999999",
    ]);
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

/// An expression that follows the language.
fn correct() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "n", "list", "obj", "s", "missing", "true", "null", "1", "-2.5", "\"x\"", "\"ü\"",
        "[]",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(6, 40, 3, |inner| {
            let op = prop::sample::select(vec![
                "==",
                "!=",
                "<",
                "<=",
                ">",
                ">=",
                "&&",
                "||",
                "??",
                "contains",
                "startsWith",
                "endsWith",
                "in",
                "has",
            ]);
            prop_oneof![
                (inner.clone(), op, inner.clone())
                    .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
                inner.clone().prop_map(|a| format!("!({a})")),
                inner.clone().prop_map(|a| format!("({a}).length")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
                prop::collection::vec(inner.clone(), 0..3)
                    .prop_map(|items| format!("[{}]", items.join(", "))),
                inner.prop_map(|a| format!("({a}) matches \"^(a+)+$\"")),
            ]
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_words_are_an_expression_or_an_error(text in expression()) {
        match Expression::parse(&text) {
            Ok(expression) => drop(expression.evaluate(&variables())),
            Err(error) => prop_assert!(error.position <= text.len(), "{error}"),
        }
    }

    #[test]
    fn random_expressions_have_a_value_and_no_space_changes_it(text in correct()) {
        let expression = Expression::parse(&text);
        prop_assert!(expression.is_ok(), "{text}: {expression:?}");
        let value = expression.unwrap().evaluate(&variables());
        let spread = text.replace('(', " ( ").replace(',', " ,\n");
        let again = Expression::parse(&spread).map(|it| it.evaluate(&variables()));
        prop_assert_eq!(again, Ok(value));
    }

    #[test]
    fn random_characters_are_an_expression_or_an_error(text in "\\PC{0,40}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(text.is_char_boundary(error.position), "{error}");
        }
    }
}
