// @ts-check
/** The view of a thread's checkpoints: a list, and the chosen one with its state, what changed, and what can be done with it. */

/** @typedef {import("./types.js").Checkpoint} Checkpoint */
/** @typedef {import("./types.js").View} View */

import { link, note, open } from "./address.js";
import * as api from "./api.js";
import { errorState, messageOf, toast } from "./announce.js";
import { changeList, changes } from "./diff.js";
import { openDialog, openTextDialog } from "./dialog.js";
import { h, replace } from "./dom.js";
import { openEditDialog } from "./edit-dialog.js";
import { isReadOnly } from "./flow-schemas.js";
import { age, bytes, clock, count, date, names } from "./format.js";
import { threadHeader } from "./thread-header.js";
import { storedMs } from "./stored-ms.js";
import { ThreadSession } from "./thread-session.js";
import { stateTree } from "./tree.js";
import { VirtualList } from "./virtual-list.js";

const PAGE = 500;

/**
 * @param {import("./main.js").ViewContext} context
 * @param {string} id
 */
export async function showHistory({ main, query, signal, setTitle }, id) {
  const session = await ThreadSession.load(id, signal);
  if (signal.aborted) return;
  setTitle(`History ${id}`);
  const history = new History(session, signal);
  replace(
    main,
    threadHeader(session, "history"),
    h(
      "div",
      { class: "columns history" },
      h(
        "section",
        { class: "panel column side", "aria-label": "Checkpoints" },
        h("h2", null, "Checkpoints"),
        history.finder,
        history.summary,
        history.newest,
        history.list.element,
      ),
      history.detail,
    ),
  );
  session.onChange((topic) => {
    if (topic === "view") void history.addNew();
  });
  void session.watch();
  await history.open(Number(query.checkpoint) || session.view.checkpoint);
}

class History {
  /**
   * @param {ThreadSession} session
   * @param {AbortSignal} signal
   */
  constructor(session, signal) {
    this.session = session;
    this.signal = signal;
    /** @type {Checkpoint[]} */
    this.checkpoints = [];
    /** @type {number | null} */
    this.next = null;
    this.isLoading = false;
    this.chosen = 0;
    this.tab = "changes";
    this.summary = h("p", { class: "muted" });
    /** Whether the list begins with the newest checkpoint. */
    this.beginsWithNewest = true;
    this.newest = h(
      "button",
      { type: "button", class: "small", hidden: true, onclick: () => void this.open(this.session.view.checkpoint) },
      "Show the newest checkpoints",
    );
    this.finder = this.makeFinder();
    this.detail = h("section", { class: "panel column", "aria-label": "The chosen checkpoint", "aria-live": "off" });
    /** @type {VirtualList<Checkpoint>} */
    this.list = new VirtualList({
      label: "Checkpoints, the newest first",
      className: "checkpoint-list",
      key: ({ checkpoint }) => String(checkpoint),
      isSelected: ({ checkpoint }) => checkpoint === this.chosen,
      cells: (checkpoint) => this.row(checkpoint),
      onEnd: () => void this.more(),
    });
    signal.addEventListener("abort", () => this.list.close());
  }

  /** @param {Checkpoint} info */
  row(info) {
    return [
      h(
        "button",
        {
          type: "button",
          class: "row-button",
          "data-row-focus": true,
          onclick: () => void this.choose(info.checkpoint),
        },
        h("span", { class: "row-number" }, `#${info.checkpoint}`),
        h(
          "span",
          { class: "row-cause" },
          `${info.cause}${info.cause === "superstep" ? ` ${info.superstep}` : ""}`,
          info.notes.length > 0 ? h("span", { class: "chip" }, count(info.notes.length, "decision")) : null,
        ),
        h("span", { class: "row-next" }, info.next.length > 0 ? `next: ${names(info.next)}` : "no next node"),
        h(
          "time",
          { class: "row-time", datetime: new Date(info.created_ms).toISOString(), title: date(info.created_ms) },
          clock(info.created_ms),
        ),
      ),
    ];
  }

