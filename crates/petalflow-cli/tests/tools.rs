//! `petalflow tools` and `petalflow completions`.

use crate::program::petalflow;

#[test]
fn p209_node_types_are_listed_with_their_settings() {
    let ran = petalflow!("tools").code(0);
    for kind in ["llm_prompt", "human", "webhook_trigger", "func"] {
        let line = ran
            .out
            .lines()
            .find(|line| line.starts_with(kind))
            .expect("each type has a line");
        assert!(line.len() > 20, "it says what the type does: {line}");
    }
    let ran = petalflow!("tools human").code(0);
    assert!(
        ran.out.contains("default_option")
            && ran.out.contains("{{.name}}")
            && !ran.out.contains("[`")
            && !ran.out.contains("::"),
        "{}",
        ran.out
    );
    let ran = petalflow!("tools transform").code(0);
    assert!(
        ran.out.contains("transform: template")
            && ran.out.contains("One of: error, empty, no_value."),
        "{}",
        ran.out
    );
    for name in ["guardian", "merge", "conditional", "gate", "filter"] {
        let ran = petalflow!("tools {name}").code(0);
        assert!(!ran.out.contains("]("), "no links of Rust: {}", ran.out);
        assert!(!ran.out.contains("::"), "no names of Rust: {}", ran.out);
    }
    let ran = petalflow!("tools gate").code(0);
    assert!(
        ran.out.contains("The target for `redirect`."),
        "{}",
        ran.out
    );
    for (name, setting) in [("map", "mapper_binding"), ("cache", "wrapped_binding")] {
        let ran = petalflow!("tools {name}").code(0);
        let line = ran
            .out
            .lines()
            .find(|line| line.contains(setting))
            .expect("it is listed");
        assert!(
            line.contains("The node that it runs") && line.ends_with("(required)"),
            "{line}"
        );
        let schema = petalflow!("tools {name} --json").code(0).json();
        assert_eq!(schema["properties"][setting]["required"][0], "type");
    }
    let ran = petalflow!("tools noop").code(0);
    assert!(ran.out.contains("no settings"), "{}", ran.out);
    let ran = petalflow!("tools tool").code(0);
    assert!(ran.out.lines().count() > 3, "{}", ran.out);
}

#[test]
fn p209_settings_are_json_schemas_for_programs() {
    let all = petalflow!("tools --json").code(0).json();
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), 17);
    assert!(all.iter().all(
        |it| !it["description"].as_str().unwrap_or_default().is_empty() && it["schema"].is_object()
    ));
    let schema = petalflow!("tools transform --json").code(0).json();
    assert!(schema["oneOf"].is_array());
}

#[test]
fn p209_an_unknown_node_type_has_a_suggestion() {
    let ran = petalflow!("tools humam").code(4);
    assert!(ran.err.contains("did you mean `human`?"), "{}", ran.err);
}

#[test]
fn p209_shells_get_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = petalflow!("completions {shell}").code(0);
        assert!(
            ran.out.contains("petalflow")
                && ran.out.contains("threads")
                && ran.out.contains("dry-run"),
            "{shell}"
        );
    }
    petalflow!("completions tcsh").code(64);
}
