// @ts-check
/**
 * What a value means that a node emitted: agents, conversations and documents emit values of known forms. All others are shown as
 * they are.
 *
 * @typedef {object} Usage
 * @property {number} input
 * @property {number} output
 * @property {number} cost
 *
 * @typedef {object} Part
 * @property {"text" | "piece" | "thought" | "call" | "request" | "result" | "failure" | "note" | "source" | "value"} kind
 * @property {string} [title]
 * @property {string} [text]
 * @property {unknown} [value]
 *
 * @typedef {object} Description
 * @property {Part[]} parts
 * @property {Usage | null} usage
 */

import { eachSourceOnce, nativePart, sourcePart } from "./native-parts.js";
import { answerPart, requestPart } from "./request-parts.js";

/** @typedef {{[name: string]: any}} Fields */

/**
 * @param {unknown} value
 * @returns {Description}
 */
export function describe(value) {
  const usage = usageOf(value);
  if (!isObject(value))
    return { parts: [value === "ended" ? note("The conversation has ended.") : { kind: "value", value }], usage };
  if (isObject(value.agent_event)) return { parts: agentParts(value.agent_event), usage: usageOf(value.agent_event) };
  const known = conversationPart(value) ?? documentPart(value) ?? planPart(value) ?? decisionPart(value);
  return { parts: [known ?? { kind: "value", value }], usage };
}

/** @param {Fields} event */
function agentParts(event) {
  const parts = messageParts(event.message);
  // The whole event, which follows, has all other parts.
  if (event.partial)
    return parts.filter((part) => part.kind === "text").map((part) => ({ ...part, kind: /** @type {"piece"} */ ("piece") }));
  if (event.error) parts.push({ kind: "failure", text: String(event.error) });
  if (event.repair) parts.push(note(`The answer went back to the model: ${event.repair.problem}`));
  if (event.actions?.transfer_to_agent) parts.push(note(`The agent ${event.actions.transfer_to_agent} continues.`));
  if (event.interrupted) parts.push(note("The user interrupted the answer."));
  return parts;
}

/**
 * The parts of a message of a model, a user or a tool.
 *
 * @param {any} message
 * @returns {Part[]}
 */
export function messageParts(message) {
  if (typeof message === "string") return [{ kind: "text", text: message }];
  if (!isObject(message)) return [];
  const parts = Array.isArray(message.parts) ? message.parts : message.content !== undefined ? [message.content] : [];
  return eachSourceOnce(parts.map(messagePart));
}

/**
 * @param {any} part
 * @returns {Part}
 */
function messagePart(part) {
  if (typeof part === "string") return { kind: "text", text: part };
  if (!isObject(part)) return { kind: "value", value: part };
  if (part.text !== undefined) return { kind: "text", text: textOf(part.text) };
  if (part.thought !== undefined) return { kind: "thought", text: textOf(part.thought) };
  if (isObject(part.call)) return requestPart(part.call) ?? { kind: "call", title: String(part.call.name), value: part.call.arguments };
  if (isObject(part.result))
    return (
      answerPart(part.result) ?? {
        kind: part.result.is_error ? "failure" : "result",
        title: String(part.result.name),
        value: part.result.content,
      }
    );
  if (isObject(part.citation)) return sourcePart(part.citation);
  if (isObject(part.provider?.value)) return nativePart(part.provider.value) ?? { kind: "value", value: part };
  if (isObject(part.code))
    return { kind: "call", title: `code in ${part.code.language}`, text: String(part.code.code) };
  if (isObject(part.code_result))
    return {
      kind: "result",
      title: `output of the code: ${part.code_result.outcome}`,
      text: String(part.code_result.output),
    };
  return { kind: "value", value: part };
}

/** @param {any} text */
function textOf(text) {
  return typeof text === "string" ? text : String(text?.text ?? "");
}

/**
 * @param {Fields} value
 * @returns {Part | null}
 */
function conversationPart(value) {
  const names = Object.keys(value);
  if (names.length !== 1) return null;
  const name = /** @type {string} */ (names[0]);
  const inner = value[name];
  if (!isObject(inner)) return null;
  switch (name) {
    case "piece":
      return { kind: "piece", text: String(inner.text) };
    case "answer":
    case "say":
      return { kind: "text", text: String(inner.text) };
    case "entered":
      return note(`The conversation is at ${inner.node}.`);
    case "called":
      return { kind: "call", title: String(inner.function), value: inner.arguments };
    case "returned":
      return { kind: "result", title: String(inner.function), value: inner.result };
    case "no_summary":
      return { kind: "failure", text: `No summary for ${inner.node}: ${inner.reason}` };
    case "tools_unavailable":
      return { kind: "failure", text: `A source of tools of ${inner.agent} has failed: ${inner.problem}` };
    case "error":
      return { kind: "failure", text: JSON.stringify(inner) };
    default:
      return null;
  }
}

/**
 * @param {Fields} value
 * @returns {Part | null}
 */
function documentPart(value) {
  const text = value.text ?? value.delta ?? value.output;
  switch (value.kind) {
    case "node.output.delta":
      return { kind: "piece", text: String(text ?? "") };
    case "node.output.final":
      return typeof text === "string" ? { kind: "text", text } : { kind: "value", value };
    case "llm.call":
      return { kind: "call", title: "model", value };
    case "llm.response":
      return { kind: "result", title: "model", value };
    case "tool.call":
      return { kind: "call", title: String(value.tool ?? value.name ?? "tool"), value };
    case "tool.result":
      return { kind: "result", title: String(value.tool ?? value.name ?? "tool"), value };
    default:
      return null;
  }
}

/**
 * @param {Fields} value
 * @returns {Part | null}
 */
function decisionPart(value) {
  if (!isObject(value.decided)) return typeof value.percent === "number" ? note(`${value.percent} % done`) : null;
  const [name, inner] = Object.entries(value.decided)[0] ?? ["", null];
  const words = isObject(inner)
    ? Object.entries(inner)
        .map(([key, text]) => `${key}: ${text}`)
        .join(", ")
    : "";
  return note(`Decision: ${name.replaceAll("_", " ")}${words ? ` (${words})` : ""}`);
}

/**
 * The plan of an agent, with a line for each item.
 *
 * @param {Fields} value
 * @returns {Part | null}
 */
function planPart(value) {
  const items = isObject(value.agent_plan) ? value.agent_plan.plan : undefined;
  if (!Array.isArray(items)) return null;
  /** @type {{[state: string]: string}} */
  const marks = { pending: "[ ]", active: "[>]", done: "[x]" };
  const lines = items.filter(isObject).map((item) => `${marks[item.state] ?? "[?]"} ${item.text}`);
  return { kind: "text", text: ["Plan:", ...lines].join("\n") };
}

/** @param {string} text @returns {Part} */
function note(text) {
  return { kind: "note", text };
}

/**
 * The tokens and the cost that a value reports.
 *
 * @param {any} value
 * @returns {Usage | null}
 */
export function usageOf(value) {
  const usage = isObject(value) ? value.usage : null;
  if (!isObject(usage)) return null;
  const input = Number(usage.input ?? usage.input_tokens ?? usage.prompt_tokens ?? 0);
  const output = Number(usage.output ?? usage.output_tokens ?? usage.completion_tokens ?? 0);
  const cost = Number(usage.cost ?? usage.cost_usd ?? 0);
  return input || output || cost ? { input, output, cost } : null;
}

/**
 * @param {unknown} value
 * @returns {value is Fields}
 */
function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
