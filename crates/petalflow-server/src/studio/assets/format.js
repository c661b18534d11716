// @ts-check
/** Times, sizes and values as short texts. */

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const NUMBER = new Intl.NumberFormat();
const AGES = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

/** @param {number} milliseconds since 1970 */
export function date(milliseconds) {
  return DATE.format(milliseconds);
}

/**
 * A time as the clocks in a time zone show it.
 *
 * @param {number} milliseconds since 1970
 * @param {string} zone
 */
export function dateIn(milliseconds, zone) {
  try {
    return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: zone }).format(
      milliseconds,
    );
  } catch {
    // The browser does not know the zone.
    return date(milliseconds);
  }
}

/** @param {number} milliseconds since 1970 */
export function clock(milliseconds) {
  return CLOCK.format(milliseconds);
}

/** @param {number} milliseconds since 1970 */
export function age(milliseconds) {
  const seconds = (milliseconds - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size < 60) return AGES.format(Math.round(seconds), "second");
  if (size < 3600) return AGES.format(Math.round(seconds / 60), "minute");
  if (size < 86400) return AGES.format(Math.round(seconds / 3600), "hour");
  return AGES.format(Math.round(seconds / 86400), "day");
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds <= 0) return "< 1 ms";
  if (milliseconds < 1000) return `${Math.max(1, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = count;
  let unit = "B";
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

/** @param {number} value */
export function number(value) {
  return NUMBER.format(value);
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function count(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** @param {number} dollars */
export function cost(dollars) {
  return `$${dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/**
 * Names, each once with how often it occurs.
 *
 * @param {string[]} all
 */
export function names(all) {
  const counts = new Map();
  for (const name of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, times]) => (times === 1 ? name : `${name} ×${times}`)).join(", ");
}

/**
 * A value as one line.
 *
 * @param {unknown} value
 * @param {number} [length]
 */
export function preview(value, length = 120) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  const line = text.replace(/\s+/g, " ");
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/**
 * The text of an error: the server sends a text, or an object with a message.
 *
 * @param {unknown} error
 */
export function errorText(error) {
  if (typeof error === "string") return error;
  if (error && typeof error === "object" && "message" in error) return String(error.message);
  return JSON.stringify(error);
}
