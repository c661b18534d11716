// @ts-check
/** Dialogs: a form with a title, a button that acts, and one that closes it. */

import { messageOf } from "./announce.js";
import { h, newId } from "./dom.js";

/**
 * Opens a dialog, and returns when it is closed: the result of `act`, or `null` if the person has closed the dialog. If `act`
 * fails, the dialog shows the error and stays open.
 *
 * @template T
 * @param {object} options
 * @param {string} options.title
 * @param {import("./dom.js").Child} [options.content]
 * @param {string} options.action The text of the button.
 * @param {boolean} [options.dangerous] Whether something is lost.
 * @param {boolean} [options.wide]
 * @param {() => Promise<T>} options.act
 * @returns {Promise<T | null>}
 */
export function openDialog({ title, content, action, dangerous = false, wide = false, act }) {
  return new Promise((resolve) => {
    const id = newId("dialog");
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: dangerous ? "danger" : "primary" }, action);
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
    /** @type {T | null} */
    let result = null;
    const form = h(
      "form",
      { novalidate: true },
      h("h2", { id }, title),
      h("div", { class: "dialog-content" }, content),
      problem,
      h("div", { class: "buttons end" }, cancel, submit),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.hidden = true;
      try {
        result = await act();
        dialog.close();
      } catch (error) {
        problem.textContent = messageOf(error);
        problem.hidden = false;
        focusProblem(form);
      } finally {
        submit.disabled = false;
      }
    });
    const dialog = h("dialog", { class: wide ? "wide" : null, "aria-labelledby": id }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    // A person who only presses Enter loses nothing.
    if (dangerous) cancel.focus();
  });
}

/**
 * Asks for one short text.
 *
 * @template T
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.label
 * @param {string} [options.hint]
 * @param {string} options.action
 * @param {(text: string) => Promise<T>} options.act
 */
export function openTextDialog({ title, label, hint, action, act }) {
  const id = newId("text");
  const input = h("input", {
    id,
    type: "text",
    autocomplete: "off",
    autofocus: true,
    "aria-describedby": hint ? `${id}-hint` : null,
  });
  const content = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    hint ? h("p", { class: "hint", id: `${id}-hint` }, hint) : null,
  );
  return openDialog({
    title,
    content,
    action,
    act: async () => {
      const text = input.value.trim();
      if (!text) throw new Error(`“${label}” is empty. Type a value.`);
      return act(text);
    },
  });
}

/**
 * Moves the focus to the first field that is wrong.
 *
 * @param {Element} form
 */
export function focusProblem(form) {
  const field = form.querySelector("[aria-invalid=true]");
  if (field instanceof HTMLElement) field.focus();
}
