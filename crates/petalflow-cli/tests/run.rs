//! `petalflow run` and `petalflow compile`.

use serde_json::{Value, json};

use crate::program::{
    Ran, document, file, folder, path, petalflow, program, run_program, run_with_input, test_data,
};

#[test]
fn p209_a_graph_runs_with_variables() {
    let ran = petalflow!("run greeting.graph.json --input name=Ann").code(0);
    assert_eq!(ran.out, "greeting: Hello, Ann!\nname: Ann\n");
    assert_eq!(ran.err, "", "no progress without a terminal");

    let ran = petalflow!(r#"run greeting.graph.json -i '{{"name": "Bo"}}' --var greeting"#).code(0);
    assert_eq!(ran.out, "Hello, Bo!\n");
    let ran = petalflow!("run greeting.graph.json -i name=7 --format json").code(0);
    assert_eq!(
        ran.json()["vars"],
        json!({ "greeting": "Hello, 7!", "name": 7 })
    );
}

#[test]
fn p209_input_comes_from_files_and_stdin() {
    let (graph, folder) = (document("greeting.graph.json"), folder());
    let input = file(&folder, "input.yaml", "name: Cy\n");
    let ran = petalflow!("run greeting.graph.json -f {input} --var greeting").code(0);
    assert_eq!(ran.out, "Hello, Cy!\n");
    let ran = run_with_input(
        r#"{"name": "Di"}"#,
        ["run", &graph, "-f", "-", "--var", "greeting"],
    )
    .code(0);
    assert_eq!(ran.out, "Hello, Di!\n");
    let envelope = file(
        &folder,
        "envelope.json",
        r#"{"vars": {"name": "Ed"}, "messages": [{"role": "user", "content": "Hi."}]}"#,
    );
    let ran = petalflow!("run greeting.graph.json --envelope {envelope} --format json").code(0);
    assert_eq!(ran.json()["messages"][0]["content"], "Hi.");
    assert_eq!(ran.json()["vars"]["greeting"], "Hello, Ed!");
    let text = std::fs::read_to_string(&graph).expect("the graph");
    let ran = run_with_input(&text, ["run", "-", "-i", "name=Fi", "--var", "greeting"]).code(0);
    assert_eq!(ran.out, "Hello, Fi!\n");
}

#[test]
fn p209_the_result_goes_to_a_file() {
    let folder = folder();
    let result = path(&folder, "result.json");
    let ran = petalflow!("run greeting.graph.json -i name=Ann --format json -o {result}").code(0);
    assert_eq!(ran.out, "");
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(result).expect("the result")).expect("JSON");
    assert_eq!(written["vars"]["greeting"], "Hello, Ann!");
}

#[test]
fn p209_text_is_the_variable_output() {
    let ran = petalflow!("run review.graph.yaml -i name=Ann --format text --approve").code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: true)\n");
    let ran = petalflow!("run greeting.graph.json -i name=Ann --format text").code(2);
    assert!(
        ran.err.contains("no variable `output`") && ran.err.contains("name, greeting"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_events_are_lines_of_json() {
    let ran = petalflow!("run greeting.graph.json -i name=Ann --thread t --json").code(0);
    let lines = ran.lines();
    let names: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["event"].as_str())
        .filter(|it| *it != "checkpoint")
        .collect();
    assert_eq!(
        names,
        [
            "run.started",
            "node.started",
            "node.finished",
            "run.finished"
        ]
    );
    assert!(
        lines
            .iter()
            .enumerate()
            .all(|(index, line)| line["seq"] == index + 1 && line["thread"] == "t")
    );
    assert_eq!(
        lines[lines.len() - 1]["envelope"]["vars"]["greeting"],
        "Hello, Ann!"
    );
}

#[test]
fn p209_a_dry_run_runs_nothing() {
    let ran = petalflow!("run greeting.graph.json --dry-run").code(0);
    assert_eq!(ran.out, "The document is valid and can be loaded.\n");
    let ran = petalflow!("run wrong.graph.json --dry-run").code(1);
    assert_eq!(ran.out, "");
    // Neither a model nor a tool is needed.
    petalflow!("run research.agent.yaml --dry-run").code(0);
    petalflow!("run lookup.graph.yaml --dry-run --tool find=true").code(0);
}

#[test]
fn p209_a_slow_run_ends_after_its_timeout() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let tools = ["--tool", "find=sleep 30", "--tool", "count=echo {}"];
    let lookup = document("lookup.graph.yaml");
    let run = [
        "run",
        &lookup,
        "-i",
        "city=Rome",
        "--timeout",
        "200ms",
        "--store",
        &store,
        "--thread",
        "slow",
    ];
    let ran = run_program(run.into_iter().chain(tools)).code(10);
    assert!(
        ran.err.contains("petalflow threads resume slow --store"),
        "{}",
        ran.err
    );
    // The default is five minutes.
    assert!(petalflow!("run --help").out.contains("[default: 5m]"));
}

