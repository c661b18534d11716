// @ts-check
/**
 * The start of the studio: shows the view that the address names.
 *
 * @typedef {object} ViewContext
 * @property {HTMLElement} main Where the view is shown.
 * @property {{[name: string]: string}} query The parameters of the address.
 * @property {AbortSignal} signal Aborted when another view is opened.
 * @property {(title: string) => void} setTitle
 * @property {(work: () => void) => void} whenShown Calls the function when the view is in the page, and so has a size.
 */

import { current, link } from "./address.js";
import { RequestError, schedules, whenTokenIsRefused } from "./api.js";
import { emptyState, errorState } from "./announce.js";
import { showChat } from "./chat-view.js";
import { showCompare } from "./compare-view.js";
import { openTextDialog } from "./dialog.js";
import { append, h, replace, replaceKeepingFocus } from "./dom.js";
import { showFlow } from "./flow-view.js";
import { showFlows } from "./flows-view.js";
import { showHistory } from "./history-view.js";
import { inboxText, lookAtInbox, watchInbox } from "./inbox-count.js";
import { showInbox } from "./inbox-view.js";
import { showSchedules } from "./schedules-view.js";
import { themeSwitch } from "./theme.js";
import { showThread } from "./thread-view.js";
import { showThreads } from "./threads-view.js";
import { save, takeFromAddress } from "./token.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
let leaving = new AbortController();
let shownPath = "";

/** @param {ViewContext} context @param {string[]} path */
async function showView(context, path) {
  const [view = "flows", id = "", tab = ""] = path;
  if (view === "flows") return showFlows(context);
  if (view === "flow" && id) return showFlow(context, id);
  if (view === "threads") return showThreads(context);
  if (view === "inbox") return showInbox(context);
  if (view === "schedules") return showSchedules(context);
  if (view === "compare") return showCompare(context);
  if (view === "thread" && id && tab === "") return showThread(context, id);
  if (view === "thread" && id && tab === "chat") return showChat(context, id);
  if (view === "thread" && id && tab === "history") return showHistory(context, id);
  replace(
    context.main,
    pageTitle("No such page"),
    emptyState(
      "There is no such page",
      "The address names nothing that the studio has.",
      h("a", { class: "button", href: link(["flows"]) }, "Open the flows"),
    ),
  );
}

/**
 * A title for people who cannot see the page. All others see the reason.
 *
 * @param {string} text
 */
function pageTitle(text) {
  return h("h1", { class: "hidden-text" }, text);
}

async function show() {
  takeFromAddress();
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { path, query } = current();
  drawNav(path[0] ?? "flows");
  document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  const isOther = shownPath !== path.join("/");
  const isFirst = shownPath === "";
  shownPath = path.join("/") || "flows";
  main.setAttribute("aria-busy", "true");
  const loading = setTimeout(() => replace(main, h("p", { class: "loading" }, "Loading…")), 250);
  const setTitle = (/** @type {string} */ title) => {
    document.title = `${title} · petalflow studio`;
  };
  // A view that fails while it is replaced must not touch the page of the next one.
  const place = h("div", { class: "view" });
  /** @type {(() => void)[]} */
  const whenShown = [];
  try {
    await showView({ main: place, query, signal, setTitle, whenShown: (work) => whenShown.push(work) }, path);
  } catch (error) {
    if (signal.aborted) return;
    const isMissing = error instanceof RequestError && error.status === 404;
    replace(
      place,
      pageTitle("Error"),
      isMissing
        ? emptyState(
            "Not found",
            `${error.message}. It may have been deleted.`,
            h("a", { class: "button", href: link(["threads"]) }, "Open the threads"),
          )
        : errorState(error, () => void show()),
    );
  } finally {
    clearTimeout(loading);
  }
  if (signal.aborted) return;
  replace(main, place);
  for (const work of whenShown) work();
  void lookForSchedules(signal);
  void lookAtInbox(signal);
  main.removeAttribute("aria-busy");
  if (isOther && !isFirst) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

/** Whether the server has schedules. `null` until it has said so. @type {boolean | null} */
let hasSchedules = null;

/**
 * Asks the server once whether it has schedules, when it has accepted the token.
 *
 * @param {AbortSignal} signal
 */
async function lookForSchedules(signal) {
  if (hasSchedules !== null) return;
  try {
    hasSchedules = (await schedules(signal)).length > 0;
  } catch (error) {
    // A server without the address has none, and some callers may not see them.
    const isSettled = error instanceof RequestError && (error.status === 404 || error.status === 403);
    if (isSettled) hasSchedules = false;
  }
  if (hasSchedules) drawNav(current().path[0] ?? "flows");
}

/** @param {string} view */
function drawNav(view) {
  const group = view === "thread" || view === "compare" ? "threads" : view === "flow" ? "flows" : view;
  const links = [
    ["flows", "Flows"],
    ["threads", "Threads"],
    ["inbox", inboxText()],
    ...(hasSchedules ? [["schedules", "Schedules"]] : []),
  ];
  replaceKeepingFocus(
    /** @type {HTMLElement} */ (document.getElementById("nav")),
    links.map(([name, text]) =>
      h("a", { href: link([/** @type {string} */ (name)]), "aria-current": name === group ? "page" : null }, text),
    ),
  );
}

let asksForToken = false;

async function askForToken() {
  if (asksForToken) return;
  asksForToken = true;
  const token = await openTextDialog({
    title: "The server asks for a token",
    label: "Token",
    hint: "The program that serves the studio has it. It is kept until this tab is closed.",
    action: "Use this token",
    act: async (text) => text,
  });
  asksForToken = false;
  if (token === null) return;
  save(token);
  hasSchedules = null;
  void show();
}

watchInbox(() => drawNav(current().path[0] ?? "flows"));
whenTokenIsRefused(() => void askForToken());
append(/** @type {HTMLElement} */ (document.getElementById("top-end")), themeSwitch());
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // The fragment of the address names the view.
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => void show());
void show();
