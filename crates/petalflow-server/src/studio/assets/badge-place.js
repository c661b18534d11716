// @ts-check
/**
 * Where the badge of a node is: at a corner, or in the middle of a side, where it covers no label of an edge.
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Area
 * @typedef {{x: number, y: number}} Point
 */

/** Of a badge, with its border. */
export const RADIUS = 9;
const SPACE = RADIUS + 2;

/**
 * @param {Area} node
 * @param {Area[]} labels
 * @returns {Point} The centre of the badge.
 */
export function badgePlace(node, labels) {
  const { x: left, y: top, width, height } = node;
  const right = left + width;
  const bottom = top + height;
  const middle = top + height / 2;
  /** @type {Point[]} */
  const places = [
    { x: right, y: top },
    { x: left, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
    { x: left, y: middle },
    { x: right, y: middle },
  ];
  const free = places.find((place) => !labels.some((label) => covers(place, label)));
  return free ?? /** @type {Point} */ (places[0]);
}

/**
 * Whether a badge at this place would cover a part of the label.
 *
 * @param {Point} place
 * @param {Area} label
 */
function covers({ x, y }, label) {
  return (
    x + SPACE > label.x && x - SPACE < label.x + label.width && y + SPACE > label.y && y - SPACE < label.y + label.height
  );
}
