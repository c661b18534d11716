use super::to_jinja;

fn translated(text: &str) -> String {
    to_jinja(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn values_and_functions_are_translated() {
    for (go, jinja) in [
        ("{{ .a }} and {{- .b.c -}} .", "{{ a }} and {{- b.c -}} ."),
        ("{{.a.in}}", "{{ a[\"in\"] }}"),
        ("{{ json .vars }}", "{{ (vars|json) }}"),
        ("{{ .s | trim | upper }}", "{{ ((s|trim)|upper) }}"),
        ("{{ index .list 0 }}", "{{ list[0] }}"),
        ("{{ (index .list 0).name }}", "{{ (list[0]).name }}"),
        ("{{ .n | default \"x\" }}", "{{ (n|default(\"x\")) }}"),
        (
            "{{ default \"x\" .n }}",
            "{{ ((n|default(none))|default(\"x\")) }}",
        ),
        ("{{ eq .a 1 2 }}", "{{ (a in [1, 2]) }}"),
        (
            "{{ printf \"%s: %d%%\" .a .b }}",
            "{{ print(\"\", a, \": \", b, \"%\") }}",
        ),
        ("{{ .s | contains \"x\" }}", "{{ (s is contains(\"x\")) }}"),
        ("{{ `raw}}` }}", "{{ \"raw}}\" }}"),
        ("{{/* no */}}a", "{# #}a"),
        ("{% {# }} \n", "{{ \"{%\" }} {{ \"{#\" }} }} \n{{ \"\" }}"),
    ] {
        assert_eq!(translated(go), jinja, "{go}");
    }
}

#[test]
fn blocks_are_translated() {
    for (go, jinja) in [
        (
            "{{if .a}}1{{else if eq .b 2}}2{{else}}3{{end}}",
            "{% if (a|default(none)) %}1{% elif ((b|default(none)) == 2) %}2{% else %}3{% endif %}",
        ),
        (
            "{{range .list}}{{.name}}{{$.x}}{{end}}",
            "{% for _dot1 in (list|default(none)) or [] %}{{ _dot1.name }}{{ x }}{% endfor %}",
        ),
        (
            "{{range $v := .list}}{{$v}}{{end}}",
            "{% for _var_v in (list|default(none)) or [] %}{{ _var_v }}{% endfor %}",
        ),
        (
            "{{with .a}}{{.b}}{{else}}{{.c}}{{end}}",
            "{% if (a|default(none)) %}{% with _dot1 = (a|default(none)) %}{{ _dot1.b }}{% endwith %}{% else %}{{ c }}{% endif %}",
        ),
        ("{{$x := .a}}{{$x.b}}", "{% set _var_x = a %}{{ _var_x.b }}"),
    ] {
        assert_eq!(translated(go), jinja, "{go}");
    }
}

#[test]
fn wrong_templates_say_where() {
    for (text, expected) in [
        (
            "a {{ name }}",
            "position 5: there is no function `name`: a variable is written `.name`",
        ),
        ("{{ .a", "position 0: `{{` has no `}}`"),
        ("{{if .a}}", "position 2: `if` has no `end`"),
        (
            "{{end}}",
            "position 2: `end` without `if`, `with` or `range`",
        ),
        (
            "{{ . }}",
            "position 3: `.` alone has no meaning here: name a variable",
        ),
        ("{{ .a .b }}", "position 6: a value cannot have arguments"),
        (
            "{{ .a | .b }}",
            "position 8: only a function can follow `|`",
        ),
        (
            "{{ template \"x\" }}",
            "position 3: `template` is not supported",
        ),
        ("{{ (.a }}", "position 3: `(` has no `)`"),
        ("{{ }}", "a value is missing"),
        ("{{ printf \"%q\" .a }}", "`printf` knows"),
        ("{{ {.a }}", "position 3: unexpected `{`"),
    ] {
        let error = to_jinja(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn deep_templates_are_refused_in_bounded_time() {
    assert!(to_jinja(&"{{if .a}}".repeat(50_000)).is_err());
    assert!(to_jinja(&format!("{{{{ {}", "(".repeat(100_000))).is_err());
    assert!(
        to_jinja(&format!(
            "{{{{ {}.a{} }}}}",
            "(".repeat(400),
            ")".repeat(50)
        ))
        .is_err()
    );
}

#[test]
fn templates_that_grow_without_bound_are_refused() {
    // A value is written once, however many it is compared with.
    let mut value = ".a".to_owned();
    for _ in 0..19 {
        value = format!("(eq {value} 1 2 3 4 5 6 7 8 9)");
    }
    let jinja = to_jinja(&format!("{{{{{value}}}}}")).unwrap();
    assert!(jinja.len() < 1_000, "{} bytes", jinja.len());
    // Each `else if` is a block inside the one before it.
    let branches = |count: usize| {
        let branches = "{{else if .b}}y".repeat(count);
        to_jinja(&format!("{{{{if .a}}}}x{branches}{{{{end}}}}"))
    };
    assert!(branches(99).is_ok());
    for count in [100, 100_000] {
        let error = branches(count).unwrap_err().to_string();
        assert!(error.ends_with("in each other"), "{error}");
    }
    for long in [
        format!("{{{{.a{}}}}}", ".b".repeat(100_000)),
        format!("{{{{.a{}}}}}", ".0".repeat(100_000)),
        format!("{{{{print{}}}}}", " .a".repeat(100_000)),
        format!("{{{{.a{}}}}}", " | upper".repeat(100_000)),
        format!("{{{{(index .a 0){}}}}}", ".b".repeat(100_000)),
    ] {
        let error = to_jinja(&long).unwrap_err().to_string();
        assert!(error.ends_with("the action is too long"), "{error}");
    }
    let deep = format!("{{{{{}.a{}}}}}", "(".repeat(100), ")".repeat(100));
    assert!(
        to_jinja(&deep)
            .unwrap_err()
            .to_string()
            .ends_with("too many parentheses")
    );
}
