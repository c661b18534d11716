// @ts-check
/** A field for any value, as JSON. */

import { h, newId } from "./dom.js";
import { parse } from "./json.js";

/**
 * A part of a form.
 *
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => unknown} read The value. Fails with {@link FieldError} if it is wrong.
 */

/** What is wrong with the value of a field. */
export class FieldError extends Error {
  /**
   * @param {string} message
   * @param {HTMLElement} control The part that gets the focus.
   */
  constructor(message, control) {
    super(message);
    this.control = control;
  }
}

/**
 * Marks a control as wrong, and makes the error.
 *
 * @param {HTMLElement} control
 * @param {string} message
 */
export function wrong(control, message) {
  control.setAttribute("aria-invalid", "true");
  return new FieldError(message, control);
}

/**
 * @param {object} options
 * @param {string} options.label
 * @param {string} [options.hint]
 * @param {unknown} [options.value] Nothing if it is undefined.
 * @returns {Field}
 */
export function jsonField({ label, hint, value }) {
  const id = newId("json");
  const area = h("textarea", {
    id,
    class: "code",
    rows: 4,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-hint`,
    placeholder: "{ }",
  });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  area.rows = Math.min(16, Math.max(3, area.value.split("\n").length));
  const problem = h("p", { class: "hint", id: `${id}-hint` });
  const check = () => {
    area.removeAttribute("aria-invalid");
    const found = area.value.trim() ? problemOf(area.value) : "";
    problem.textContent = found || (hint ?? "A value in JSON: a text is in double quotes.");
    problem.classList.toggle("problem", found !== "");
  };
  area.addEventListener("input", check);
  check();
  return {
    element: h("div", { class: "field" }, h("label", { for: id }, label), area, problem),
    read: () => {
      const found = area.value.trim() ? problemOf(area.value) : "the field is empty";
      if (found) throw wrong(area, `“${label}” is not JSON: ${found}`);
      return parse(area.value);
    },
  };
}

/** @param {string} text */
function problemOf(text) {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
