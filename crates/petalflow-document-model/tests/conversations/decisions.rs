//! The node that follows a result: Python's comparisons.

use petalflow_document_model::conversations::decision::{
    Decision, DecisionError, LiteralError, Operator, Value,
};
use serde_json::{Value as Json, json};

fn evaluate(result: Json, operator: Operator, value: &str) -> Result<bool, DecisionError> {
    let mut decision = Decision::new("no");
    decision.when(operator, value, "yes").expect("a literal");
    decision.choose(&result).map(|node| node == "yes")
}

#[test]
fn f029_the_first_condition_that_is_true_wins() {
    let mut decision = Decision::new("default");
    decision.when(Operator::Greater, "10", "large").unwrap();
    decision.when(Operator::Greater, "5", "medium").unwrap();
    decision.when(Operator::Greater, "7", "never").unwrap();
    assert_eq!(decision.choose(&json!(11)).unwrap(), "large");
    assert_eq!(decision.choose(&json!(8)).unwrap(), "medium");
    assert_eq!(decision.choose(&json!(1)).unwrap(), "default");
}

#[test]
fn f029_a_condition_after_the_first_true_one_is_not_evaluated() {
    let mut decision = Decision::new("default");
    decision.when(Operator::Equal, "'a'", "text").unwrap();
    // A text has no order with a number. Python does not get this far.
    decision.when(Operator::Less, "5", "small").unwrap();
    assert_eq!(decision.choose(&json!("a")).unwrap(), "text");
    assert!(decision.choose(&json!("b")).is_err());
}

#[test]
fn f030_a_value_is_an_expression() {
    assert!(evaluate(json!(5), Operator::Equal, "5").unwrap());
    assert!(!evaluate(json!("5"), Operator::Equal, "5").unwrap());
    assert!(evaluate(json!("5"), Operator::Equal, "\"5\"").unwrap());
    assert!(!evaluate(json!(5), Operator::Equal, "'5'").unwrap());
}

#[test]
fn f030_a_word_without_quotes_is_a_name() {
    for name in ["small", "true", "null", "_x1", "größe"] {
        let error = name.parse::<Value>().unwrap_err();
        assert_eq!(error, LiteralError::Name(name.into()));
        assert_eq!(
            error.to_string(),
            format!("`{name}` is the name of a variable in Python: write `\"{name}\"` for a text")
        );
    }
}

#[test]
fn f031_not_ignores_its_value_and_is_true_of_false_things() {
    for false_value in [
        json!(null),
        json!(false),
        json!(0),
        json!(0.0),
        json!(""),
        json!([]),
        json!({}),
    ] {
        assert!(
            evaluate(false_value.clone(), Operator::Not, "not a literal").unwrap(),
            "{false_value}"
        );
    }
    for true_value in [
        json!(true),
        json!(-1),
        json!(0.1),
        json!("0"),
        json!([0]),
        json!({"a": null}),
    ] {
        assert!(
            !evaluate(true_value.clone(), Operator::Not, "").unwrap(),
            "{true_value}"
        );
    }
}

#[test]
fn f032_in_looks_into_lists_tuples_sets_dictionaries_and_texts() {
    for list in [
        "[1, 'a', None]",
        "(1, 'a', None,)",
        "{1, 'a', None}",
        "{1: 0, 'a': 0, None: 0}",
    ] {
        assert!(evaluate(json!("a"), Operator::In, list).unwrap(), "{list}");
        assert!(evaluate(json!(1.0), Operator::In, list).unwrap(), "{list}");
        assert!(evaluate(json!(null), Operator::In, list).unwrap(), "{list}");
        assert!(!evaluate(json!(0), Operator::In, list).unwrap(), "{list}");
        assert!(
            evaluate(json!("b"), Operator::NotIn, list).unwrap(),
            "{list}"
        );
    }
    assert!(evaluate(json!("ell"), Operator::In, "'hello'").unwrap());
    assert!(evaluate(json!(""), Operator::In, "'hello'").unwrap());
    assert!(evaluate(json!("x"), Operator::NotIn, "'hello'").unwrap());
}

#[test]
fn f032_in_with_a_value_that_cannot_contain_others_is_an_error() {
    assert_eq!(
        evaluate(json!(1), Operator::In, "'123'")
            .unwrap_err()
            .to_string(),
        "a `int` cannot be in a `str`: write a list, for example `[1, 2]`, in the condition"
    );
    assert!(matches!(
        evaluate(json!(1), Operator::NotIn, "5"),
        Err(DecisionError::NoContainer {
            item: "int",
            container: "int"
        })
    ));
    assert!(matches!(
        evaluate(json!([1]), Operator::In, "{1, 2}"),
        Err(DecisionError::Unhashable {
            item: "list",
            container: "set"
        })
    ));
}

