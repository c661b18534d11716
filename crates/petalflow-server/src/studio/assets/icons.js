// @ts-check
/**
 * Small pictures for states, drawn as paths: a character would be missing where no font has it. Each fits into a square of 16.
 */

import { svg } from "./dom.js";

/** What is filled with the colour of the text. @type {{[name: string]: string}} */
const FILLED = {
  running: "M5 3.2v9.6c0 .5.5.8.9.5l7.2-4.8c.4-.3.4-.8 0-1L5.9 2.7c-.4-.3-.9 0-.9.5z",
  stopped: "M4.5 3.5h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1z",
  held: "M4.5 3h2v10h-2zM9.5 3h2v10h-2z",
  next: "M3.2 6.6a1.4 1.4 0 1 1 0 2.8a1.4 1.4 0 0 1 0-2.8zM8 6.6a1.4 1.4 0 1 1 0 2.8a1.4 1.4 0 0 1 0-2.8zM12.8 6.6a1.4 1.4 0 1 1 0 2.8a1.4 1.4 0 0 1 0-2.8z",
  dot: "M8 5a3 3 0 1 1 0 6a3 3 0 0 1 0-6z",
};

/** What is drawn as a line. @type {{[name: string]: string}} */
const LINES = {
  finished: "M3 8.6l3.4 3.4L13 4.8",
  failed: "M4 4l8 8M12 4l-8 8",
  waiting: "M5.4 6.1a2.7 2.7 0 1 1 4 2.3c-.9.5-1.4 1-1.4 1.9M8 12.7v.3",
  sleeping: "M4.5 4h7l-7 8h7",
  retry: "M12.6 6.4A5 5 0 1 0 13 9.2M12.9 3v3.6H9.3",
  skipped: "M3.5 8h9",
};

/** The outcomes of tasks and the troubles of threads that look like another state. @type {{[name: string]: string}} */
const SAME = { cached: "finished", restored: "finished", retrying: "retry", paused: "held" };

/**
 * The shape of a picture, for use inside another SVG.
 *
 * @param {string} name
 */
export function shape(name) {
  const known = SAME[name] ?? name;
  const line = LINES[known];
  if (line !== undefined)
    return svg("path", {
      d: line,
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.9,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    });
  return svg("path", { d: FILLED[known] ?? FILLED.dot, fill: "currentColor", stroke: "none" });
}

/**
 * A picture beside a text, which says the same in words.
 *
 * @param {string} name
 */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", "data-icon": name, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    shape(name),
  );
}