  /** A form that opens a checkpoint by its number. */
  makeFinder() {
    const number = h("input", {
      type: "text",
      inputmode: "numeric",
      id: "checkpoint-number",
      class: "number",
      placeholder: "number",
      autocomplete: "off",
    });
    const form = h(
      "form",
      { class: "finder", novalidate: true },
      h("label", { for: number.id }, "Go to checkpoint"),
      number,
      h("button", { type: "submit" }, "Go"),
    );
    number.addEventListener("input", () => number.removeAttribute("aria-invalid"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const wanted = Number(number.value.trim().replace(/^#/, ""));
      if (Number.isSafeInteger(wanted) && wanted > 0) void this.open(wanted);
      else number.setAttribute("aria-invalid", "true");
    });
    return form;
  }

  /**
   * Shows the part of the list with a checkpoint, and the checkpoint.
   *
   * @param {number} number
   */
  async open(number) {
    const isListed = () => this.checkpoints.findIndex(({ checkpoint }) => checkpoint === number);
    if (isListed() < 0) {
      const newest = this.session.view.checkpoint;
      // Some newer ones too, so that the person sees what follows.
      this.beginsWithNewest = newest - number < PAGE / 2;
      const page = await api.history(
        this.session.id,
        { before: this.beginsWithNewest ? null : number + 20, limit: PAGE },
        this.signal,
      );
      this.checkpoints = page.checkpoints;
      this.next = page.next;
      this.show();
    }
    if (isListed() >= 0) this.list.center(isListed());
    await this.choose(number);
  }

  async more() {
    if (this.isLoading || this.next === null) return;
    this.isLoading = true;
    try {
      const page = await api.history(this.session.id, { before: this.next, limit: PAGE }, this.signal);
      this.checkpoints.push(...page.checkpoints);
      this.next = page.next;
      this.show();
    } catch (error) {
      if (!this.signal.aborted)
        toast(`The next checkpoints could not be loaded: ${messageOf(error)} Scroll to try again.`, "error");
    } finally {
      this.isLoading = false;
    }
  }

  /** Adds the checkpoints that were stored since the list was loaded. */
  async addNew() {
    const newest = this.checkpoints[0]?.checkpoint ?? 0;
    if (!this.beginsWithNewest || this.session.view.checkpoint <= newest || this.isLoading) return;
    this.isLoading = true;
    try {
      /** @type {Checkpoint[]} */
      const added = [];
      /** @type {number | null} */
      let before = null;
      for (;;) {
        const page = await api.history(this.session.id, { before, limit: 100 }, this.signal);
        added.push(...page.checkpoints.filter(({ checkpoint }) => checkpoint > newest));
        before = page.next;
        if (before === null || page.checkpoints.some(({ checkpoint }) => checkpoint <= newest)) break;
      }
      const { scrollTop } = this.list.element;
      this.checkpoints = [...added, ...this.checkpoints];
      this.list.active += added.length;
      this.show();
      // What the person looks at stays where it is.
      if (scrollTop > 0) this.list.element.scrollTop = scrollTop + added.length * this.list.height;
    } catch {
      // The next change of the thread tries again.
    } finally {
      this.isLoading = false;
    }
  }

  show() {
    const first = this.checkpoints[0];
    const which = this.beginsWithNewest ? "The newest" : `From #${first?.checkpoint},`;
    this.summary.textContent =
      this.next === null && this.beginsWithNewest
        ? count(this.checkpoints.length, "checkpoint")
        : `${which} ${count(this.checkpoints.length, "checkpoint")}. ${this.next === null ? "" : "More are loaded while you scroll."}`;
    this.newest.hidden = this.beginsWithNewest;
    this.list.set(this.checkpoints, this.next !== null);
  }

  /** @param {number} number */
  async choose(number) {
    this.chosen = number;
    this.list.draw();
    note(["thread", this.session.id, "history"], { checkpoint: number });
    try {
      const view = await api.checkpoint(this.session.id, number, this.signal);
      const parent =
        view.parent === null ? null : await api.checkpoint(this.session.id, view.parent, this.signal).catch(() => null);
      if (this.chosen === number) this.showDetail(view, parent);
    } catch (error) {
      if (!this.signal.aborted)
        replace(
          this.detail,
          errorState(error, () => void this.choose(number)),
        );
    }
  }

  /**
   * @param {View} view
   * @param {View | null} parent
   */
  showDetail(view, parent) {
    const found = parent ? changes(parent.state, view.state) : [];
    const changed = new Set(found.map(({ path }) => path.split(/[.[]/)[0] ?? ""));
    const info = this.checkpoints.find(({ checkpoint }) => checkpoint === view.checkpoint);
    const body = h("div", null);
    /** @type {[string, string, () => import("./dom.js").Child][]} */
    const tabs = [
      [
        "changes",
        parent ? `Changes since #${parent.checkpoint}` : "Changes",
        () =>
          parent
            ? changeList(found)
            : h(
                "p",
                { class: "muted" },
                view.parent === null
                  ? "This is the first checkpoint."
                  : "The checkpoint before this one is not stored any more.",
              ),
      ],
      ["state", "State", () => stateTree(view.state, parent ? changed : new Set())],
    ];
    const buttons = tabs.map(([name, text, content]) => {
      const button = h("button", { type: "button", "aria-pressed": "false" }, text);
      button.addEventListener("click", () => {
        this.tab = name;
        for (const other of buttons) other.button.setAttribute("aria-pressed", String(other.name === name));
        replace(body, content());
      });
      return { name, button };
    });
    replace(
      this.detail,
      h("h2", null, `Checkpoint ${view.checkpoint}`),
      h(
        "div",
        { class: "facts" },
        h("span", null, view.cause === "superstep" ? `superstep ${view.superstep}` : view.cause),
        h("span", null, `turn ${view.turn}`),
        view.parent === null
          ? null
          : h(
              "span",
              null,
              "after ",
              h(
                "a",
                {
                  href: link(["thread", view.thread, "history"], { checkpoint: view.parent }),
                  onclick: this.opener(view.parent),
                },
                `#${view.parent}`,
              ),
            ),
        view.next.length > 0 ? h("span", null, `next: ${names(view.next)}`) : h("span", null, "no next node"),
        h("span", { title: date(storedMs(view)) }, `stored ${age(storedMs(view))}`),
        info ? h("span", null, bytes(info.bytes)) : null,
      ),
      info?.notes.map((note) =>
        h(
          "p",
          { class: "part-note" },
          `${note.by || "Somebody"}: ${note.decision} for ${note.node}${note.reason ? `: ${note.reason}` : ""} (${date(note.at_ms)})`,
        ),
      ),
      h(
        "div",
        { class: "buttons" },
        isReadOnly(this.session.flow)
          ? null
          : [
              h("button", { type: "button", onclick: () => void this.forkHere(view) }, "Fork here"),
              h("button", { type: "button", onclick: () => void this.forkToThread(view) }, "Fork to a new thread"),
              h("button", { type: "button", onclick: () => void this.edit(view) }, "Edit keys"),
            ],
        h(
          "a",
          {
            class: "button",
            href: link(["compare"], {
              left: view.thread,
              left_checkpoint: view.parent ?? view.checkpoint,
              right: view.thread,
              right_checkpoint: view.checkpoint,
            }),
          },
          "Compare",
        ),
      ),
      h(
        "div",
        { class: "switch", role: "group", "aria-label": "What is shown of the checkpoint" },
        buttons.map(({ button }) => button),
      ),
      body,
    );
    buttons.find(({ name }) => name === this.tab)?.button.click();
  }

  /** @param {number} number */
  opener(number) {
    return (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.open(number);
    };
  }

  /** @param {View} view */
  async forkHere(view) {
    const result = await openDialog({
      title: `Fork ${view.thread} at checkpoint ${view.checkpoint}?`,
      content: h(
        "p",
        null,
        "The thread goes back to this checkpoint, as a new checkpoint at its end. The checkpoints after it stay in the history. The thread is held until it is resumed.",
      ),
      action: "Fork here",
      act: () => api.fork(view.thread, view.checkpoint),
    });
    if (!result) return;
    toast(`The thread is at checkpoint ${result.checkpoint}.`);
    await this.session.lookAgain();
    await this.addNew();
    await this.choose(result.checkpoint);
  }

  /** @param {View} view */
  async forkToThread(view) {
    const result = await openTextDialog({
      title: `Fork checkpoint ${view.checkpoint} to a new thread`,
      label: "Id of the new thread",
      hint: `The new thread is ${view.flow}:… with this id. It begins at this checkpoint, and is held until it is resumed.`,
      action: "Fork",
      act: (id) => api.fork(view.thread, view.checkpoint, id),
    });
    if (result) open(["thread", result.thread]);
  }

  /** @param {View} view */
  async edit(view) {
    if (view.checkpoint !== this.session.view.checkpoint) {
      toast(
        `Only the newest checkpoint, #${this.session.view.checkpoint}, can be edited. Fork here first, then edit.`,
        "error",
      );
      return;
    }
    const number = await openEditDialog(this.session, view);
    if (number === null) return;
    toast(`The keys were written as checkpoint ${number}.`);
    await this.session.lookAgain();
    await this.addNew();
    await this.choose(number);
  }
}
