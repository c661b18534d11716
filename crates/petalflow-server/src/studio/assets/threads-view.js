// @ts-check
/** The view of all threads: filters, and a table that loads more while it is scrolled. */

/** @typedef {import("./types.js").Info} Info */

import { link, note } from "./address.js";
import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { openBulkDialog } from "./bulk-dialog.js";
import { BulkProgress } from "./bulk-progress.js";
import { afterPause, h, replace } from "./dom.js";
import { age, bytes, count, date, number } from "./format.js";
import { isStartable } from "./flow-schemas.js";
import { openFlowDialog, openStartDialog } from "./start-dialog.js";
import { ALL, badges, troubleText } from "./status.js";
import { VirtualList } from "./virtual-list.js";

const PAGE = 500;
/** The orders of the list, with what people call them. The first is that of a new view. */
const ORDERS = [
  ["updated-newest", "Changed last"],
  ["created-newest", "Newest first"],
  ["created-oldest", "Oldest first"],
  ["updated-oldest", "Longest unchanged"],
  ["id", "By id"],
];
const HOUR_MS = 3_600_000;
/** Since when a thread has changed, with what people call it. */
const RANGES = [
  ["", "Any time"],
  [String(HOUR_MS), "The last hour"],
  [String(24 * HOUR_MS), "The last day"],
  [String(7 * 24 * HOUR_MS), "The last 7 days"],
  [String(30 * 24 * HOUR_MS), "The last 30 days"],
];
const REFRESH_MS = 5000;
/** A condition on an attribute: its name, a comparison and a value. */
const CONDITION = /^[^!<>^*=]+(?:[!<>^*]=|[<>=]).+$/;

