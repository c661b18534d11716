// @ts-check
/**
 * The drawing of a flow's graph, on which nodes can be marked.
 *
 * @typedef {import("./types.js").Flow} Flow
 * @typedef {"running" | "finished" | "failed" | "waiting" | "next"} Mark
 */

import { graphSvg } from "./api.js";
import { badgePlace, RADIUS } from "./badge-place.js";
import { h, svg } from "./dom.js";
import { isReadOnly } from "./flow-schemas.js";
import { shape } from "./icons.js";
import { draw } from "./layout.js";
import { PanZoom } from "./pan-zoom.js";

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

/** Of the marks, those that are followed, the most important first. @type {Mark[]} */
const FOLLOWED = ["running", "waiting", "failed", "next"];
/** How wide a letter of a label is, and how tall. */
const LABEL_LETTER = 6.4;
const LABEL_ABOVE = 10;
const LABEL_BELOW = 3;

export class Drawing {
  /**
   * @param {Flow} flow
   * @param {{fixed?: boolean}} [options] Whether the drawing is a picture only, which a person cannot make larger.
   */
  constructor(flow, { fixed = false } = {}) {
    this.flow = flow;
    this.panZoom = fixed || isReadOnly(flow) ? null : new PanZoom(`The graph of ${flow.name}`);
    this.element = h("figure", { class: "drawing" }, this.panZoom?.element);
    /** Where the labels of edges are. @type {import("./badge-place.js").Area[]} */
    this.labels = [];
    /** The node that was followed last. */
    this.followed = "";
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
    const box = (picture.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
    const size = { width: box[2] ?? 0, height: box[3] ?? 0 };
    picture.removeAttribute("height");
    picture.removeAttribute("width");
    this.labels = labelsOf(picture);
    if (this.panZoom && picture instanceof SVGElement) {
      this.panZoom.show(picture, size, () => this.nodes.get(this.active()) ?? null);
    } else {
      // The style sheet sets the size, up to this one.
      if (picture instanceof SVGElement) picture.style.maxWidth = `${size.width}px`;
      picture.setAttribute("width", "100%");
      this.element.replaceChildren(picture);
    }
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

  /** The node that is followed. */
  active() {
    for (const mark of FOLLOWED) {
      for (const [node, other] of this.marks) if (other === mark && this.nodes.has(node)) return node;
    }
    return "";
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
      node.append(sign(areaOf(node), mark, this.labels));
    }
    // The person moves the drawing while nothing changes.
    const active = this.active();
    this.panZoom?.setHasActive(active !== "");
    if (active !== this.followed) {
      this.followed = active;
      this.panZoom?.follow();
    }
    const names = this.flow.graph.nodes.map((node) => node.id).join(", ");
    this.picture?.setAttribute(
      "aria-label",
      `The graph of ${this.flow.name}, with the nodes ${names}. ${words.join(", ")}`,
    );
  }
}

/**
 * A sign at a corner of a node, for people who cannot tell the colours apart.
 *
 * @param {import("./badge-place.js").Area} node
 * @param {Mark} mark
 * @param {import("./badge-place.js").Area[]} labels
 */
function sign(node, mark, labels) {
  const { x, y } = badgePlace(node, labels);
  // The shape has a square of 16 pixels.
  const size = 11 / 16;
  const picture = svg("g", { transform: `translate(${x - 8 * size} ${y - 8 * size}) scale(${size})` }, shape(mark));
  return svg("g", { class: "mark-sign" }, svg("circle", { cx: x, cy: y, r: RADIUS }), picture);
}

/**
 * @param {SVGElement} node
 * @returns {import("./badge-place.js").Area}
 */
function areaOf(node) {
  const rect = node.querySelector("rect");
  const number = (/** @type {string} */ name) => Number(rect?.getAttribute(name) ?? 0);
  return { x: number("x"), y: number("y"), width: number("width"), height: number("height") };
}

/**
 * Where the labels of edges are. A drawing that is not in the page yet has no measures, so the letters are counted.
 *
 * @param {Element} picture
 * @returns {import("./badge-place.js").Area[]}
 */
function labelsOf(picture) {
  // The texts of vertices are upright.
  const texts = [...picture.querySelectorAll("text")].filter(
    (text) => text.getAttribute("font-style") === "italic" && text.textContent,
  );
  return texts.map((text) => ({
    x: Number(text.getAttribute("x") ?? 0),
    y: Number(text.getAttribute("y") ?? 0) - LABEL_ABOVE,
    width: (text.textContent ?? "").length * LABEL_LETTER,
    height: LABEL_ABOVE + LABEL_BELOW,
  }));
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
