//! `TransformNode`, rows P142 to P150.

use petalflow_documents::document::GraphDefinition;
use petalflow_documents::kinds::{TransformConfig, TransformNode};
use petalflow_documents::{Envelope, Services, load};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

/// Transforms with these settings, and returns the variable `y`.
async fn transform(mut config: Value, variables: Value) -> Result<Value, String> {
    config["output_var"] = json!("y");
    let node = TransformNode::new(settings(config)).expect("they are settings");
    Ok(var(&run(node, vars(variables)).await?, "y"))
}

async fn transformed_value(config: Value, variables: Value) -> Value {
    transform(config, variables).await.expect("it transforms")
}

#[tokio::test]
async fn p142_kinds_and_required_settings() {
    let all = [
        json!({ "transform": "pick", "input_var": "o", "fields": ["a"] }),
        json!({ "transform": "omit", "input_var": "o", "fields": ["a"] }),
        json!({ "transform": "rename", "input_var": "o", "mapping": { "a": "b" } }),
        json!({ "transform": "flatten", "input_var": "o" }),
        json!({ "transform": "merge", "input_vars": ["o"] }),
        json!({ "transform": "template", "template": "x" }),
        json!({ "transform": "stringify", "input_var": "o" }),
        json!({ "transform": "parse", "input_var": "s" }),
        json!({ "transform": "map", "input_var": "l", "item_transform": { "transform": "template", "template": "x", "output_var": "z" } }),
    ];
    for config in all {
        let result = transform(
            config.clone(),
            json!({ "o": { "a": 1 }, "s": "1", "l": [1] }),
        )
        .await;
        assert!(result.is_ok(), "{config}: {result:?}");
        assert!(settings_error::<TransformConfig>(config).contains("output_var"));
    }
    let custom = TransformNode::custom("y", |envelope: &Envelope| Ok(envelope.vars.len().into()));
    let envelope = run(custom, vars(json!({ "a": 1 })))
        .await
        .expect("it counts");
    assert_eq!(var(&envelope, "y"), json!(1));
    assert!(
        settings_error::<TransformConfig>(json!({ "transform": "twist", "output_var": "y" }))
            .contains("twist")
    );
    let extra = json!({ "transform": "parse", "input_var": "x", "output_var": "y", "fields": [] });
    assert!(settings_error::<TransformConfig>(extra).contains("fields"));
    let problem = |config: Value| {
        TransformNode::new(settings(config))
            .expect_err("wrong")
            .field
    };
    assert_eq!(
        problem(json!({ "transform": "pick", "input_var": "o", "fields": [], "output_var": "y" })),
        "fields"
    );
    assert_eq!(
        problem(json!({ "transform": "template", "template": "{{", "output_var": "y" })),
        "template"
    );
    assert_eq!(
        problem(json!({ "transform": "template", "template": "x", "output_var": "" })),
        "output_var"
    );
}

#[tokio::test]
async fn p143_pick_keeps_the_places_of_fields() {
    let config = json!({ "transform": "pick", "input_var": "u", "fields": ["name", "address.city", "missing", "name.first"] });
    let picked = transformed_value(
        config,
        json!({ "u": { "name": "ann", "age": 7, "address": { "city": "Rome", "zip": 1 } } }),
    )
    .await;
    assert_eq!(
        picked,
        json!({ "name": "ann", "address": { "city": "Rome" } })
    );
    let config = json!({ "transform": "pick", "input_var": "u.address", "fields": ["zip"] });
    let picked =
        transformed_value(config.clone(), json!({ "u": { "address": { "zip": 1 } } })).await;
    assert_eq!(picked, json!({ "zip": 1 }));
    let error = transform(config.clone(), json!({}))
        .await
        .expect_err("it is missing");
    assert_eq!(
        error,
        "transform node `n`: there is no variable `u.address`"
    );
    let error = transform(config, json!({ "u": { "address": [] } }))
        .await
        .expect_err("no object");
    assert_eq!(
        error,
        "transform node `n`: variable `u.address` is not an object"
    );
}

#[tokio::test]
async fn p144_omit_does_not_change_the_input() {
    let config = json!({ "transform": "omit", "input_var": "u", "fields": ["a.b", "c", "missing.x"], "output_var": "y" });
    let input = json!({ "a": { "b": 1, "d": 2 }, "c": 3, "e": 4 });
    let node = TransformNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(json!({ "u": input })))
        .await
        .expect("it transforms");
    assert_eq!(var(&envelope, "y"), json!({ "a": { "d": 2 }, "e": 4 }));
    assert_eq!(var(&envelope, "u"), input);
}

