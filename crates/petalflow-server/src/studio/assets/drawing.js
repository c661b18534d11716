// @ts-check
/**
 * The drawing of a flow's graph, on which nodes can be marked.
 *
 * @typedef {import("./types.js").Flow} Flow
 * @typedef {"running" | "finished" | "failed" | "waiting" | "next"} Mark
 */

import { graphSvg } from "./api.js";
import { h, svg } from "./dom.js";
import { isReadOnly } from "./flow-schemas.js";
import { draw } from "./layout.js";

/** What a drawing may consist of: nothing that loads or runs something. */
const ELEMENTS = new Set([
  "svg",
  "g",
  "path",
  "rect",
  "circle",
  "ellipse",
  "line",
  "polyline",
  "polygon",
  "text",
  "tspan",
  "title",
  "desc",
]);
const ATTRIBUTES = new Set([
  "viewBox",
  "width",
  "height",
  "d",
  "x",
  "y",
  "dx",
  "dy",
  "x1",
  "y1",
  "x2",
  "y2",
  "cx",
  "cy",
  "r",
  "rx",
  "ry",
  "points",
  "transform",
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-style",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
  "data-node",
  "data-from",
  "data-to",
]);

/** @type {{[mark: string]: string}} */
const SIGNS = { running: "▶", finished: "✓", failed: "✕", waiting: "?", next: "…" };

export class Drawing {
  /** @param {Flow} flow */
  constructor(flow) {
    this.flow = flow;
    this.element = h("figure", { class: "drawing" });
    /** @type {Map<string, SVGElement>} */
    this.nodes = new Map();
    /** @type {Map<string, Mark>} */
    this.marks = new Map();
    /** @type {Element | null} */
    this.picture = null;
  }

  /**
   * Loads the drawing of the server, or makes one.
   *
   * @param {AbortSignal} signal
   */
  async load(signal) {
    if (isReadOnly(this.flow)) {
      this.element.replaceChildren(h("p", { class: "muted" }, "The graph is not known: the store has the threads only."));
      return;
    }
    /** @type {Element | null} */
    let picture = null;
    try {
      picture = adopted(await graphSvg(this.flow.name, signal));
    } catch {
      if (signal.aborted) return;
    }
    this.show(picture ?? draw(this.flow.graph));
  }

  /** @param {Element} picture */
  show(picture) {
    picture.setAttribute("role", "img");
    // The style sheet sets the size, up to this one.
    const box = (picture.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
    if (picture instanceof SVGElement && box.length === 4) picture.style.maxWidth = `${box[2]}px`;
    picture.removeAttribute("height");
    picture.setAttribute("width", "100%");
    this.element.replaceChildren(picture);
    this.picture = picture;
    this.nodes.clear();
    for (const node of picture.querySelectorAll("[data-node]")) {
      if (node instanceof SVGElement) this.nodes.set(node.getAttribute("data-node") ?? "", node);
    }
    this.apply();
  }

  /** @param {Map<string, Mark>} marks */
  mark(marks) {
    this.marks = marks;
    this.apply();
  }

  apply() {
    /** @type {string[]} */
    const words = [];
    for (const [id, node] of this.nodes) {
      const mark = this.marks.get(id);
      if (mark) words.push(`${id} ${mark === "next" ? "is next" : mark}`);
      if (node.getAttribute("data-mark") === (mark ?? null)) continue;
      node.querySelector(".mark-sign")?.remove();
      if (!mark) {
        node.removeAttribute("data-mark");
        continue;
      }
      node.setAttribute("data-mark", mark);
      node.append(sign(node, mark));
    }
    const names = this.flow.graph.nodes.map((node) => node.id).join(", ");
    this.picture?.setAttribute(
      "aria-label",
      `The graph of ${this.flow.name}, with the nodes ${names}. ${words.join(", ")}`,
    );
  }
}

/**
 * A sign at the corner of a node, for people who cannot tell the colours apart.
 *
 * @param {SVGElement} node
 * @param {Mark} mark
 */
function sign(node, mark) {
  const rect = node.querySelector("rect");
  const number = (/** @type {string} */ name) => Number(rect?.getAttribute(name) ?? 0);
  const x = number("x") + number("width");
  const y = number("y");
  return svg(
    "g",
    { class: "mark-sign" },
    svg("circle", { cx: x, cy: y, r: 9 }),
    svg("text", { x, y: y + 4, "font-size": 11, "text-anchor": "middle", stroke: "none" }, SIGNS[mark]),
  );
}

/**
 * Copies the known elements and attributes of an SVG.
 *
 * @param {string} text
 */
function adopted(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return root.localName === "svg" ? copied(root) : null;
}

/**
 * @param {Element} source
 * @returns {SVGElement}
 */
function copied(source) {
  const copy = svg(source.localName);
  for (const { name, value } of source.attributes) {
    if (ATTRIBUTES.has(name) && !/url\(/i.test(value)) copy.setAttribute(name, value);
  }
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.nodeValue ?? "");
    else if (child instanceof Element && ELEMENTS.has(child.localName)) copy.append(copied(child));
  }
  return copy;
}
