// @ts-check
/** What a JSON Schema asks for, as a table that people read: the names of the values, what they are, and what they mean. */

/** @typedef {import("./types.js").Schema} Schema */

import { h } from "./dom.js";
import { nameOf, options, resolved, withoutNull } from "./schema.js";

/** Objects inside objects that have rows of their own. */
const DEEPEST = 3;
/** Choices that are listed. */
const MOST_CHOICES = 8;

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} type
 * @property {boolean} isRequired
 * @property {string} description
 * @property {number} depth
 */

/**
 * @param {Schema} schema
 * @param {string} label The name of the value itself, if it has no names inside.
 */
export function schemaTable(schema, label) {
  const rows = rowsOf(schema, schema, label);
  if (rows.length === 0) return h("p", { class: "muted" }, "It needs no values.");
  const hasWords = rows.some(({ description }) => description !== "");
  return h(
    "table",
    { class: "schema-table" },
    h(
      "thead",
      null,
      h("tr", null, h("th", { scope: "col" }, "Name"), h("th", { scope: "col" }, "Value"), hasWords ? h("th", { scope: "col" }, "Meaning") : null),
    ),
    h(
      "tbody",
      null,
      rows.map(({ name, type, isRequired, description, depth }) => {
        const head = h("th", { scope: "row" }, h("code", null, name));
        head.style.paddingInlineStart = `${depth * 16}px`;
        return h(
          "tr",
          null,
          head,
          h("td", null, type, isRequired ? null : h("span", { class: "muted" }, ", optional")),
          hasWords ? h("td", null, description) : null,
        );
      }),
    ),
  );
}

/**
 * @param {Schema} schema
 * @param {Schema} root
 * @param {string} label
 * @returns {Row[]}
 */
function rowsOf(schema, root, label) {
  const full = withoutNull(resolved(schema, root), root).schema;
  if (full.properties) return propertyRows(full, root, 0);
  return [{ name: label, type: typeText(schema, root), isRequired: true, description: full.description ?? "", depth: 0 }];
}

/**
 * @param {Schema} schema
 * @param {Schema} root
 * @param {number} depth
 * @returns {Row[]}
 */
function propertyRows(schema, root, depth) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).flatMap(([name, inner]) => {
    const full = resolved(inner, root);
    const { schema: filled, nullable } = withoutNull(full, root);
    const row = {
      name,
      type: typeText(inner, root),
      isRequired: required.has(name) && !nullable,
      description: full.description ?? "",
      depth,
    };
    const isOpen = filled.properties && depth < DEEPEST;
    return isOpen ? [row, ...propertyRows(filled, root, depth + 1)] : [row];
  });
}

/** @type {{[type: string]: string}} */
const TYPES = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  object: "values by name",
  array: "list",
  null: "no value",
};

/**
 * @param {any} schema
 * @param {Schema} root
 * @returns {string}
 */
function typeText(schema, root) {
  const { schema: full } = withoutNull(resolved(schema, root), root);
  const values = options(full, root);
  if (values) return `one of ${listed(values.map(({ value }) => (typeof value === "string" ? value : JSON.stringify(value))))}`;
  const choices = full.oneOf ?? full.anyOf;
  if (Array.isArray(choices)) {
    return `one of ${listed(choices.map((choice, index) => nameOf(resolved(choice, root), index)))}`;
  }
  if (full.type === "array") {
    const isPlain = full.items && typeof full.items === "object" && !full.items.$ref;
    return isPlain ? `list of ${typeText(full.items, root)}` : "list";
  }
  if (full.type === "object" && full.properties) return "values";
  return `${TYPES[full.type] ?? "any value, as JSON"}${bounds(full)}`;
}

/** @param {string[]} names */
function listed(names) {
  const shown = names.slice(0, MOST_CHOICES).join(", ");
  return names.length > MOST_CHOICES ? `${shown}, …` : shown;
}

/** @param {Schema} schema */
function bounds({ type, format, minimum, maximum, minLength, maxLength }) {
  if (type === "integer" || type === "number") {
    if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
    if (minimum) return ` from ${minimum}`;
    return maximum === undefined ? "" : ` up to ${maximum}`;
  }
  if (type !== "string") return "";
  const length = maxLength === undefined ? (minLength ? `, at least ${minLength} characters` : "") : `, at most ${maxLength} characters`;
  return `${format && !/^u?int|^float|^double/.test(format) ? ` (${format})` : ""}${length}`;
}