#[tokio::test]
async fn p145_fields_are_renamed_at_the_same_time() {
    // Upstream renames one after another in random order: the value of `a` ends in `b` or in `c`.
    let rename =
        |mapping: Value| json!({ "transform": "rename", "input_var": "u", "mapping": mapping });
    let chain = rename(json!({ "a": "b", "b": "c" }));
    assert_eq!(
        transformed_value(chain, json!({ "u": { "a": 1, "b": 2 } })).await,
        json!({ "b": 1, "c": 2 })
    );
    let swap = rename(json!({ "a": "b", "b": "a" }));
    assert_eq!(
        transformed_value(swap, json!({ "u": { "a": 1, "b": 2 } })).await,
        json!({ "b": 1, "a": 2 })
    );
    let nested = rename(json!({ "a.x": "z.deep", "missing": "q" }));
    assert_eq!(
        transformed_value(nested, json!({ "u": { "a": { "x": 1, "y": 2 } } })).await,
        json!({ "a": { "y": 2 }, "z": { "deep": 1 } })
    );
    let mut both = rename(json!({ "a": "c", "b": "c" }));
    both["output_var"] = json!("y");
    let error = TransformNode::new(settings(both)).expect_err("two get one name");
    assert_eq!(error.to_string(), "`mapping`: two fields get the name `c`");
}

#[tokio::test]
async fn p146_flatten() {
    let input = json!({ "u": { "a": { "b": { "c": 1 }, "l": [{ "x": 1 }] }, "e": {}, "f": 2 } });
    let flatten = |settings: Value| {
        let mut config = json!({ "transform": "flatten", "input_var": "u" });
        config
            .as_object_mut()
            .expect("an object")
            .extend(settings.as_object().expect("an object").clone());
        config
    };
    assert_eq!(
        transformed_value(flatten(json!({})), input.clone()).await,
        json!({ "a.b.c": 1, "a.l": [{ "x": 1 }], "f": 2 })
    );
    assert_eq!(
        transformed_value(
            flatten(json!({ "separator": "/", "max_depth": 1 })),
            input.clone()
        )
        .await,
        json!({ "a/b": { "c": 1 }, "a/l": [{ "x": 1 }], "f": 2 })
    );
}

#[tokio::test]
async fn p147_merge_shallow_and_deep() {
    let variables =
        json!({ "a": { "x": { "p": 1 }, "l": [1] }, "b": { "x": { "q": 2 }, "l": [2] }, "n": 7 });
    let merge = |strategy: &str| json!({ "transform": "merge", "input_vars": ["a", "missing", "b", "n"], "merge_strategy": strategy });
    assert_eq!(
        transformed_value(merge("shallow"), variables.clone()).await,
        json!({ "x": { "q": 2 }, "l": [2], "n": 7 })
    );
    assert_eq!(
        transformed_value(merge("deep"), variables.clone()).await,
        json!({ "x": { "p": 1, "q": 2 }, "l": [2], "n": 7 })
    );
    let default = json!({ "transform": "merge", "input_vars": ["a", "b"] });
    assert_eq!(
        transformed_value(default, variables).await["x"],
        json!({ "q": 2 })
    );
}

