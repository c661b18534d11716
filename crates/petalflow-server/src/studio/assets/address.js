// @ts-check
/**
 * The address of a view: `#/thread/refunds:ann/history?checkpoint=5`.
 *
 * @typedef {object} Address
 * @property {string[]} path
 * @property {{[name: string]: string}} query
 */

/** @returns {Address} */
export function current() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string[]} path
 * @param {{[name: string]: string | number | null | undefined}} [query]
 */
export function link(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join("/").replaceAll("%3A", ":")}${text ? `?${text}` : ""}`;
}

/**
 * Opens a view.
 *
 * @param {string[]} path
 * @param {{[name: string]: string | number | null | undefined}} [query]
 */
export function open(path, query) {
  location.hash = link(path, query);
}

/**
 * Changes the address without opening a view: the view has the new state already.
 *
 * @param {string[]} path
 * @param {{[name: string]: string | number | null | undefined}} [query]
 */
export function note(path, query) {
  history.replaceState(null, "", location.pathname + location.search + link(path, query));
}
