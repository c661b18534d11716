// @ts-check
/** Parts of messages, and other values that nodes emit, as elements. */

import { h } from "./dom.js";
import { preview } from "./format.js";
import { readable } from "./readable.js";
import { tree } from "./tree.js";

/**
 * A part of a message, or another value that a node emitted.
 *
 * @param {import("./custom-event.js").Part} part
 */
export function partElement(part) {
  switch (part.kind) {
    case "text":
    case "piece":
      return h("p", { class: "part-text" }, part.text);
    case "note":
      return h("p", { class: "part-note" }, part.text);
    case "request":
      return h(
        "div",
        { class: "part-request" },
        h("p", null, "An approval of the call ", h("code", null, part.title), " was requested."),
        part.text ? h("p", { class: "part-text" }, part.text) : null,
        readable(part.value),
      );
    case "source":
      return h(
        "p",
        { class: "part-source" },
        part.value
          ? h("a", { href: part.value, target: "_blank", rel: "noopener noreferrer" }, part.title)
          : h("span", null, part.title),
        part.text ? h("q", { class: "muted" }, preview(part.text, 120)) : null,
      );
    case "failure":
      return h(
        "div",
        { class: "error-box" },
        part.title ? h("strong", null, `The tool ${part.title} has failed`) : null,
        part.text ? h("pre", { class: "error-text" }, part.text) : tree(part.value),
      );
    case "value":
      return h("div", { class: "part-value" }, tree(part.value, { open: 0 }));
    default: {
      /** @type {{[kind: string]: string}} */
      const names = { thought: "Thought", call: "Call of", result: "Result of" };
      return h(
        "details",
        { class: "part", "data-kind": part.kind },
        h(
          "summary",
          null,
          h("strong", null, names[part.kind]),
          " ",
          part.title ? h("code", null, part.title) : null,
          " ",
          h("span", { class: "muted" }, preview(part.text ?? part.value, 70)),
        ),
        part.text !== undefined ? h("p", { class: "part-text" }, part.text) : tree(part.value),
      );
    }
  }
}
