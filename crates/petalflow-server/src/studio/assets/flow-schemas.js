// @ts-check
/** The schemas of a flow for its forms. */

/** @typedef {import("./types.js").Flow} Flow */
/** @typedef {import("./types.js").Schema} Schema */

import { resolved } from "./schema.js";

/**
 * Whether the threads of a flow can only be read: the program with the types of the flow is not here.
 *
 * @param {Flow} flow
 */
export function isReadOnly(flow) {
  return flow.kind === "stored";
}

/**
 * Whether a person can start a thread of the flow. Webhooks start those of a graph that has triggers.
 *
 * @param {Flow} flow
 */
export function isStartable(flow) {
  return !isReadOnly(flow) && !flow.webhooks;
}

/** What a variable of a document can be. */
const VARIABLE = {
  anyOf: [
    { title: "text", type: "string" },
    { title: "number", type: "number" },
    { title: "yes or no", type: "boolean" },
    { title: "JSON" },
  ],
};

/**
 * The schema of what a person writes to begin a turn. An agent and a document also take other inputs, as JSON.
 *
 * @param {Flow} flow
 * @returns {Schema | null}
 */
export function inputSchema(flow) {
  if (flow.kind === "agent") return { type: "string", description: "What you say to the agent." };
  return flow.kind === "document" ? documentInput(flow.input) : flow.input;
}

/**
 * Of the envelope of a document, what a person gives: its variables, and its input.
 *
 * @param {Schema | null} envelope
 * @returns {Schema | null}
 */
function documentInput(envelope) {
  const { vars, input } = envelope?.properties ?? {};
  if (!envelope || !vars) return envelope;
  return {
    ...envelope,
    properties: {
      vars: { type: "object", description: vars.description, additionalProperties: VARIABLE },
      ...(input ? { input } : {}),
    },
    required: ["vars"],
  };
}

/**
 * The schema of each key of the state. The server sends one schema of the whole state, or one per key.
 *
 * @param {Flow} flow
 * @returns {{[key: string]: Schema | null}}
 */
export function keySchemas(flow) {
  const { state } = flow;
  if (!state) return {};
  if (state.type !== "object" && typeof state.$ref !== "string") return /** @type {any} */ (state);
  const { properties = {} } = resolved(state, state);
  // A reference in the schema of a key names a definition of the whole schema.
  const definitions = state.$defs ? { $defs: state.$defs } : {};
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [
      key,
      typeof schema === "object" ? { ...schema, ...definitions } : null,
    ]),
  );
}

/**
 * The input of a turn with this text.
 *
 * @param {Flow} flow
 * @param {string} text
 */
export function textInput(flow, text) {
  if (flow.kind === "agent" || !flow.input) return text;
  return resolved(flow.input, flow.input).properties?.user_message ? { user_message: text } : text;
}
