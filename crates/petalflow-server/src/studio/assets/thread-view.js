// @ts-check
/** The view of one thread: the graph with the run in it, the timeline, open questions, failures, and the state. */

/** @typedef {import("./drawing.js").Mark} Mark */

import { h, oncePerFrame, replace } from "./dom.js";
import { Drawing } from "./drawing.js";
import { errorText } from "./format.js";
import { icon } from "./icons.js";
import { PendingCalls } from "./pending-calls.js";
import { Questions } from "./questions.js";
import { threadHeader } from "./thread-header.js";
import { ThreadSession } from "./thread-session.js";
import { explainNothing, Timeline } from "./timeline.js";
import { stateTree } from "./tree.js";
import { Waterfall } from "./waterfall.js";

/** @type {{[outcome: string]: Mark}} */
const MARKS = {
  running: "running",
  retry: "running",
  finished: "finished",
  cached: "finished",
  restored: "finished",
  skipped: "finished",
  failed: "failed",
};

/**
 * @param {import("./main.js").ViewContext} context
 * @param {string} id
 */
export async function showThread({ main, signal, setTitle }, id) {
  const session = await ThreadSession.load(id, signal);
  if (signal.aborted) return;
  setTitle(id);
  const drawing = new Drawing(session.flow);
  const timeline = new Timeline(session);
  const waterfall = new Waterfall(session);
  const questions = new Questions(session);
  const pendingCalls = new PendingCalls(session);
  const failures = h("section", { class: "panel failures", "aria-label": "Failures" });
  const stateBody = h("div", null);
  /** @type {Map<string, boolean>} */
  const opened = new Map();
  const state = h("details", { class: "panel" }, h("summary", null, h("h2", null, "State")), stateBody);
  const nothing = h("div", null);
  const cards = h("section", { class: "panel", "aria-label": "Timeline" }, h("h2", null, "Timeline"), timeline.element);
  replace(
    main,
    threadHeader(session, "run"),
    questions.element,
    pendingCalls.element,
    failures,
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "column side" },
        h("section", { class: "panel", "aria-label": "Graph" }, h("h2", null, "Graph"), drawing.element, legend()),
        state,
      ),
      h(
        "div",
        { class: "column" },
        h("section", { class: "panel", "aria-label": "Waterfall" }, h("h2", null, "Waterfall"), nothing, waterfall.element),
        cards,
      ),
    ),
  );
  const mark = () => drawing.mark(marksOf(session));
  const drawEvents = oncePerFrame(() => {
    timeline.update();
    waterfall.update();
    const hasSections = session.log.sections.length > 0;
    explainNothing(nothing, hasSections, session.connection);
    cards.hidden = !hasSections;
    mark();
  });
  const showState = () => {
    if (state.open) replace(stateBody, stateTree(session.view.state, undefined, opened));
  };
  state.addEventListener("toggle", showState);
  let shownCheckpoint = 0;
  let shownFailures = "";
  const drawView = () => {
    questions.update();
    pendingCalls.update();
    // What a person selects and scrolls stays while nothing changes.
    const { checkpoint, errors, tasks } = session.view;
    const failed = JSON.stringify([checkpoint, errors, tasks]);
    if (failed !== shownFailures) showFailures(failures, session);
    shownFailures = failed;
    mark();
    // What the person has opened in the tree stays open while nothing changes.
    if (session.view.checkpoint !== shownCheckpoint) {
      shownCheckpoint = session.view.checkpoint;
      showState();
    }
  };
  session.onChange((topic) => {
    if (topic === "view") drawView();
    drawEvents();
  });
  drawView();
  drawEvents();
  void drawing.load(signal);
  void session.watch();
}

/**
 * What each node of the drawing is marked with.
 *
 * @param {ThreadSession} session
 * @returns {Map<string, Mark>}
 */
function marksOf({ log, view }) {
  /** @type {Map<string, Mark>} */
  const marks = new Map();
  for (const [node, outcome] of log.marks()) {
    const mark = MARKS[outcome];
    if (mark) marks.set(node, mark);
  }
  if (view.status === "running") {
    // Events come when their superstep ends. Until then the checkpoint says which nodes run.
    if (view.superstep >= log.superstep()) for (const node of view.next) marks.set(node, "running");
  } else {
    for (const node of view.next) marks.set(node, "next");
    for (const [node, mark] of marks) if (mark === "running") marks.delete(node);
    for (const { node } of view.errors) marks.set(node, "failed");
  }
  for (const question of view.questions) {
    // A question of a sub-flow waits in the node of the sub-flow.
    const node = question.namespace ? (question.namespace.split("/")[0] ?? "").replace(/\[\d+\]$/, "") : question.node;
    marks.set(node, "waiting");
  }
  return marks;
}

function legend() {
  return h(
    "ul",
    { class: "legend" },
    [
      ["running", "runs"],
      ["finished", "finished"],
      ["waiting", "waits"],
      ["failed", "failed"],
      ["next", "is next"],
    ].map(([mark, text]) => h("li", { "data-mark": mark }, icon(/** @type {string} */ (mark)), text)),
  );
}

/**
 * @param {HTMLElement} place
 * @param {ThreadSession} session
 */
function showFailures(place, { view }) {
  place.hidden = view.errors.length === 0;
  if (place.hidden) return;
  const failed = view.tasks.filter((task) => task.error !== null && task.error !== undefined);
  replace(
    place,
    h("h2", null, view.errors.length === 1 ? "1 failure" : `${view.errors.length} failures`),
    view.errors.map(({ node, error }) =>
      h("div", { class: "error-box" }, h("strong", null, node), h("pre", { class: "error-text" }, errorText(error))),
    ),
    view.tasks.length > 1
      ? h(
          "p",
          { class: "muted" },
          `Of ${view.tasks.length} tasks of the superstep, ${view.tasks.filter((task) => task.finished).length} have finished and ${failed.length} failed. Resume runs only those that have not finished.`,
        )
      : h(
          "p",
          { class: "muted" },
          "Remove the cause, then resume the thread. It continues with the tasks that have not finished.",
        ),
  );
}
