//! A report in the form of `JUnit`.

use std::fmt::Write as _;

use super::Report;

impl Report {
    /// The report in the form of `JUnit`, which most CI systems read.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use petalflow_agent::Agent;
    /// # use petalflow_eval::Evaluation;
    /// # let agent = || -> Agent { unreachable!("there is no case") };
    /// let report = Evaluation::new([]).name("weather").run(|_| Ok(agent())).await;
    /// assert!(report.to_junit().contains("<testsuite name=\"weather\""));
    /// # }
    /// ```
    pub fn to_junit(&self) -> String {
        report(self)
    }
}

/// The report as XML. Each case is a test case.
fn report(report: &Report) -> String {
    let failed = report.cases.iter().filter(|case| !case.passed).count();
    let seconds: f64 = report.cases.iter().map(|case| case.seconds).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let suite = escaped(&report.name);
    let tests = report.cases.len();
    // Writing to a string does not fail.
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failed}\" time=\"{seconds:.3}\">"
    );
    for case in &report.cases {
        let (name, time) = (escaped(&case.name), case.seconds);
        let _ = write!(
            xml,
            "    <testcase classname=\"{suite}\" name=\"{name}\" time=\"{time:.3}\""
        );
        if case.passed {
            xml.push_str("/>\n");
            continue;
        }
        let failures = case.failures();
        let first = failures
            .first()
            .map_or("", |first| first.lines().next().unwrap_or(""));
        let _ = writeln!(
            xml,
            ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>",
            escaped(first),
            escaped(&failures.join("\n"))
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Text in XML. Characters that XML cannot have are replaced.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' => xml.push_str("&#10;"),
            '\t' => xml.push(letter),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            letter if letter.is_control() && letter < ' ' => xml.push('\u{fffd}'),
            letter => xml.push(letter),
        }
    }
    xml
}
