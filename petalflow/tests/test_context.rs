//! Nodes as functions, with the context of a test.

use std::sync::Mutex;

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::run::CancelToken;

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool, key = page)]
struct MayPrint {
    page: u32,
}

#[state]
struct Book {
    #[key(append)]
    printed: Vec<String>,
}

struct Printer(Mutex<u32>);

impl Printer {
    #[expect(clippy::unnecessary_wraps, reason = "an effect returns a result")]
    fn print(&self) -> Result<String, std::fmt::Error> {
        let mut jobs = self.0.lock().unwrap();
        *jobs += 1;
        Ok(format!("job {jobs}"))
    }
}

#[node(Book)]
async fn print_page(
    #[item] page: &u32,
    printer: Managed<Printer>,
    cx: Context,
) -> petalflow::Result<BookPrinted> {
    if !cx.ask(MayPrint { page: *page }).await? {
        return Ok(BookPrinted(Vec::new()));
    }
    cx.emit(*page);
    let job = cx.once("print", async { printer.print() }).await?;
    if cx.attempt() == 1 {
        return Err("out of paper".into());
    }
    Ok(BookPrinted(vec![job]))
}

fn printer() -> Managed<Printer> {
    Managed::new(Printer(Mutex::new(0)))
}

#[tokio::test]
async fn answers_emits_and_effects_are_those_of_the_test() {
    let test = Context::test().answer(|question: &MayPrint| question.page != 4);
    let printer = printer();
    let failed = print_page(&7, printer.clone(), test.context()).await;
    assert_eq!(failed.err().unwrap().to_string(), "out of paper");
    assert_eq!(test.effect::<String>("print").as_deref(), Some("job 1"));

    // The second attempt does not print again.
    let printed = print_page(&7, printer.clone(), test.context()).await;
    assert_eq!(printed.unwrap().0, ["job 1"]);
    assert_eq!(*printer.0.lock().unwrap(), 1);
    let emitted = test.emitted();
    let pages: Vec<_> = emitted.iter().map(|page| page.downcast_ref()).collect();
    assert_eq!(pages, [Some(&7_u32), Some(&7)]);

    let refused = print_page(&4, printer, test.context()).await;
    assert_eq!(refused.unwrap().0, [""; 0]);
}

#[tokio::test]
async fn a_prepared_result_replaces_the_effect() {
    let test = Context::test()
        .answer(|_: &MayPrint| true)
        .recorded("print", &"job 40");
    let printer = printer();
    let _first = print_page(&1, printer.clone(), test.context()).await;
    let printed = print_page(&1, printer.clone(), test.context()).await;
    assert_eq!(printed.unwrap().0, ["job 40"]);
    assert_eq!(*printer.0.lock().unwrap(), 0);

    let other = Context::test()
        .answer(|_: &MayPrint| true)
        .recorded("print", &7);
    let error = print_page(&1, printer, other.context()).await.err();
    let error = error.unwrap().to_string();
    assert!(
        error.contains("the record of `print` cannot be read as `alloc::string::String`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_question_without_an_answer_is_an_error() {
    let error = print_page(&7, printer(), Context::test().context()).await;
    assert_eq!(
        error.err().unwrap().to_string(),
        "the test has no answer to `MayPrint`: prepare one with `Context::test().answer(|question: &MayPrint| ..)`"
    );
}

#[tokio::test]
async fn a_name_is_used_once_in_an_attempt() {
    let test = Context::test().answer(|_: &MayPrint| true);
    let cx = test.context();
    assert!(cx.ask(MayPrint { page: 1 }).await.unwrap());
    assert!(cx.ask(MayPrint { page: 2 }).await.unwrap());
    let error = cx.ask(MayPrint { page: 1 }).await.unwrap_err().to_string();
    assert!(error.starts_with("the node used `ask` twice"), "{error}");
    let effect = async || Ok::<_, std::fmt::Error>(1);
    assert_eq!(cx.once("add", effect()).await.unwrap(), 1);
    let error = cx.once("add", effect()).await.unwrap_err().to_string();
    assert!(error.starts_with("the node used `once` twice"), "{error}");
}

#[test]
fn the_rest_of_the_context_is_set_by_the_test() {
    let token = CancelToken::new();
    let test = Context::test()
        .node("print")
        .index(3)
        .limit(5)
        .cancel_with(&token)
        .manage(7_u8);
    let (first, second) = (test.context(), test.context());
    assert_eq!((first.node(), first.index()), ("print", Some(3)));
    assert_eq!((first.superstep(), first.remaining_supersteps()), (1, 4));
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    assert_eq!(first.task_id(), second.task_id());
    assert_eq!(first.managed::<u8>().as_deref(), Some(&7));
    assert!(first.managed::<u16>().is_none());
    assert!(!first.is_cancelled());
    token.cancel();
    assert!(first.is_cancelled());
}
