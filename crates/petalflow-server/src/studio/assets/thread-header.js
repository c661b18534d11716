// @ts-check
/** The head of the views of one thread: what it is, how it is, its buttons, and the links to its other views. */

import { link } from "./address.js";
import { h, replaceKeepingFocus } from "./dom.js";
import { age, date, names } from "./format.js";
import { badges, meaning, troubleText } from "./status.js";
import { canResume, threadButtons } from "./thread-actions.js";

/** @typedef {import("./thread-session.js").ThreadSession} ThreadSession */

/** @type {{[connection: string]: string}} */
const CONNECTIONS = {
  connecting: "connecting",
  open: "live",
  closed: "looks each second",
  retrying: "connection lost, trying again",
  polling: "looks every few seconds",
};

/** @param {string} kind */
export function isChat(kind) {
  return kind === "agent" || kind === "conversation";
}

/**
 * Why a thread does not go on that waits for no answer, and what continues it.
 *
 * @param {ThreadSession} session
 */
function restText({ view }) {
  if (view.trouble) return troubleText(view.trouble);
  const next = view.next.length > 0 ? ` It continues with ${names(view.next)}.` : "";
  if (view.status === "held")
    return next
      ? `${meaning("held")}${next}`
      : `${meaning("held")} No node is next: a resume ends the hold, and another turn begins with a new input.`;
  if (view.status === "stopped") return `${meaning("stopped")}${next}`;
  return "";
}

/**
 * @param {ThreadSession} session
 * @param {"run" | "chat" | "history"} tab
 */
export function threadHeader(session, tab) {
  const facts = h("div", { class: "facts" });
  const buttons = h("div", { class: "buttons" });
  const problem = h("p", { class: "notice", hidden: true });
  const rest = h("p", { class: "rest-note", hidden: true });
  /** @type {[string, string, string[]][]} */
  const tabs = [
    ["run", "Run", []],
    ["chat", "Chat", ["chat"]],
    ["history", "History", ["history"]],
  ];
  const nav = h(
    "nav",
    { class: "tabs", "aria-label": "Views of the thread" },
    tabs
      .filter(([name]) => name !== "chat" || isChat(session.flow.kind))
      .map(([name, text, path]) =>
        h("a", { href: link(["thread", session.id, ...path]), "aria-current": name === tab ? "page" : null }, text),
      ),
  );
  let drawnButtons = "";
  const update = () => {
    const { view, connection } = session;
    replaceKeepingFocus(
      facts,
      badges(view.status, view.trouble),
      h("span", null, "flow ", h("a", { href: link(["flow", session.flow.name]) }, session.flow.name)),
      h("span", null, `turn ${view.turn}`),
      h("span", null, `superstep ${view.superstep}`),
      view.next.length > 0 ? h("span", null, `next: ${names(view.next)}`) : null,
      h("span", { title: date(view.updated_ms) }, `updated ${age(view.updated_ms)}`),
      h("span", { class: "connection", "data-connection": connection }, CONNECTIONS[connection]),
      Object.entries(view.labels).map(([name, value]) =>
        h(
          "a",
          { class: "chip", href: link(["threads"], { label: `${name}:${value}` }), title: `${name}: ${value}` },
          `${name}: ${value}`,
        ),
      ),
    );
    rest.textContent = restText(session);
    rest.hidden = rest.textContent === "";
    problem.hidden = !session.problem;
    problem.textContent = session.problem ? `The thread could not be read: ${session.problem}` : "";
    // A button that stays is not replaced, so that it keeps the focus.
    const state = `${view.status} ${view.questions.length} ${canResume(session)}`;
    if (state === drawnButtons) return;
    drawnButtons = state;
    replaceKeepingFocus(buttons, threadButtons(session));
  };
  session.onChange((topic) => {
    if (topic !== "events") update();
  });
  update();
  return h(
    "header",
    { class: "view-head" },
    h("div", { class: "view-title" }, h("h1", null, h("span", { class: "muted" }, "Thread "), session.id), buttons),
    facts,
    rest,
    problem,
    nav,
  );
}
