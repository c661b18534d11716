// @ts-check
/** The dialog that writes keys of a thread's state. */

import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { h, newId, replace } from "./dom.js";
import { keySchemas } from "./flow-schemas.js";
import { preview } from "./format.js";
import { schemaForm } from "./schema-form.js";

/**
 * Opens the dialog, and returns the number of the new checkpoint.
 *
 * @param {import("./thread-session.js").ThreadSession} session
 * @param {import("./types.js").View} view
 */
export async function openEditDialog(session, view) {
  const schemas = keySchemas(session.flow);
  const keys = [...new Set([...Object.keys(view.state), ...Object.keys(schemas)])];
  const fields = keys.map((key) => keyField(key, schemas[key] ?? null, view.state[key]));
  const id = newId("node");
  const node = h(
    "select",
    { id },
    h("option", { value: "" }, "no node"),
    session.flow.graph.nodes.map((one) => h("option", { value: one.id }, one.id)),
  );
  const result = await openDialog({
    title: `Edit keys of ${session.id}`,
    wide: true,
    action: "Write the keys",
    content: [
      h(
        "p",
        { class: "muted" },
        "Choose the keys to write. The values become a new checkpoint, and the thread is held until it is resumed.",
      ),
      fields.map(({ element }) => element),
      h(
        "div",
        { class: "field" },
        h("label", { for: id }, "As a write of"),
        node,
        h("p", { class: "hint" }, "With a node, the thread continues as if this node had written the keys."),
      ),
    ],
    act: async () => {
      /** @type {{[key: string]: unknown}} */
      const written = {};
      for (const field of fields) if (field.isChosen()) written[field.key] = field.read();
      if (Object.keys(written).length === 0) throw new Error("No key is chosen. Choose at least one.");
      return api.edit(session.id, written, node.value);
    },
  });
  return result?.checkpoint ?? null;
}

/**
 * @param {string} key
 * @param {import("./types.js").Schema | null} schema
 * @param {unknown} value
 */
function keyField(key, schema, value) {
  const check = h("input", { type: "checkbox" });
  const body = h("div", { class: "nested", hidden: true });
  /** @type {import("./json-field.js").Field | null} */
  let field = null;
  check.addEventListener("change", () => {
    field ??= schemaForm(schema, { label: "New value", value });
    replace(body, field.element);
    body.hidden = !check.checked;
  });
  return {
    key,
    element: h(
      "div",
      { class: "optional" },
      h(
        "label",
        { class: "choice" },
        check,
        h("code", null, key),
        " ",
        h("span", { class: "muted" }, preview(value, 60)),
      ),
      body,
    ),
    isChosen: () => check.checked,
    read: () => field?.read(),
  };
}