#[test]
fn f033_types_without_an_order_are_an_error() {
    for (result, value) in [
        (json!("5"), "4"),
        (json!(5), "'4'"),
        (json!(null), "0"),
        (json!([1]), "(1,)"),
        (json!({}), "{}"),
        (json!(["a"]), "[1]"),
    ] {
        for operator in [
            Operator::Less,
            Operator::LessOrEqual,
            Operator::Greater,
            Operator::GreaterOrEqual,
        ] {
            let error = evaluate(result.clone(), operator, value).unwrap_err();
            assert!(
                matches!(error, DecisionError::Unordered { .. }),
                "{result} {value}"
            );
        }
    }
    assert_eq!(
        evaluate(json!("5"), Operator::Less, "4")
            .unwrap_err()
            .to_string(),
        "`str < int` has no answer: values of the types `str` and `int` have no order. Return a result of the type \
         that the condition has, or correct the condition"
    );
}

#[test]
fn f033_types_with_an_order_are_compared() {
    assert!(evaluate(json!("b"), Operator::Greater, "'a'").unwrap());
    assert!(evaluate(json!([1, 2]), Operator::Less, "[1, 3]").unwrap());
    assert!(evaluate(json!([1]), Operator::Less, "[1, 0]").unwrap());
    // The first items that differ decide, also if later ones have no order.
    assert!(evaluate(json!([1, "a"]), Operator::Less, "[2, 0]").unwrap());
    assert!(evaluate(json!(true), Operator::Greater, "0").unwrap());
    assert!(evaluate(json!(2), Operator::LessOrEqual, "2.0").unwrap());
    assert!(evaluate(json!(-3), Operator::GreaterOrEqual, "-3.0").unwrap());
    assert!(evaluate(json!(-3), Operator::Greater, "-3.5").unwrap());
}

#[test]
fn f034_equality_never_fails_and_numbers_are_equal_across_types() {
    assert!(evaluate(json!(1), Operator::Equal, "1.0").unwrap());
    assert!(evaluate(json!(true), Operator::Equal, "1").unwrap());
    assert!(evaluate(json!(0), Operator::Equal, "False").unwrap());
    assert!(evaluate(json!("1"), Operator::NotEqual, "1").unwrap());
    assert!(evaluate(json!([1]), Operator::NotEqual, "(1,)").unwrap());
    assert!(evaluate(json!({"a": [1]}), Operator::Equal, "{'a': [1.0]}").unwrap());
    assert!(evaluate(json!(null), Operator::Equal, "None").unwrap());
    assert!(evaluate(json!(null), Operator::NotEqual, "0").unwrap());
}

#[test]
fn f034_whole_numbers_and_floats_are_compared_exactly() {
    let large = 1_i64 << 53;
    assert!(evaluate(json!(large), Operator::Equal, "9007199254740992.0").unwrap());
    assert!(!evaluate(json!(large + 1), Operator::Equal, "9007199254740992.0").unwrap());
    assert!(evaluate(json!(u64::MAX), Operator::Less, "1e300").unwrap());
    assert!(evaluate(json!(i64::MIN), Operator::Greater, "-1e300").unwrap());
}

#[test]
fn f035_without_conditions_the_default_follows() {
    assert_eq!(
        Decision::new("end").choose(&json!({"a": 1})).unwrap(),
        "end"
    );
}

#[test]
fn f036_an_empty_value_is_an_error() {
    for value in ["", "   "] {
        let error = Decision::new("end")
            .when(Operator::Equal, value, "next")
            .unwrap_err();
        assert_eq!(error, LiteralError::Empty);
    }
}

#[test]
fn f030_literals() {
    for (text, debug) in [
        ("-1_000", "Int(-1000)"),
        ("00", "Int(0)"),
        (" .5 ", "Float(0.5)"),
        ("1e3", "Float(1000.0)"),
        ("5.", "Float(5.0)"),
        (r#""a\"\n\u00e9\x41""#, r#"Text("a\"\néA")"#),
        ("()", "Tuple([])"),
        ("(1)", "Int(1)"),
        ("(1,)", "Tuple([Int(1)])"),
        ("[ 1 , 2 , ]", "List([Int(1), Int(2)])"),
        ("{}", "Dict([])"),
        ("{1}", "Set([Int(1)])"),
    ] {
        assert_eq!(
            format!("{:?}", text.parse::<Value>().unwrap()),
            debug,
            "{text}"
        );
    }
    for text in [
        "5 or 6",
        "'open",
        "[1",
        "{[1]: 2}",
        "{1: 2, 3}",
        "01",
        "[,]",
        "1,2",
        "f()",
        "'a' 'b'",
        "\"\\q\"",
        "1__0",
    ] {
        assert!(
            matches!(text.parse::<Value>(), Err(LiteralError::Syntax { .. })),
            "{text}"
        );
    }
}

#[test]
fn a_deep_literal_is_an_error_in_bounded_time() {
    for open in ["[", "(", "{", "{1:", "[{"] {
        assert!(open.repeat(100_000).parse::<Value>().is_err());
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_value_or_an_error(text in "[\\[\\](){}:,'\"\\\\a-c0-2 .eE+-]{0,40}") {
        let _ = text.parse::<Value>();
    }

    #[test]
    fn numbers_of_json_compare_with_themselves(number in proptest::num::f64::NORMAL) {
        let literal = format!("{number:?}");
        let equal = evaluate(json!(number), Operator::Equal, &literal);
        proptest::prop_assert!(equal.unwrap());
    }
}
