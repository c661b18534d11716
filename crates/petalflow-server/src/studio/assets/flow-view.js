// @ts-check
/** The view of one flow: its graph, and the schemas of its input, its state and its questions. */

import { link } from "./address.js";
import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { Drawing } from "./drawing.js";
import { isReadOnly, isStartable, keySchemas } from "./flow-schemas.js";
import { openStartDialog } from "./start-dialog.js";
import { statusCounts } from "./status-counts.js";
import { tree } from "./tree.js";

/**
 * @param {import("./main.js").ViewContext} context
 * @param {string} name
 */
export async function showFlow({ main, signal, setTitle }, name) {
  const flow = await api.flow(name, signal);
  if (signal.aborted) return;
  setTitle(name);
  const drawing = new Drawing(flow);
  const counts = h("div", { class: "counts" });
  replace(
    main,
    h(
      "header",
      { class: "view-head" },
      h(
        "div",
        { class: "view-title" },
        h("h1", null, h("span", { class: "muted" }, "Flow "), flow.name),
        h(
          "div",
          { class: "buttons" },
          !isStartable(flow)
            ? null
            : h(
                "button",
                { type: "button", class: "primary", onclick: () => void openStartDialog(flow) },
                "Start a thread",
              ),
          h("a", { class: "button", href: link(["threads"], { flow: flow.name }) }, "Threads"),
        ),
      ),
      h("div", { class: "facts" }, h("span", { class: "chip" }, flow.kind), counts),
    ),
    h(
      "div",
      { class: "columns" },
      h("section", { class: "panel column" }, h("h2", null, "Graph"), drawing.element),
      h(
        "div",
        { class: "column side" },
        h(
          "section",
          { class: "panel" },
          h("h2", null, "Input"),
          flow.webhooks
            ? h("p", null, "Requests start its threads: ", flow.webhooks.map((path) => h("code", null, `POST ${path} `)))
            : null,
          flow.input
            ? tree(flow.input, { open: 1 })
            : h(
                "p",
                { class: "muted" },
                isReadOnly(flow)
                  ? "The threads of the flow can only be read: the program with the types of the flow is not here."
                  : "The flow has no schema of its input. A thread starts with any value, as JSON.",
              ),
        ),
        schemas("State", "keys", keySchemas(flow)),
        schemas("Questions", "questions", flow.questions),
      ),
    ),
  );
  void drawing.load(signal);
  void statusCounts(counts, flow, signal);
}

/**
 * @param {string} title
 * @param {string} what
 * @param {{[name: string]: import("./types.js").Schema | null}} all
 */
function schemas(title, what, all) {
  const names = Object.keys(all ?? {});
  return h(
    "section",
    { class: "panel" },
    h("h2", null, title),
    names.length === 0
      ? h("p", { class: "muted" }, `No ${what}.`)
      : names.map((name) =>
          all[name]
            ? tree(all[name], { name, open: 0 })
            : h(
                "div",
                { class: "tree-leaf" },
                h("span", { class: "tree-name" }, name),
                ": ",
                h("span", { class: "tree-none" }, "any value"),
              ),
        ),
  );
}
