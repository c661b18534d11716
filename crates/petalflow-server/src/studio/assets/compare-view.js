// @ts-check
/** The view of two checkpoints, of one thread or of two, side by side. */

/** @typedef {import("./types.js").View} View */

import { link, open } from "./address.js";
import * as api from "./api.js";
import { emptyState, errorState } from "./announce.js";
import { equal } from "./diff.js";
import { h, replace } from "./dom.js";
import { count, date, errorText } from "./format.js";
import { badge } from "./status.js";
import { storedMs } from "./stored-ms.js";
import { tree } from "./tree.js";

/** @param {import("./main.js").ViewContext} context */
export async function showCompare(context) {
  const { main, query, signal, setTitle } = context;
  setTitle("Compare");
  const sides = ["left", "right"].map((side) => ({ side, ...sideFields(side, query) }));
  const form = h(
    "form",
    { class: "compare-form", novalidate: true },
    sides.map(({ element }) => element),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary" }, "Compare"),
      h("button", { type: "button", onclick: swap }, "Swap"),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    open(["compare"], addressQuery());
  });
  function addressQuery() {
    return Object.fromEntries(
      sides.flatMap(({ side, thread, checkpoint }) => [
        [side, thread.value.trim()],
        [`${side}_checkpoint`, checkpoint.value.trim()],
      ]),
    );
  }
  function swap() {
    const { left, right, left_checkpoint, right_checkpoint } = addressQuery();
    open(["compare"], {
      left: right,
      left_checkpoint: right_checkpoint,
      right: left,
      right_checkpoint: left_checkpoint,
    });
  }
  const result = h("div", null);
  replace(main, h("header", { class: "view-head" }, h("h1", null, "Compare")), form, result);
  if (!query.left || !query.right) {
    replace(
      result,
      emptyState(
        "Choose what to compare",
        "Write the id of a thread on each side. Without the number of a checkpoint, the newest one is taken.",
      ),
    );
    return;
  }
  try {
    const [left, right] = await Promise.all([
      load(query.left, query.left_checkpoint, signal),
      load(query.right, query.right_checkpoint, signal),
    ]);
    replace(result, table(/** @type {View} */ (left), /** @type {View} */ (right)));
  } catch (error) {
    if (!signal.aborted)
      replace(
        result,
        errorState(error, () => void showCompare(context)),
      );
  }
}

/**
 * @param {string} side
 * @param {{[name: string]: string}} query
 */
function sideFields(side, query) {
  const thread = h("input", {
    type: "text",
    id: `compare-${side}`,
    placeholder: "refunds:ann",
    autocomplete: "off",
    spellcheck: "false",
  });
  const checkpoint = h("input", {
    type: "text",
    inputmode: "numeric",
    id: `compare-${side}-checkpoint`,
    placeholder: "newest",
    class: "number",
  });
  thread.value = query[side] ?? "";
  checkpoint.value = query[`${side}_checkpoint`] ?? "";
  const element = h(
    "fieldset",
    { class: "group" },
    h("legend", null, side === "left" ? "Left" : "Right"),
    h("div", { class: "field" }, h("label", { for: thread.id }, "Thread"), thread),
    h("div", { class: "field" }, h("label", { for: checkpoint.id }, "Checkpoint"), checkpoint),
  );
  return { element, thread, checkpoint };
}

/**
 * @param {string} thread
 * @param {string | undefined} checkpoint
 * @param {AbortSignal} signal
 */
function load(thread, checkpoint, signal) {
  const number = Number(checkpoint);
  return number ? api.checkpoint(thread, number, signal) : api.thread(thread, signal);
}

/**
 * @param {View} left
 * @param {View} right
 */
function table(left, right) {
  const keys = [...new Set([...Object.keys(left.state), ...Object.keys(right.state)])];
  const rows = keys.map((key) => {
    const inLeft = Object.hasOwn(left.state, key);
    const inRight = Object.hasOwn(right.state, key);
    const kind = !inRight
      ? "only left"
      : !inLeft
        ? "only right"
        : equal(left.state[key], right.state[key])
          ? "same"
          : "changed";
    return { key, kind, inLeft, inRight };
  });
  const different = rows.filter(({ kind }) => kind !== "same").length;
  const onlyDifferent = h("input", { type: "checkbox" });
  const body = h("tbody", null);
  const fill = () =>
    replace(
      body,
      rows
        .filter(({ kind }) => !onlyDifferent.checked || kind !== "same")
        .map(({ key, kind, inLeft, inRight }) =>
          h(
            "tr",
            { "data-kind": kind.replace(" ", "-") },
            h("th", { scope: "row" }, h("code", null, key), h("span", { class: "change-mark" }, kind)),
            h(
              "td",
              { "data-side": "Left" },
              inLeft
                ? tree(left.state[key], { open: kind === "same" ? 0 : 2 })
                : h("span", { class: "tree-none" }, "no such key"),
            ),
            h(
              "td",
              { "data-side": "Right" },
              inRight
                ? tree(right.state[key], { open: kind === "same" ? 0 : 2 })
                : h("span", { class: "tree-none" }, "no such key"),
            ),
          ),
        ),
    );
  onlyDifferent.addEventListener("change", fill);
  fill();
  return h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "buttons" },
      h("p", null, `${count(different, "key differs", "keys differ")} of ${rows.length}.`),
      h("label", { class: "choice" }, onlyDifferent, "Only keys that differ"),
    ),
    h(
      "table",
      { class: "compare" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Key"),
          h("th", { scope: "col" }, head(left)),
          h("th", { scope: "col" }, head(right)),
        ),
      ),
      body,
    ),
  );
}

/** @param {View} view */
function head(view) {
  return h(
    "div",
    { class: "compare-head" },
    h(
      "a",
      { href: link(["thread", view.thread, "history"], { checkpoint: view.checkpoint }) },
      `${view.thread} #${view.checkpoint}`,
    ),
    h(
      "div",
      { class: "facts" },
      badge(view.status),
      h("span", null, `superstep ${view.superstep}`),
      h("span", null, date(storedMs(view))),
    ),
    view.errors.map(({ node, error }) => h("p", { class: "problem" }, `${node}: ${errorText(error)}`)),
  );
}
