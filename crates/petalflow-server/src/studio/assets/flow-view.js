// @ts-check
/** The view of one flow: its graph, and what its input, its state and its questions consist of. */

import { link } from "./address.js";
import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { Drawing } from "./drawing.js";
import { inputSchema, isReadOnly, isStartable, keySchemas } from "./flow-schemas.js";
import { schemaTable } from "./schema-table.js";
import { openStartDialog } from "./start-dialog.js";
import { statusCounts } from "./status-counts.js";

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
  const schema = inputSchema(flow);
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
          schema
            ? schemaTable(schema, flow.kind === "agent" ? "message" : "input")
            : h(
                "p",
                { class: "muted" },
                isReadOnly(flow)
                  ? "The threads of the flow can only be read: the program with the types of the flow is not here."
                  : "The flow has no schema of its input. A thread starts with any value, as JSON.",
              ),
        ),
        h("section", { class: "panel" }, h("h2", null, "State"), stateTable(keySchemas(flow))),
        h("section", { class: "panel" }, h("h2", null, "Questions"), answers(flow.questions)),
      ),
    ),
  );
  void drawing.load(signal);
  void statusCounts(counts, flow, signal);
}

/** @param {{[name: string]: import("./types.js").Schema | null}} keys */
function stateTable(keys) {
  if (Object.keys(keys).length === 0)
    return h("p", { class: "muted" }, "The server does not say which keys the state has. Each thread shows them.");
  const properties = Object.fromEntries(Object.entries(keys).map(([name, schema]) => [name, schema ?? {}]));
  const [first] = Object.values(keys);
  // Each key has the definitions of all.
  const root = { type: "object", properties, required: Object.keys(properties), ...(first?.$defs ? { $defs: first.$defs } : {}) };
  return schemaTable(root, "state");
}

/** @param {{[name: string]: import("./types.js").Schema | null}} questions */
function answers(questions) {
  const names = Object.keys(questions ?? {});
  if (names.length === 0) return h("p", { class: "muted" }, "The flow asks nothing.");
  return names.map((name) => [h("h3", null, name), schemaTable(questions[name] ?? {}, "answer")]);
}
