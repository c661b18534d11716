// @ts-check
/** The dialog that starts a thread of a flow. */

import { open } from "./address.js";
import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { h, newId } from "./dom.js";
import { inputSchema, isStartable } from "./flow-schemas.js";
import { FieldError } from "./json-field.js";
import { schemaForm } from "./schema-form.js";
import { isChat } from "./thread-header.js";

/** @typedef {import("./types.js").Flow} Flow */

/**
 * Asks for a flow, then for the input.
 *
 * @param {Flow[]} flows
 */
export async function openFlowDialog(flows) {
  const id = newId("flow");
  const select = h(
    "select",
    { id },
    flows.filter(isStartable).map(({ name }) => h("option", { value: name }, name)),
  );
  const flow = await openDialog({
    title: "Start a thread",
    content: h("div", { class: "field" }, h("label", { for: id }, "Flow"), select),
    action: "Next",
    act: async () => flows.find(({ name }) => name === select.value) ?? null,
  });
  if (flow) await openStartDialog(flow);
}

/** @param {Flow} flow */
export async function openStartDialog(flow) {
  const id = newId("start");
  const name = h("input", { type: "text", id, autocomplete: "off", "aria-describedby": `${id}-hint` });
  const input = schemaForm(inputSchema(flow), { label: flow.kind === "agent" ? "Message" : "Input" });
  const labels = schemaForm({ type: "object", additionalProperties: { type: "string" } }, { label: "Labels" });
  const result = await openDialog({
    title: `Start a thread of ${flow.name}`,
    wide: true,
    action: "Start",
    content: [
      input.element,
      h(
        "div",
        { class: "field" },
        h("label", { for: id }, "Id ", h("span", { class: "muted" }, "(optional)")),
        name,
        h(
          "p",
          { class: "hint", id: `${id}-hint` },
          `The thread is ${flow.name}:… with this id. Without one, the server chooses it.`,
        ),
      ),
      h("details", null, h("summary", null, "Labels"), labels.element),
    ],
    act: async () => {
      try {
        const given = /** @type {{[name: string]: string}} */ (labels.read());
        const body = {
          input: input.read(),
          ...(name.value.trim() ? { id: name.value.trim() } : {}),
          ...(Object.keys(given).length > 0 ? { labels: given } : {}),
        };
        return await api.start(flow.name, body);
      } catch (error) {
        if (error instanceof FieldError) error.control.focus();
        throw error;
      }
    },
  });
  if (result) open(["thread", result.thread, ...(isChat(flow.kind) ? ["chat"] : [])]);
}
