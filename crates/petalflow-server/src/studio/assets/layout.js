// @ts-check
/**
 * Draws a graph, for a server that sends no drawing: nodes in layers from top to bottom, and edges as curves.
 *
 * @typedef {import("./types.js").Graph} Graph
 * @typedef {{id: string, layer: number, x: number, y: number, width: number}} Box
 */

import { svg } from "./dom.js";

const HEIGHT = 30;
const LAYER = 72;
const GAP = 28;
const LETTER = 7.6;

/** @param {Graph} graph */
export function draw(graph) {
  // Joins are only in edges.
  const all = [
    ...new Set(["START", ...graph.nodes.map((node) => node.id), ...graph.edges.flatMap(({ from, to }) => [from, to])]),
  ];
  const forward = withoutCircles(all, graph.edges);
  const layers = layered(all, forward);
  const boxes = placed(layers);
  const back = graph.edges.filter((edge) => !forward.includes(edge));
  const right = Math.max(...[...boxes.values()].map((box) => box.x + box.width / 2));
  const longest = Math.max(0, ...back.map((edge) => edge.label?.length ?? 0));
  const width = right + GAP + back.length * 14 + longest * 6;
  const height = layers.length * LAYER;
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    fill: "none",
    stroke: "currentColor",
    "font-size": 13,
    "text-anchor": "middle",
  });
  for (const edge of forward) root.append(...line(boxes, edge));
  back.forEach((edge, index) => root.append(...backLine(boxes, edge, right + GAP / 2 + index * 14)));
  for (const box of boxes.values()) root.append(node(box, graph.nodes.find((node) => node.id === box.id)?.kind));
  return root;
}

/**
 * The edges without those that lead back.
 *
 * @param {string[]} ids
 * @param {Graph["edges"]} edges
 */
function withoutCircles(ids, edges) {
  /** @type {Map<string, "open" | "done">} */
  const seen = new Map();
  /** @type {Set<object>} */
  const back = new Set();
  /** @param {string} id */
  const visit = (id) => {
    seen.set(id, "open");
    for (const edge of edges) {
      if (edge.from !== id) continue;
      const state = seen.get(edge.to);
      if (state === "open") back.add(edge);
      else if (!state) visit(edge.to);
    }
    seen.set(id, "done");
  };
  for (const id of ids) if (!seen.has(id)) visit(id);
  return edges.filter((edge) => !back.has(edge));
}

/**
 * @param {string[]} ids
 * @param {Graph["edges"]} edges
 * @returns {string[][]}
 */
function layered(ids, edges) {
  /** @type {Map<string, number>} */
  const layer = new Map(ids.map((id) => [id, id === "START" ? 0 : 1]));
  // The longest path has at most as many edges as there are nodes.
  for (let round = 0; round < ids.length; round++) {
    let changed = false;
    for (const { from, to } of edges) {
      const next = (layer.get(from) ?? 0) + 1;
      if ((layer.get(to) ?? 0) < next) {
        layer.set(to, next);
        changed = true;
      }
    }
    if (!changed) break;
  }
  /** @type {string[][]} */
  const layers = [];
  for (const [id, index] of layer) (layers[index] ??= []).push(id);
  return layers.filter(Boolean);
}

/**
 * @param {string[][]} layers
 * @returns {Map<string, Box>}
 */
function placed(layers) {
  const widthOf = (/** @type {string} */ id) => Math.max(48, id.length * LETTER + 26);
  const rows = layers.map((ids) => ids.reduce((sum, id) => sum + widthOf(id) + GAP, GAP));
  const widest = Math.max(...rows);
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  layers.forEach((ids, layer) => {
    let left = (widest - (rows[layer] ?? 0)) / 2 + GAP;
    for (const id of ids) {
      const width = widthOf(id);
      boxes.set(id, { id, layer, x: left + width / 2, y: layer * LAYER + LAYER / 2, width });
      left += width + GAP;
    }
  });
  return boxes;
}

/**
 * @param {Map<string, Box>} boxes
 * @param {Graph["edges"][number]} edge
 */
function line(boxes, edge) {
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  if (!from || !to) return [];
  const top = from.y + HEIGHT / 2;
  const bottom = to.y - HEIGHT / 2 - 6;
  const middle = (top + bottom) / 2;
  return [
    svg("path", { d: `M${from.x} ${top}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${bottom}` }),
    svg("path", { d: `M${to.x} ${to.y - HEIGHT / 2}l-4 -7h8z`, fill: "currentColor" }),
    label(edge.label, (from.x + to.x) / 2 + 6, middle + 4),
  ];
}

/**
 * @param {Map<string, Box>} boxes
 * @param {Graph["edges"][number]} edge
 * @param {number} margin
 */
function backLine(boxes, edge, margin) {
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  if (!from || !to) return [];
  const start = from.x + from.width / 2;
  const end = to.x + to.width / 2;
  const [low, high] = from === to ? [from.y + 8, to.y - 8] : [from.y, to.y];
  return [
    svg("path", {
      d: `M${start} ${low}C${margin} ${low} ${margin} ${low} ${margin} ${(low + high) / 2}C${margin} ${high} ${margin} ${high} ${end + 6} ${high}`,
    }),
    svg("path", { d: `M${end} ${high}l7 -4v8z`, fill: "currentColor" }),
    label(edge.label, margin + 4, (low + high) / 2 + 4),
  ];
}

/**
 * @param {string | null} text
 * @param {number} x
 * @param {number} y
 */
function label(text, x, y) {
  return svg(
    "text",
    { x, y, fill: "currentColor", stroke: "none", "font-size": 11, "font-style": "italic", "text-anchor": "start" },
    text,
  );
}

/**
 * @param {Box} box
 * @param {string | undefined} kind
 */
function node({ id, x, y, width }, kind) {
  const isJoin = /^&\d+$/.test(id);
  const isRound = isJoin || id === "START" || id === "END";
  const left = x - width / 2;
  const top = y - HEIGHT / 2;
  return svg(
    "g",
    { "data-node": id },
    svg("rect", { x: left, y: top, width, height: HEIGHT, rx: isRound ? HEIGHT / 2 : 5 }),
    kind === "subflow"
      ? svg("path", { d: `M${left + 5} ${top}v${HEIGHT}M${left + width - 5} ${top}v${HEIGHT}` })
      : null,
    svg("text", { x, y: y + 4.5, fill: "currentColor", stroke: "none" }, isJoin ? "&" : id),
  );
}
