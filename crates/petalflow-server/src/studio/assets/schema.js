// @ts-check
/** What a JSON Schema says about a value, as far as a form needs it. */

import { isLargeNumber } from "./json.js";

/** @typedef {import("./types.js").Schema} Schema */

/**
 * Replaces a reference by the schema that it names. Words beside the reference stay.
 *
 * @param {any} schema
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolved(schema, root) {
  let current = schema;
  for (let steps = 0; steps < 20; steps++) {
    if (current === true || current === null || current === undefined) return {};
    if (current === false) return { not: {} };
    if (Array.isArray(current.allOf) && current.allOf.length === 1) {
      const { allOf, ...words } = current;
      current = { ...allOf[0], ...words };
      continue;
    }
    if (typeof current.$ref !== "string") return current;
    const { $ref, ...words } = current;
    const target = find($ref, root);
    if (target === undefined) return words;
    current = { ...target, ...words };
  }
  return current;
}

/**
 * @param {string} reference
 * @param {any} root
 * @returns {any}
 */
function find(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  let current = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (current === null || typeof current !== "object" || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}

/**
 * Splits `null` off: whether it is allowed, and the schema of all other values.
 *
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {{schema: Schema, nullable: boolean}}
 */
export function withoutNull(schema, root) {
  if (Array.isArray(schema.type) && schema.type.includes("null")) {
    const types = schema.type.filter((type) => type !== "null");
    const values = Array.isArray(schema.enum) ? { enum: schema.enum.filter((value) => value !== null) } : {};
    return { schema: { ...schema, type: types.length === 1 ? types[0] : types, ...values }, nullable: true };
  }
  for (const word of ["anyOf", "oneOf"]) {
    const choices = schema[word];
    if (!Array.isArray(choices)) continue;
    const others = choices.filter((choice) => resolved(choice, root).type !== "null");
    if (others.length === choices.length) continue;
    const { [word]: _, ...words } = schema;
    const only = others.length === 1 ? { ...resolved(others[0], root), ...words } : { ...words, [word]: others };
    return { schema: resolved(only, root), nullable: true };
  }
  return { schema, nullable: false };
}

/**
 * The values of an enumeration, or null if the schema is none.
 *
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {{value: unknown, description: string}[] | null}
 */
export function options(schema, root) {
  if (Object.hasOwn(schema, "const")) return [{ value: schema.const, description: schema.description ?? "" }];
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => ({ value, description: "" }));
  const choices = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(choices)) return null;
  const all = choices.map((choice) => options(resolved(choice, root), root));
  return all.every((values) => values !== null) ? all.flat() : null;
}

/**
 * A name for one of several schemas.
 *
 * @param {Schema} schema
 * @param {number} index
 * @returns {string}
 */
export function nameOf(schema, index) {
  if (typeof schema.title === "string") return schema.title;
  if (Object.hasOwn(schema, "const")) return String(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(", ");
  const tags = Object.entries(schema.properties ?? {}).find(([, inner]) =>
    Object.hasOwn(/** @type {any} */ (inner), "const"),
  );
  if (tags) return String(/** @type {any} */ (tags[1]).const);
  if (schema.type === "object" && schema.required?.length === 1) return schema.required[0];
  return typeof schema.type === "string" ? schema.type : `Choice ${index + 1}`;
}

/**
 * Whether a value could be one of the schema: looks at its type only.
 *
 * @param {unknown} value
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {boolean}
 */
export function couldBe(value, schema, root) {
  const values = options(schema, root);
  if (values) return values.some((option) => option.value === value);
  if (schema.type === "object") {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
    return (schema.required ?? []).every((/** @type {string} */ name) => {
      if (!Object.hasOwn(/** @type {object} */ (value), name)) return false;
      const inner = resolved(schema.properties?.[name], root);
      return !Object.hasOwn(inner, "const") || inner.const === /** @type {any} */ (value)[name];
    });
  }
  if (schema.type === "array") return Array.isArray(value);
  if (schema.type === "integer" || schema.type === "number") return typeof value === "number" || isLargeNumber(value);
  return schema.type === undefined || typeof value === schema.type;
}
