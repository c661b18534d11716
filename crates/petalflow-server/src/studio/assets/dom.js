// @ts-check
/**
 * Elements made of names, properties and children. Text is always inserted as text.
 *
 * @typedef {Node | string | number | null | undefined | false | Child[]} Child
 * @typedef {{[name: string]: any}} Properties
 */

/**
 * Creates an element. A property whose name begins with `on` is a listener, one that is null or false is left out, and all others
 * are attributes.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Properties | null} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * Creates an element of an SVG.
 *
 * @param {string} name
 * @param {Properties} [attributes]
 * @param {...(Child | Child[])} children
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, String(value));
  append(element, children);
  return element;
}

/**
 * @param {Element | DocumentFragment} parent
 * @param {...(Child | Child[])} children
 */
export function append(parent, ...children) {
  for (const child of /** @type {any[]} */ (children).flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces all children.
 *
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Replaces all children. If one of them has the focus, the new one in its place gets it.
 *
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function replaceKeepingFocus(parent, ...children) {
  const focusable = () => [...parent.querySelectorAll("a, button, input, select, textarea, summary")];
  const index = focusable().findIndex((element) => element === document.activeElement);
  replace(parent, children);
  const next = index < 0 ? null : focusable()[index];
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
}

let lastId = 0;

/** @param {string} prefix */
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/**
 * Calls a function at most once per drawn frame.
 *
 * @param {() => void} work
 */
export function oncePerFrame(work) {
  let requested = false;
  return () => {
    if (requested) return;
    requested = true;
    requestAnimationFrame(() => {
      requested = false;
      work();
    });
  };
}

/**
 * Calls a function when no further call came for a time.
 *
 * @template {any[]} A
 * @param {number} milliseconds
 * @param {(...args: A) => void} work
 */
export function afterPause(milliseconds, work) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (/** @type {A} */ ...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), milliseconds);
  };
}