#[test]
fn p209_without_a_terminal_questions_fail_unless_approvals_are_allowed() {
    // Upstream approves.
    let ran = petalflow!("run review.graph.yaml -i name=Ann --format json").code(2);
    assert!(
        ran.err
            .contains("it is given without a person only with `--approve`"),
        "{}",
        ran.err
    );
    let ran = petalflow!("run review.graph.yaml -i name=Ann --format json --approve").code(0);
    let sent = &ran.json()["vars"]["sent"];
    assert_eq!(
        (&sent["approved"], &sent["responded_by"]),
        (&json!(true), &json!("cli-auto"))
    );
    assert!(
        ran.err
            .contains("node `review` is approved, because of `--approve`"),
        "{}",
        ran.err
    );

    for approve in ["", " --approve"] {
        let ran = run_program(format!("run questions.graph.yaml{approve}").split(' ')).code(2);
        assert!(
            ran.err.contains("nobody can be asked") && ran.err.contains("--answer 'size=small'"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn values_cannot_command_the_terminal() {
    let clipboard = "Ann\u{1b}]52;c;aGk=\u{7}\u{202e}";
    for format in [
        &["--format", "pretty"][..],
        &["--format", "json"],
        &["--var", "greeting"],
        &["--json"],
    ] {
        let input = format!("name={clipboard}");
        let line = ["run", "greeting.graph.json", "-i", &input];
        let ran = run_program(line.into_iter().chain(format.iter().copied())).code(0);
        assert!(
            ran.out.contains("Ann\\u001b]52;c;aGk=\\u0007\\u202e")
                && !ran.out.contains(['\u{1b}', '\u{202e}']),
            "{}",
            ran.out
        );
    }
}

#[test]
fn p209_answers_can_be_given_before() {
    let ran = petalflow!(
        r#"run questions.graph.yaml --format json --answer size=large --answer 'change={{"colour": "red"}}'
           --answer name=Ann --answer notes=fine"#
    ).code(0);
    let vars = &ran.json()["vars"];
    assert_eq!(vars["size"]["choice"], "large");
    assert_eq!(vars["colour"], "red");
    assert_eq!(vars["name"]["data"], "Ann");
    assert_eq!(vars["notes"]["notes"], "fine");
    let ran = petalflow!("run questions.graph.yaml --answer size=huge").code(4);
    assert!(
        ran.err.contains("there is no option `huge`") && ran.err.contains("`small`, `large`"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_tools_and_functions_are_programs() {
    let folder = folder();
    let find = file(
        &folder,
        "find.sh",
        "read line; printf '{\"asked\": %s}' \"$line\"",
    );
    let count = file(&folder, "count.sh", "cat > /dev/null; echo '{\"n\": 3}'");
    let ran = run_program([
        "run",
        &document("lookup.graph.yaml"),
        "-i",
        "city=Rome",
        "--format",
        "json",
        "--tool",
        &format!("find=sh '{find}'"),
        "--tool",
        &format!("count=sh '{count}'"),
    ])
    .code(0);
    assert_eq!(ran.json()["vars"]["found"]["asked"]["city"], "Rome");
    assert_eq!(ran.json()["vars"]["n"], 3);

    let ran = petalflow!("run lookup.graph.yaml -i city=Rome").code(5);
    assert!(
        ran.err.contains("no tool `find`") && ran.err.contains("--tool NAME=COMMAND"),
        "{}",
        ran.err
    );
    let broken = file(&folder, "broken.sh", "echo no such city >&2; exit 3");
    let ran = run_program([
        "run",
        &document("lookup.graph.yaml"),
        "-i",
        "city=Rome",
        "--tool",
        &format!("find=sh '{broken}'"),
        "--tool",
        "count=true",
    ])
    .code(2);
    assert!(ran.err.contains("no such city"), "{}", ran.err);
}

#[test]
fn p209_models_can_be_scripted() {
    let folder = folder();
    let script = file(
        &folder,
        "replies.json",
        r#"["Tulips are red.", "A report on tulips."]"#,
    );
    let ran = petalflow!("run research.agent.yaml -i topic=tulips --script {script} --format json")
        .code(0);
    assert!(
        ran.json()["vars"]
            .to_string()
            .contains("A report on tulips."),
        "{}",
        ran.out
    );
    let short = file(&folder, "short.json", r#"["Tulips are red."]"#);
    let ran = petalflow!("run research.agent.yaml -i topic=tulips --script {short}").code(2);
    assert!(ran.err.contains("add a reply"), "{}", ran.err);
    let wrong = file(&folder, "wrong.json", r#"[{"cals": []}]"#);
    let ran = petalflow!("run research.agent.yaml -i topic=tulips --script {wrong}").code(4);
    assert!(
        ran.err.contains("reply 1 has the wrong form"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_failures_have_exit_codes() {
    let ran = petalflow!("run missing.json").code(3);
    assert!(
        ran.err.contains("`missing.json` cannot be read"),
        "{}",
        ran.err
    );
    let ran = petalflow!("run greeting.graph.json --input name").code(4);
    assert!(
        ran.err.contains("write `--input NAME=VALUE`"),
        "{}",
        ran.err
    );
    let ran = petalflow!("run greeting.graph.json").code(2);
    assert!(ran.err.contains("greet"), "{}", ran.err);
    let ran = petalflow!("run greeting.graph.json -i name=A --store mysql://x").code(8);
    assert!(
        ran.err.contains("no store of the kind `mysql`"),
        "{}",
        ran.err
    );
    let ran = petalflow!("run food_order.json").code(6);
    assert!(ran.err.contains("petalflow chat"), "{}", ran.err);
    petalflow!("run greeting.graph.json -i name=A -o /nonexistent/result").code(3);
    let ran = petalflow!("run greeting.graph.json --colour").code(64);
    assert!(ran.err.contains("--colour"), "{}", ran.err);
    assert_eq!(run_program([] as [&str; 0]).code, 64);
}

#[test]
fn p209_failures_of_nodes_can_be_recorded() {
    let ran = petalflow!("run greeting.graph.json --continue-on-error --format json").code(0);
    assert_eq!(ran.json()["errors"][0]["node_id"], "greet");
}

#[test]
fn p209_a_closed_pipe_is_not_an_error() {
    use std::io::Read as _;
    let mut child = program()
        .args(["tools", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = [0; 1];
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut first)
        .expect("one byte");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn f42_a_run_goes_on_when_nobody_reads_its_events() {
    use std::io::{BufRead as _, BufReader};
    let folder = folder();
    let graph = file(
        &folder,
        "letter.graph.yaml",
        "id: letter\nversion: '1.0'\nkind: graph\nnodes:\n  \
         - { id: a, type: transform, config: { transform: template, template: 'x', output_var: a } }\n  \
         - { id: b, type: transform, config: { transform: template, template: 'y', output_var: output } }\n\
         edges: [{ source: a, target: b }]\n",
    );
    let store = path(&folder, "runs.db");
    for thread in ["p1", "p2", "p3"] {
        let mut child = program()
            .args([
                "run", &graph, "--store", &store, "--thread", thread, "--json",
            ])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The reader ends after the first line, before the second is written or after it.
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        if thread != "p3" {
            out.read_line(&mut line).expect("a line");
            assert!(line.contains("run.started"), "{line}");
        }
        drop(out);
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{thread}");
        assert_eq!(output.status.code(), Some(0), "{thread}");
    }
    let listed = petalflow!("threads list --store {store} --json").code(0);
    let threads = listed.lines();
    assert_eq!(threads.len(), 3, "{}", listed.out);
    for thread in threads {
        assert_eq!(thread["status"], "finished", "{thread}");
        assert_eq!(thread["graph"], "letter", "{thread}");
    }
}

#[test]
fn p209_workflows_compile_to_graphs() {
    let folder = folder();
    let graph = path(&folder, "research.graph.json");
    petalflow!("compile research.agent.yaml -o {graph}").code(0);
    petalflow!("validate {graph}").code(0);
    let ran = petalflow!("compile research.agent.yaml --pretty=false").code(0);
    assert_eq!(
        (ran.out.lines().count(), ran.json()["id"].as_str()),
        (1, Some("research"))
    );
    petalflow!("compile research.agent.yaml --validate-only").code(0);
    let ran = petalflow!("compile greeting.graph.json").code(6);
    assert!(ran.err.contains("is a graph already"), "{}", ran.err);
    petalflow!("compile wrong.graph.json").code(1);
}

#[test]
fn p209_the_golden_workflows_compile() {
    for name in ["custom_dag", "parallel_merge", "sequential_simple"] {
        let Some(input) = test_data(&format!("petalflow/agent/testdata/{name}.input.json")) else {
            return;
        };
        let golden = test_data(&format!("petalflow/agent/testdata/{name}.golden.json"))
            .expect("each input has a result");
        let golden: Value =
            serde_json::from_str(&std::fs::read_to_string(golden).expect("readable"))
                .expect("JSON");
        let compiled = run_program(["compile", &input.display().to_string()])
            .code(0)
            .json();
        assert_eq!(compiled["nodes"], golden["nodes"], "{name}");
        assert_eq!(compiled["edges"], golden["edges"], "{name}");
    }
}

#[test]
fn p209_the_example_of_petalflow_runs() {
    let Some(graph) = test_data("petalflow/examples/06_cli_workflow/greeting.graph.json") else {
        return;
    };
    let ran = run_program([
        "run",
        &graph.display().to_string(),
        "-i",
        "name=Ann",
        "--var",
        "greeting",
    ])
    .code(0);
    assert_eq!(ran.out, "Hello, Ann! Welcome to PetalFlow.\n");
}

#[cfg(not(feature = "providers"))]
#[test]
fn p209_a_program_without_providers_reports_it() {
    let ran = petalflow!("run research.agent.yaml -i topic=tulips").code(5);
    assert!(
        ran.err.contains("asks models of anthropic") && ran.err.contains("--features providers"),
        "{}",
        ran.err
    );
}

#[cfg(feature = "providers")]
#[test]
fn p209_models_of_providers_need_a_name_and_a_key() {
    let run = |model: &[&str]| {
        let mut command = program();
        command.env_remove("ANTHROPIC_API_KEY");
        command.args([
            "run",
            &document("research.agent.yaml"),
            "-i",
            "topic=tulips",
        ]);
        Ran::from_output(&command.args(model).output().expect("the program starts"))
    };
    let ran = run(&[]).code(2);
    assert!(ran.err.contains("ANTHROPIC_API_KEY"), "{}", ran.err);
    let ran = run(&["--model", "qwen3"]).code(5);
    assert!(
        ran.err.contains("does not identify a provider"),
        "{}",
        ran.err
    );
    let ran = petalflow!("chat food_order.json --model qwen3").code(5);
    assert!(
        ran.err.contains("does not identify a provider"),
        "{}",
        ran.err
    );
}

#[test]
fn an_answer_for_an_unknown_node_is_refused_before_the_run() {
    // Without a terminal and a store, the question would be approved.
    let review = document("review.graph.yaml");
    let ran = run_program([
        "run",
        &review,
        "-i",
        "name=Ann",
        "--answer",
        "reviw=reject: too short",
    ])
    .code(4);
    assert_eq!(ran.out, "");
    assert!(
        ran.err
            .contains("there is no node `reviw`; did you mean `review`?"),
        "{}",
        ran.err
    );
}

#[test]
fn answers_that_no_question_needed_are_named() {
    let review = document("review.graph.yaml");
    let mut arguments = vec!["run", &review, "-i", "name=Ann", "--var", "output"];
    arguments.extend(["--answer", "no", "--answer", "yes"]);
    let ran = run_program(arguments).code(0);
    assert_eq!(ran.out, "Dear Ann, Bo (sent: false)\n");
    assert!(
        ran.err.contains("unused: `--answer yes`") && !ran.err.contains("--answer no"),
        "{}",
        ran.err
    );
}

#[test]
fn a_thread_without_a_store_is_said_to_be_lost() {
    let graph = document("greeting.graph.json");
    let ran = run_program(["run", &graph, "-i", "name=Ann", "--thread", "t"]).code(0);
    assert_eq!(ran.err, "thread t is not stored: there is no `--store`\n");
}

#[test]
fn a_missing_variable_is_named() {
    let ran = run_program(["run", &document("greeting.graph.json")]).code(2);
    assert!(ran.err.contains("`name` has no value"), "{}", ran.err);
}

#[test]
fn p209_failures_before_a_run_are_lines_of_json_too() {
    let failure = |ran: Ran, exit: i32| {
        let ran = ran.code(exit);
        let line = ran.json();
        assert_eq!(
            (&line["event"], &line["exit"]),
            (&json!("error"), &json!(exit))
        );
        assert!(
            ran.err.contains(line["error"].as_str().expect("a text")),
            "{}",
            ran.err
        );
        line
    };
    let missing = failure(petalflow!("run nothing.json --json"), 3);
    assert_eq!(missing.get("diagnostics"), None);
    let wrong = failure(petalflow!("run wrong.graph.json --json"), 1);
    assert!(wrong["diagnostics"][0]["code"].is_string(), "{wrong}");
    let input = failure(
        petalflow!("run greeting.graph.json --json -f nothing.json"),
        3,
    );
    assert!(
        input["error"]
            .as_str()
            .expect("a text")
            .contains("nothing.json")
    );
    let tool = failure(petalflow!("run lookup.graph.yaml -i city=Rome --json"), 5);
    let said = tool["error"].as_str().expect("a text");
    assert!(
        said.contains("--tool NAME=COMMAND") && said.contains("--tool NODE=COMMAND"),
        "{tool}"
    );
    failure(petalflow!("tools nothing --json"), 4);
    let (folder, review) = (folder(), document("review.graph.yaml"));
    let store = path(&folder, "runs.db");
    petalflow!("run {review} -i name=Ann --store {store}").code(7);
    failure(petalflow!("threads show nothing --store {store} --json"), 8);
    failure(
        petalflow!("run greeting.graph.json -i name=Ann --json -o missing/result.json"),
        3,
    );
    failure(
        petalflow!("run greeting.graph.json -i name=Ann --json -o ../documents"),
        3,
    );
    failure(
        petalflow!("run greeting.graph.json -i name=Ann --json --script nothing.json"),
        3,
    );
    // A run that failed has its own line.
    let ran = petalflow!("run greeting.graph.json --json").code(2);
    let events: Vec<_> = ran
        .lines()
        .into_iter()
        .map(|line| line["event"].clone())
        .collect();
    assert_eq!(events.last(), Some(&json!("run.failed")), "{events:?}");
}