#[tokio::test]
async fn p148_functions_of_templates() {
    let variables = json!({
        "name": " Ann ", "list": ["a", "b"], "o": { "b": 1, "a": [1.5, true] }, "empty": "", "nothing": null, "text": "a,b",
    });
    for (template, expected) in [
        ("{{.o | json}}", r#"{"a":[1.5,true],"b":1}"#),
        ("{{.list | jsonPretty}}", "[\n  \"a\",\n  \"b\"\n]"),
        ("{{.list | join \", \"}}", "a, b"),
        ("{{index (split .text \",\") 1}}", "b"),
        ("{{.name | upper | trim}}", "ANN"),
        ("{{.name | lower | trim}}", "ann"),
        ("{{contains .text \"a,\"}}", "true"),
        (
            "{{hasPrefix .text \"a\"}} {{hasSuffix .text \"a\"}}",
            "true false",
        ),
        (
            "{{.empty | default \"x\"}} {{.nothing | default \"y\"}} {{.text | default \"z\"}}",
            "x y a,b",
        ),
        ("{{coalesce .nothing .empty .text .name}}", "a,b"),
        (
            "{{._input.q}} {{._env.vars.text}} {{len ._env.messages}}",
            "1 a,b 0",
        ),
    ] {
        let config = json!({ "transform": "template", "template": template, "output_var": "y" });
        let node = TransformNode::new(settings(config)).expect("they are settings");
        let input = vars(variables.clone()).with_input(json!({ "q": 1 }));
        let envelope = run(node, input)
            .await
            .unwrap_or_else(|error| panic!("{template}: {error}"));
        assert_eq!(envelope.get_var_string("y"), expected, "{template}");
    }
    let missing = |missing: &str| json!({ "transform": "template", "template": "[{{.gone}}]", "missing": missing });
    let error = transform(missing("error"), json!({})).await;
    let error = error.expect_err("a variable is missing");
    assert!(
        error.ends_with("the template cannot be filled: `gone` has no value"),
        "{error}"
    );
    assert_eq!(
        transformed_value(missing("empty"), json!({})).await,
        json!("[]")
    );
}

#[tokio::test]
async fn p149_stringify_and_parse() {
    let stringify =
        |format: &str| json!({ "transform": "stringify", "input_var": "x", "format": format });
    let value = json!({ "x": { "b": [1], "a": "ü" } });
    assert_eq!(
        transformed_value(stringify("json"), value.clone()).await,
        json!("{\n  \"a\": \"ü\",\n  \"b\": [\n    1\n  ]\n}")
    );
    assert_eq!(
        transformed_value(stringify("text"), value).await,
        json!(r#"{"a":"ü","b":[1]}"#)
    );
    assert_eq!(
        transformed_value(stringify("text"), json!({ "x": "as is" })).await,
        json!("as is")
    );
    let parse = json!({ "transform": "parse", "input_var": "x" });
    for (text, value) in [
        ("[1, {}]", json!([1, {}])),
        ("7", json!(7)),
        ("null", json!(null)),
        ("\"a\"", json!("a")),
    ] {
        assert_eq!(
            transformed_value(parse.clone(), json!({ "x": text })).await,
            value
        );
    }
    let error = transform(parse.clone(), json!({ "x": "{" }))
        .await
        .expect_err("no JSON");
    assert!(
        error.starts_with("transform node `n`: variable `x` is not JSON: "),
        "{error}"
    );
    let error = transform(parse.clone(), json!({ "x": 1 }))
        .await
        .expect_err("no text");
    assert!(error.contains("is not a text"), "{error}");
    let deep = "[".repeat(100_000);
    assert!(transform(parse, json!({ "x": deep })).await.is_err());
    for (kind, format) in [("stringify", "yaml"), ("parse", "yaml"), ("parse", "text")] {
        let config =
            json!({ "transform": kind, "input_var": "x", "output_var": "y", "format": format });
        assert!(settings_error::<TransformConfig>(config).contains(format));
    }
}

#[tokio::test]
async fn p150_map_transforms_each_item() {
    let map = |item: Value| json!({ "transform": "map", "input_var": "x", "item_transform": item });
    let pick = map(
        json!({ "transform": "pick", "input_var": "_item", "fields": ["id"], "output_var": "z" }),
    );
    assert_eq!(
        transformed_value(pick, json!({ "x": [{ "id": 1, "a": 2 }, { "b": 3 }] })).await,
        json!([{ "id": 1 }, {}])
    );
    let parse = map(json!({ "transform": "parse", "input_var": "_item", "output_var": "z" }));
    assert_eq!(
        transformed_value(parse.clone(), json!({ "x": ["1", "null"] })).await,
        json!([1, null])
    );
    let error = transform(parse, json!({ "x": ["1", "{"] }))
        .await
        .expect_err("no JSON");
    assert!(
        error.starts_with("transform node `n`: map item 1: "),
        "{error}"
    );
    let text = map(
        json!({ "transform": "template", "template": "{{._item}}-{{.other}}", "output_var": "z" }),
    );
    assert_eq!(
        transformed_value(text, json!({ "x": [1, 2], "other": "o" })).await,
        json!(["1-o", "2-o"])
    );

    let mut deep = json!({ "transform": "template", "template": "x", "output_var": "y" });
    for _ in 0..20 {
        deep = json!({ "transform": "map", "input_var": "x", "item_transform": deep, "output_var": "y" });
    }
    let error = TransformNode::new(settings(deep)).expect_err("it is too deep");
    assert!(error.problem.contains("deeper than 16"), "{error}");
}

proptest! {
    #[test]
    fn random_templates_of_documents_are_filled_or_refused(parts in prop::collection::vec(
        prop::sample::select(vec![
            "{{.x}}", "{{.a.b}}", "{{range .list}}", "{{with .a}}", "{{if .x}}", "{{else}}", "{{else if .y}}", "{{end}}",
            "{{$v := .x}}", "{{$v := print $v $v}}", "{{$v | json}}", "{{eq .x 1 2}}", "{{join .list \", \"}}",
            "{{split .x \"t\" | json}}", "{{len .list}}", "{{upper .x | trim}}", "{{index .list 0}}", "{{printf \"%s\" .x}}",
            "\n", "ü",
        ]),
        0..25,
    )) {
        let definition = json!({
            "id": "g", "version": "1", "edges": [],
            "nodes": [{
                "id": "fill", "type": "transform",
                "config": { "transform": "template", "template": parts.concat(), "output_var": "out", "missing": "empty" },
            }],
        });
        let definition: GraphDefinition = serde_json::from_value(definition).unwrap();
        let Ok(graph) = load(&definition, &Services::new()) else {
            return Ok(());
        };
        let vars = Envelope::new()
            .with_var("a", json!({ "b": 1, "x": "inner" }))
            .with_var("list", json!(["one", 2]))
            .with_var("x", "text");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        match runtime.block_on(graph.run(vars)) {
            Ok(envelope) => prop_assert!(envelope.get_var_string("out").len() <= 16 << 20),
            Err(error) => prop_assert!(error.to_string().len() < 2_000, "{error}"),
        }
    }
}
