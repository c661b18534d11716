// @ts-check
/**
 * The messages in the state of an agent or of a conversation.
 *
 * @typedef {object} Message
 * @property {string} author
 * @property {"user" | "model" | "tool" | "system"} role
 * @property {import("./custom-event.js").Part[]} parts
 * @property {import("./custom-event.js").Usage | null} usage
 */

import { messageParts, usageOf } from "./custom-event.js";
import { h } from "./dom.js";
import { cost, number } from "./format.js";
import { partElement } from "./parts.js";

/**
 * @param {{[key: string]: any}} state
 * @returns {Message[]}
 */
export function messagesOf(state) {
  if (Array.isArray(state.events))
    return state.events.map(fromAgentEvent).filter((message) => message.parts.length > 0);
  if (Array.isArray(state.messages))
    return state.messages.map(fromChatMessage).filter((message) => message.parts.length > 0);
  return [];
}

/**
 * @param {any} event
 * @returns {Message}
 */
function fromAgentEvent(event) {
  const message = fromChatMessage(event?.message);
  const isUser = event?.author === "user" && message.role !== "tool";
  if (event?.error) message.parts.push({ kind: "failure", text: String(event.error) });
  return {
    ...message,
    role: isUser ? "user" : message.role === "user" ? "model" : message.role,
    author: String(event?.author ?? message.author),
    usage: usageOf(event),
  };
}

/**
 * @param {any} message
 * @returns {Message}
 */
function fromChatMessage(message) {
  const parts = messageParts(message);
  /** @type {{[role: string]: Message["role"]}} */
  const roles = {
    user: "user",
    assistant: "model",
    model: "model",
    tool: "tool",
    system: "system",
    developer: "system",
  };
  const role = roles[message?.role] ?? (parts.some((part) => part.kind === "result") ? "tool" : "model");
  return { author: String(message?.name ?? role), role, parts, usage: null };
}

/** @param {Message} message */
export function messageElement({ author, role, parts, usage }) {
  return h(
    "li",
    { class: "message", "data-role": role },
    h("div", { class: "message-author" }, role === "user" ? "you" : author),
    h(
      "div",
      { class: "message-body" },
      parts.map((part) => (part.kind === "text" ? textElement(part.text ?? "") : partElement(part))),
    ),
    usage
      ? h(
          "div",
          { class: "message-usage" },
          `${number(usage.input)} tokens in, ${number(usage.output)} out${usage.cost ? `, ${cost(usage.cost)}` : ""}`,
        )
      : null,
  );
}

/**
 * A text with blocks of code between lines of three backticks.
 *
 * @param {string} text
 */
export function textElement(text) {
  const pieces = text.split(/^```[^\n]*\n([\s\S]*?)^```$/m);
  return pieces.map((piece, index) => {
    if (index % 2 === 1) return h("pre", { class: "code-block" }, piece.replace(/\n$/, ""));
    const trimmed = piece.replace(/^\n+|\n+$/g, "");
    return trimmed ? h("p", { class: "part-text" }, trimmed) : null;
  });
}
