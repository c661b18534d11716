// @ts-check
/**
 * JSON with whole numbers of any size. A number of JavaScript is exact up to 2^53, and a key of a state may have more: without this,
 * a key that a person edits would be written with another number than it had. A larger number stays as its text.
 *
 * @typedef {{rawJSON: string}} LargeNumber
 */

/** @type {any} */
const native = JSON;
/** Older browsers round. */
const canKeep = typeof native.rawJSON === "function";

/**
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  if (!canKeep || !/\d{16}/.test(text)) return JSON.parse(text);
  return native.parse(
    text,
    (/** @type {string} */ _, /** @type {unknown} */ value, /** @type {{source?: string}} */ context) => {
      const isLarge =
        typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
      return isLarge ? native.rawJSON(context.source) : value;
    },
  );
}

/**
 * @param {unknown} value
 * @returns {value is LargeNumber}
 */
export function isLargeNumber(value) {
  return canKeep && native.isRawJSON(value);
}

/**
 * The value of the text of a whole number.
 *
 * @param {string} text
 * @returns {number | LargeNumber | null} `null` if this browser cannot keep it.
 */
export function wholeNumber(text) {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  return canKeep && /^-?[1-9]\d*$/.test(text) ? native.rawJSON(text) : null;
}
