// @ts-check
/** A form made from a JSON Schema. What it has no field for is written as JSON. */

import { h, newId, replace } from "./dom.js";
import { isLargeNumber, wholeNumber } from "./json.js";
import { FieldError, jsonField, wrong } from "./json-field.js";
import { couldBe, nameOf, options, resolved, withoutNull } from "./schema.js";

/** @typedef {import("./types.js").Schema} Schema */
/** @typedef {import("./json-field.js").Field} Field */

/** What is expected where nothing is known of a value. */
const ANY_VALUE =
  'Any value, as JSON: an object such as {"name": "Ann"}, a list such as [1, 2], a number, true or false, or a text in double quotes.';
/** Schemas inside schemas: a recursive one is written as JSON from here on. */
const DEEPEST = 6;

/**
 * @typedef {object} Context
 * @property {Schema} root
 * @property {string} label
 * @property {unknown} value The value at the start, or undefined.
 * @property {number} depth
 */

/**
 * A form for a value, with a switch to JSON.
 *
 * @param {Schema | null | undefined} schema
 * @param {{label: string, value?: unknown}} options
 * @returns {Field}
 */
export function schemaForm(schema, { label, value }) {
  if (!schema || Object.keys(schema).length === 0) return jsonField({ label, value, hint: ANY_VALUE });
  const root = schema;
  const kind = withoutNull(resolved(schema, root), root).schema;
  // A text or a choice is as easy to enter as its JSON.
  const isSimple = ["boolean", "integer", "number"].includes(kind.type) || options(kind, root) !== null;
  /** @type {(value: unknown) => Field} */
  const asForm = (start) => anyField(schema, { root, label, value: start, depth: 0 });
  let isJson = false;
  let field = asForm(value);
  const body = h("div", { class: "form-body" }, field.element);
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const toggle = h("button", { type: "button", class: "plain small" }, "Edit as JSON");
  toggle.addEventListener("click", () => {
    problem.hidden = true;
    /** @type {unknown} */
    let start;
    try {
      start = field.read();
    } catch (error) {
      // A form that is not filled in has no JSON yet.
      if (isJson) {
        problem.textContent = `${error instanceof Error ? error.message : error} Correct it before you go back to the form.`;
        problem.hidden = false;
        return;
      }
    }
    isJson = !isJson;
    field = isJson ? jsonField({ label, value: start }) : asForm(start);
    toggle.textContent = isJson ? "Edit as a form" : "Edit as JSON";
    replace(body, field.element);
  });
  return {
    element: h("div", { class: "form" }, body, problem, isSimple ? null : h("div", { class: "form-switch" }, toggle)),
    read: () => field.read(),
  };
}

/**
 * @param {any} schema
 * @param {Context} context
 * @returns {Field}
 */
