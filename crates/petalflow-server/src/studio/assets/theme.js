// @ts-check
/** Light or dark: as the system says, or as the person has chosen. */

import { h } from "./dom.js";

const KEY = "petalflow-theme";
const NAMES = ["system", "light", "dark"];

function stored() {
  const name = localStorage.getItem(KEY) ?? "system";
  return NAMES.includes(name) ? name : "system";
}

/** @param {string} name */
function apply(name) {
  if (name === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", name);
}

/** The switch. The theme that was chosen before is applied. */
export function themeSwitch() {
  apply(stored());
  const select = h(
    "select",
    { "aria-label": "Theme" },
    NAMES.map((name) =>
      h("option", { value: name, selected: name === stored() }, `${name.charAt(0).toUpperCase()}${name.slice(1)}`),
    ),
  );
  select.addEventListener("change", () => {
    localStorage.setItem(KEY, select.value);
    apply(select.value);
  });
  return h("div", { class: "theme" }, select);
}