/** @param {import("./main.js").ViewContext} context */
export async function showThreads({ main, query, signal, setTitle }) {
  setTitle("Threads");
  const flows = await api.flows(signal);
  const table = new ThreadTable(signal);
  const id = h("input", {
    type: "search",
    id: "filter-id",
    placeholder: "refunds:an",
    autocomplete: "off",
    spellcheck: "false",
  });
  const flow = select(
    "filter-flow",
    "All flows",
    flows.map(({ name }) => name),
    query.flow,
  );
  const status = select("filter-status", "All", ALL, query.status);
  const label = h("input", {
    type: "search",
    id: "filter-label",
    placeholder: "name:value",
    autocomplete: "off",
    spellcheck: "false",
  });
  const attributes = new Set(flows.flatMap((one) => Object.keys(one.attributes ?? {})));
  const where = h("input", {
    type: "search",
    id: "filter-where",
    placeholder: "amount>100",
    title: `Attributes: ${[...attributes].sort().join(", ")}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  const order = options("filter-order", ORDERS, query.order);
  const range = options("filter-range", RANGES, query.within);
  id.value = query.prefix ?? "";
  label.value = query.label ?? "";
  where.value = query.where ?? "";
  const start = h("button", { type: "button", class: "primary" }, "Start a thread");
  start.addEventListener("click", () => {
    const chosen = flows.find((one) => one.name === flow.value && isStartable(one));
    void (chosen ? openStartDialog(chosen) : openFlowDialog(flows));
  });
  const apply = () => {
    const text = label.value.trim();
    const isComplete = text === "" || /^[^:]+:.+$/.test(text);
    label.toggleAttribute("data-incomplete", !isComplete);
    const condition = where.value.trim();
    const isCondition = condition === "" || CONDITION.test(condition);
    where.toggleAttribute("data-incomplete", !isCondition);
    const filters = {
      prefix: id.value.trim(),
      flow: flow.value,
      status: status.value,
      label: isComplete ? text : "",
      where: isCondition ? condition : "",
    };
    note(["threads"], { ...filters, within: range.value, order: order.value });
    const since = range.value ? String(Date.now() - Number(range.value)) : "";
    void table.load({ ...filters, updated_from_ms: since }, order.value);
  };
  const progress = new BulkProgress(signal, () => void table.refresh());
  const bulk = h("button", { type: "button" }, "Command for all…");
  bulk.addEventListener("click", async () => {
    try {
      apply();
      const command = await openBulkDialog(table.filters);
      if (command) await progress.follow(command);
    } catch (error) {
      toast(messageOf(error), "error");
    }
  });
  const applySoon = afterPause(200, apply);
  id.addEventListener("input", applySoon);
  label.addEventListener("input", applySoon);
  where.addEventListener("input", applySoon);
  flow.addEventListener("change", apply);
  for (const control of [status, order, range]) control.addEventListener("change", apply);
  const filters = h(
    "form",
    { class: "filters", role: "search" },
    field("filter-id", "Id begins with", id),
    field("filter-flow", "Flow", flow),
    field("filter-status", "Status", status),
    field("filter-label", "Label", label),
    attributes.size > 0 ? field("filter-where", "Attribute", where) : null,
    field("filter-range", "Changed", range),
    field("filter-order", "Order", order),
  );
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  replace(
    main,
    h(
      "header",
      { class: "view-head" },
      h(
        "div",
        { class: "view-title" },
        h("h1", null, "Threads"),
        h("div", { class: "buttons" }, start, bulk, h("a", { class: "button", href: link(["compare"]) }, "Compare")),
      ),
    ),
    filters,
    progress.element,
    table.summary,
    table.list.element,
    table.none,
  );
  apply();
}

/**
 * @param {string} id
 * @param {string} text
 * @param {HTMLElement} control
 */
function field(id, text, control) {
  return h("div", { class: "field" }, h("label", { for: id }, text), control);
}

/**
 * @param {string} id
 * @param {string} all
 * @param {string[]} values
 * @param {string | undefined} chosen
 */
function select(id, all, values, chosen) {
  return h(
    "select",
    { id },
    h("option", { value: "" }, all),
    values.map((value) => h("option", { value, selected: value === chosen }, value)),
  );
}

/**
 * @param {string} id
 * @param {string[][]} choices Values, each with its text.
 * @param {string | undefined} chosen
 */
function options(id, choices, chosen) {
  return h(
    "select",
    { id },
    choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}

/**
 * Where the list goes on after a thread: in an order by time, its time and its id.
 * @param {Info} info
 * @param {string} order
 */
function placeOf(info, order) {
  if (order === "id") return info.id;
  return `${order.startsWith("created") ? info.created_ms : info.updated_ms}:${info.id}`;
}

class ThreadTable {
  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
    /** @type {{[name: string]: string}} */
    this.filters = {};
    this.order = "id";
    /** @type {Info[]} */
    this.threads = [];
    /** @type {string | null} */
    this.next = null;
    this.loading = new AbortController();
    this.isLoading = false;
    this.summary = h("p", { class: "muted list-summary", role: "status" });
    this.none = h("div", { class: "empty", hidden: true });
    /** @type {VirtualList<Info>} */
    this.list = new VirtualList({
      label: "Threads",
      className: "thread-list",
      columns: ["Thread", "Status", "Labels", "Checkpoints", "Size", "Updated"],
      key: (info) =>
        `${info.id} ${info.status} ${info.updated_ms} ${info.checkpoints} ${info.damage} ${info.trouble?.state} ${info.trouble?.attempts} ${age(info.updated_ms)} ${JSON.stringify([info.labels, info.attributes])}`,
      cells: row,
      onEnd: () => void this.more(),
    });
    const timer = setInterval(() => void this.refresh(), REFRESH_MS);
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      this.loading.abort();
      this.list.close();
    });
  }

  /**
   * @param {{[name: string]: string}} filters
   * @param {string} order
   */
  async load(filters, order) {
    this.loading.abort();
    this.loading = new AbortController();
    // A condition without a value is none.
    this.filters = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ""));
    this.order = order;
    this.threads = [];
    this.next = null;
    this.isLoading = false;
    this.list.element.scrollTop = 0;
    await this.page(null);
  }

  async more() {
    if (this.next !== null) await this.page(this.next);
  }

  /** @param {string | null} after */
  async page(after) {
    if (this.isLoading) return;
    this.isLoading = true;
    const { signal } = this.loading;
    try {
      const page = await api.threads({ ...this.filters, order: this.order, after, limit: PAGE }, signal);
      if (signal.aborted) return;
      this.threads.push(...page.threads);
      this.next = page.next;
      this.isLoading = false;
      this.show();
    } catch (error) {
      if (signal.aborted) return;
      this.isLoading = false;
      this.showProblem(error, after);
    }
  }

  show() {
    this.list.element.hidden = this.threads.length === 0;
    this.none.hidden = this.threads.length > 0;
    this.summary.textContent =
      this.threads.length === 0
        ? ""
        : this.next === null
          ? count(this.threads.length, "thread")
          : `The first ${number(this.threads.length)} threads. More are loaded while you scroll.`;
    const isFiltered = Object.keys(this.filters).length > 0;
    replace(
      this.none,
      h("h2", null, "No threads"),
      h(
        "p",
        null,
        isFiltered
          ? "No thread has these properties. Change the filters."
          : "Press “Start a thread” to create the first one.",
      ),
    );
    this.list.set(this.threads, this.next !== null);
  }

  /**
   * @param {unknown} error
   * @param {string | null} after
   */
  showProblem(error, after) {
    if (after !== null) {
      toast(`The next threads could not be loaded: ${messageOf(error)} Scroll to try again.`, "error");
      return;
    }
    this.list.element.hidden = true;
    this.none.hidden = false;
    replace(
      this.none,
      h("h2", null, "The threads could not be loaded"),
      h("p", null, messageOf(error)),
      h("button", { type: "button", onclick: () => void this.page(null) }, "Try again"),
    );
  }

  /**
   * Loads the beginning of a list by time again, where threads move: as many rows as are loaded. While a person looks further down,
   * the rows stay where they are.
   */
  async refreshBegin() {
    if (this.list.visible().first > 0 || this.threads.length > PAGE) return;
    const { signal } = this.loading;
    const known = this.threads;
    try {
      const page = await api.threads({ ...this.filters, order: this.order, after: null, limit: PAGE }, signal);
      if (signal.aborted || known !== this.threads) return;
      this.threads.splice(0, this.threads.length, ...page.threads);
      this.next = page.next;
      this.show();
    } catch {
      // The next refresh tries again.
    }
  }

  /** Loads the visible rows again, so that their status is the current one. */
  async refresh() {
    if (document.hidden || this.isLoading || this.signal.aborted) return;
    if (this.order !== "id") {
      await this.refreshBegin();
      return;
    }
    const { first, end } = this.list.visible();
    const before = this.threads[first - 1];
    const limit = Math.max(50, end - first + 10);
    const { signal } = this.loading;
    const known = this.threads;
    try {
      const after = before ? placeOf(before, this.order) : null;
      const page = await api.threads({ ...this.filters, order: this.order, after, limit }, signal);
      // Another page was loaded meanwhile, and has moved nothing: the rows are in the order of the ids.
      if (signal.aborted || known !== this.threads) return;
      const position = new Map(this.threads.map(({ id }, index) => [id, index]));
      const isKnown = page.threads.findLastIndex(({ id }) => position.has(id));
      const lastKnown = page.threads[isKnown];
      if (page.next !== null && lastKnown) {
        // The rows after the last known one are not changed.
        const until = (position.get(lastKnown.id) ?? 0) + 1;
        this.threads.splice(first, until - first, ...page.threads.slice(0, isKnown + 1));
      } else {
        this.threads.splice(first, this.threads.length - first, ...page.threads);
        this.next = page.next;
      }
      this.show();
    } catch {
      // The next refresh tries again.
    }
  }
}

/** @param {Info} info */
function row(info) {
  const named = [...Object.entries(info.labels), ...Object.entries(info.attributes ?? {})];
  const labels = named.map(([name, value]) => h("span", { class: "chip" }, `${name}: ${value}`));
  return [
    h("a", { href: link(["thread", info.id]), "data-row-focus": true, class: "row-link" }, info.id),
    [
      h("span", { title: info.trouble ? troubleText(info.trouble) : null }, badges(info.status, info.trouble)),
      info.damage ? h("span", { class: "chip danger-chip", title: info.damage }, "damaged") : null,
      info.due_ms ? h("span", { class: "chip", title: date(info.due_ms) }, `due ${age(info.due_ms)}`) : null,
    ],
    labels,
    number(info.checkpoints),
    bytes(info.bytes),
    h(
      "time",
      { datetime: new Date(info.updated_ms).toISOString(), title: date(info.updated_ms) },
      age(info.updated_ms),
    ),
  ];
}