function anyField(schema, context) {
  const full = resolved(schema, context.root);
  const { schema: inner, nullable } = withoutNull(full, context.root);
  if (nullable) {
    return optionalField({ ...context, description: full.description }, null, (value) =>
      plainField({ ...inner, description: undefined }, { ...context, value }),
    );
  }
  return plainField(inner, context);
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function plainField(schema, context) {
  const { root, label, value, depth } = context;
  if (depth > DEEPEST) return jsonField({ label, value, hint: schema.description });
  const values = options(schema, root);
  if (values) return choiceField(schema, context, values);
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return variantField(schema, context, choices);
  switch (schema.type) {
    case "string":
      return textField(schema, context);
    case "integer":
    case "number":
      return numberField(schema, context);
    case "boolean":
      return booleanField(schema, context);
    case "array":
      if (Array.isArray(schema.prefixItems) || schema.items === undefined) break;
      return listField(schema, context);
    case "object":
      if (!schema.properties && (!schema.additionalProperties || typeof schema.additionalProperties !== "object"))
        break;
      return schema.properties ? objectField(schema, context) : mapField(schema, context);
    case "null":
      return { element: h("p", { class: "muted" }, `${label}: no value`), read: () => null };
  }
  return jsonField({ label, value: value === undefined ? schema.default : value, hint: schema.description });
}

/**
 * A label, a control, and the description.
 *
 * @param {Schema} schema
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} control
 */
function labelled(schema, label, control) {
  const id = newId("field");
  control.id = id;
  /** @type {HTMLElement[]} */
  const parts = [h("label", { for: id }, label), control];
  if (schema.description) {
    control.setAttribute("aria-describedby", `${id}-hint`);
    parts.push(h("p", { class: "hint", id: `${id}-hint` }, schema.description));
  }
  control.addEventListener("input", () => control.removeAttribute("aria-invalid"));
  return h("div", { class: "field" }, parts);
}

/** @type {{[format: string]: string}} */
const INPUT_TYPES = { email: "email", uri: "url", date: "date", time: "time" };

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function textField(schema, { label, value, depth }) {
  const start = value ?? schema.default ?? "";
  const isLong = depth === 0 || String(start).includes("\n") || Number(schema.maxLength) > 200;
  const control = isLong
    ? h("textarea", { rows: 3 })
    : h("input", { type: INPUT_TYPES[schema.format] ?? "text", autocomplete: "off" });
  control.value = typeof start === "string" ? start : JSON.stringify(start);
  return {
    element: labelled(schema, label, control),
    read: () => {
      const text = control.value;
      const length = [...text].length;
      if (length < (schema.minLength ?? 0))
        throw wrong(control, `“${label}” needs at least ${schema.minLength} characters.`);
      if (length > (schema.maxLength ?? Infinity))
        throw wrong(control, `“${label}” may have at most ${schema.maxLength} characters.`);
      return text;
    },
  };
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function numberField(schema, { label, value }) {
  const isInteger = schema.type === "integer";
  const control = h("input", {
    type: "text",
    inputmode: isInteger ? "numeric" : "decimal",
    autocomplete: "off",
    class: "number",
  });
  const start = value ?? schema.default;
  if (start !== undefined && start !== null) control.value = isLargeNumber(start) ? start.rawJSON : String(start);
  return {
    element: labelled(schema, label, control),
    read: () => {
      const text = control.value.trim();
      const number = Number(text);
      if (text === "" || !Number.isFinite(number)) throw wrong(control, `“${label}” is not a number.`);
      if (isInteger && !Number.isInteger(number)) throw wrong(control, `“${label}” is not a whole number.`);
      if (number < (schema.minimum ?? -Infinity)) throw wrong(control, `“${label}” is less than ${schema.minimum}.`);
      if (number > (schema.maximum ?? Infinity)) throw wrong(control, `“${label}” is more than ${schema.maximum}.`);
      if (!isInteger) return number;
      const whole = wholeNumber(text);
      if (whole === null) throw wrong(control, `“${label}” is too large for this browser.`);
      return whole;
    },
  };
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function booleanField(schema, { label, value }) {
  const id = newId("field");
  const start = typeof value === "boolean" ? value : schema.default;
  const choices = [true, false].map((choice) => {
    const input = h("input", { type: "radio", name: id, value: String(choice), checked: start === choice });
    return { input, element: h("label", { class: "choice" }, input, choice ? "yes" : "no") };
  });
  const element = h(
    "fieldset",
    { class: "field choices" },
    h("legend", null, label),
    h(
      "div",
      { class: "choice-row" },
      choices.map((choice) => choice.element),
    ),
    schema.description ? h("p", { class: "hint" }, schema.description) : null,
  );
  return {
    element,
    read: () => {
      const chosen = choices.find(({ input }) => input.checked);
      if (!chosen)
        throw new FieldError(`“${label}” has no value. Choose yes or no.`, /** @type {any} */ (choices[0]).input);
      return chosen.input.value === "true";
    },
  };
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @param {{value: unknown, description: string}[]} values
 * @returns {Field}
 */
function choiceField(schema, { label, value }, values) {
  const start = value ?? schema.default;
  const control = h(
    "select",
    null,
    values.length > 1 ? h("option", { value: "" }, "Choose…") : null,
    values.map((option, index) =>
      h("option", { value: index, selected: option.value === start || values.length === 1 }, optionText(option)),
    ),
  );
  return {
    element: labelled(schema, label, control),
    read: () => {
      if (control.value === "") throw wrong(control, `“${label}” has no value. Choose one.`);
      return values[Number(control.value)]?.value;
    },
  };
}

/** @param {{value: unknown, description: string}} option */
function optionText({ value, description }) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return description ? `${text}: ${description}` : text;
}

/**
 * One of several schemas.
 *
 * @param {Schema} schema
 * @param {Context} context
 * @param {any[]} choices
 * @returns {Field}
 */
function variantField(schema, context, choices) {
  const variants = choices.map((choice) => resolved(choice, context.root));
  const { label, value, depth } = context;
  const known = value === undefined ? 0 : variants.findIndex((variant) => couldBe(value, variant, context.root));
  // A value of none of them is shown as it is.
  if (known < 0) return jsonField({ label, value, hint: schema.description });
  const control = h(
    "select",
    null,
    variants.map((variant, index) => h("option", { value: index, selected: index === known }, nameOf(variant, index))),
  );
  const body = h("div", { class: "nested" });
  /** @param {unknown} start */
  const make = (start) => {
    const variant = /** @type {Schema} */ (variants[Number(control.value)]);
    const field = anyField(variant, {
      ...context,
      label: nameOf(variant, Number(control.value)),
      value: start,
      depth: depth + 1,
    });
    // A constant needs no field.
    replace(
      body,
      Object.hasOwn(variant, "const") ? h("p", { class: "hint" }, variant.description ?? "") : field.element,
    );
    return field;
  };
  let field = make(value);
  control.addEventListener("change", () => {
    field = make(undefined);
  });
  return { element: h("div", { class: "variant" }, labelled(schema, label, control), body), read: () => field.read() };
}

/**
 * A field that may have no value.
 *
 * @param {Context & {description?: string}} context
 * @param {unknown} absent The value of the field without a value.
 * @param {(value: unknown) => Field} make
 * @returns {Field}
 */
function optionalField({ label, value, description }, absent, make) {
  const hasValue = value !== undefined && value !== null;
  const check = h("input", { type: "checkbox", checked: hasValue });
  const body = h("div", { class: "nested" });
  /** @type {Field | null} */
  let field = null;
  const show = () => {
    field = check.checked ? make(hasValue ? value : undefined) : null;
    replace(body, field?.element);
    body.hidden = !field;
  };
  check.addEventListener("change", show);
  show();
  return {
    element: h(
      "div",
      { class: "optional" },
      h("label", { class: "choice" }, check, `${label} `, h("span", { class: "muted" }, "(optional)")),
      description ? h("p", { class: "hint" }, description) : null,
      body,
    ),
    read: () => (field ? field.read() : absent),
  };
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function objectField(schema, { root, label, value, depth }) {
  const given = value !== null && typeof value === "object" ? /** @type {{[name: string]: unknown}} */ (value) : {};
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([name, inner]) => {
    const full = resolved(inner, root);
    const { schema: filled, nullable } = withoutNull(full, root);
    const context = {
      root,
      label: name,
      value: Object.hasOwn(given, name) ? given[name] : full.default,
      depth: depth + 1,
    };
    const field =
      required.has(name) && !nullable
        ? plainField(full, context)
        : optionalField({ ...context, description: full.description }, required.has(name) ? null : undefined, (start) =>
            plainField({ ...filled, description: undefined }, { ...context, value: start }),
          );
    return { name, field };
  });
  const description = schema.description ? h("p", { class: "hint" }, schema.description) : null;
  const elements = fields.map(({ field }) => field.element);
  // What the form has no field for stays as it is.
  const others = Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(schema.properties, name)));
  return {
    element:
      depth === 0
        ? h("div", { class: "fields" }, description, elements)
        : h("fieldset", { class: "fields group" }, h("legend", null, label), description, elements),
    read: () => {
      /** @type {{[name: string]: unknown}} */
      const result = { ...others };
      for (const { name, field } of fields) {
        const read = field.read();
        if (read !== undefined) result[name] = read;
      }
      return result;
    },
  };
}

/**
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function listField(schema, { root, label, value, depth }) {
  /** @type {Set<{field: Field, row: HTMLElement}>} */
  const items = new Set();
  const list = h("div", { class: "items" });
  const none = h("p", { class: "muted" }, "No items.");
  const add = h("button", { type: "button", class: "small" }, "Add an item");
  /** @param {unknown} [start] */
  const insert = (start) => {
    const field = anyField(schema.items, { root, label: "Item", value: start, depth: depth + 1 });
    const remove = h("button", { type: "button", class: "plain small" }, "Remove");
    const item = { field, row: h("div", { class: "item" }, field.element, remove) };
    remove.addEventListener("click", () => {
      items.delete(item);
      item.row.remove();
      none.hidden = items.size > 0;
      add.focus();
    });
    items.add(item);
    list.append(item.row);
    none.hidden = true;
    return item.row;
  };
  add.addEventListener("click", () => {
    const control = insert().querySelector("input, select, textarea");
    if (control instanceof HTMLElement) control.focus();
  });
  const given = value ?? schema.default;
  if (Array.isArray(given)) given.forEach((item) => insert(item));
  return {
    element: h(
      "fieldset",
      { class: "fields group" },
      h("legend", null, label),
      schema.description ? h("p", { class: "hint" }, schema.description) : null,
      none,
      list,
      h("div", null, add),
    ),
    read: () => {
      if (items.size < (schema.minItems ?? 0))
        throw new FieldError(`“${label}” needs at least ${schema.minItems} items.`, add);
      return [...items].map(({ field }) => field.read());
    },
  };
}

/**
 * An object whose names are free.
 *
 * @param {Schema} schema
 * @param {Context} context
 * @returns {Field}
 */
function mapField(schema, { root, label, value, depth }) {
  const entry = {
    type: "object",
    properties: { name: { type: "string" }, value: schema.additionalProperties },
    required: ["name", "value"],
  };
  const given =
    value !== null && typeof value === "object"
      ? Object.entries(value).map(([name, inner]) => ({ name, value: inner }))
      : undefined;
  const list = listField({ ...schema, items: entry }, { root, label, value: given, depth });
  list.element.classList.add("map");
  return {
    element: list.element,
    read: () => Object.fromEntries(/** @type {any[]} */ (list.read()).map((item) => [item.name, item.value])),
  };
}
