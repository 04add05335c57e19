// The tree of groups and arrays: the nodes below a group are asked for when it is opened, some at a time.

import { json } from "./server.js";

const PAGE = 200;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

export function brief(node) {
  if (node.kind !== "array") return "";
  const axes = node.shape.map((size, i) => {
    const name = node.dimension_names?.[i];
    return name ? `${name} ${size.toLocaleString("en")}` : size.toLocaleString("en");
  });
  const type = typeof node.data_type === "string" ? node.data_type : node.data_type?.name ?? "";
  return `(${axes.join(", ")}) ${type}`;
}

export class Tree {
  // `choose` is called with the path of a node that was chosen.
  constructor(list, choose) {
    this.list = list;
    this.choose = choose;
    this.filter = "";
    this.nodes = new WeakMap();
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("click", (event) => {
      const item = event.target.closest("[role=treeitem]");
      if (!item || event.target.closest(".more")) return;
      this.focus(item);
      this.pick(item);
    });
  }

  // The root, at once; the nodes below it come when they are there.
  start(root) {
    this.list.replaceChildren();
    const item = this.item({ ...root, name: "/", path: "/" });
    this.list.append(item);
    item.tabIndex = 0;
    if (root.kind === "group") this.open(item);
  }

  item(node) {
    const item = element("li");
    item.setAttribute("role", "treeitem");
    item.dataset.path = node.path;
    item.tabIndex = -1;
    const row = element("div", undefined, "row");
    const isGroup = node.kind === "group";
    row.append(element("span", isGroup ? "▸" : "▦", "mark"), element("span", node.name, "name"), element("span", brief(node), "kind"));
    row.title = `${node.path} ${brief(node)}`.trim();
    item.append(row);
    if (isGroup) item.setAttribute("aria-expanded", "false");
    this.nodes.set(item, node);
    return item;
  }

  pick(item) {
    for (const chosen of this.list.querySelectorAll("[aria-selected=true]")) chosen.removeAttribute("aria-selected");
    item.setAttribute("aria-selected", "true");
    const isGroup = item.hasAttribute("aria-expanded");
    if (isGroup) this.toggle(item);
    this.choose(item.dataset.path);
  }

  async toggle(item) {
    if (item.getAttribute("aria-expanded") === "true") this.close(item);
    else await this.open(item);
  }

  mark(item, isOpen) {
    item.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(":scope > .row > .mark").textContent = isOpen ? "▾" : "▸";
  }

  close(item) {
    this.mark(item, false);
    item.querySelector(":scope > ul")?.remove();
  }

  async open(item) {
    this.mark(item, true);
    item.querySelector(":scope > ul")?.remove();
    const below = element("ul");
    below.setAttribute("role", "group");
    item.append(below);
    await this.more(item, below, 0);
  }

  async more(item, below, offset) {
    let page;
    try {
      page = await json("children", { path: item.dataset.path, offset, limit: PAGE });
      // It was closed meanwhile.
      if (!below.isConnected) return;
    } catch (error) {
      below.append(element("li", error.message, "broken"));
      return;
    }
    const rows = page.nodes.map((node) => this.item(node));
    below.append(...rows);
    rows.forEach((row) => this.show(row));
    below.append(...page.broken.map((text) => element("li", text, "broken")));
    if (page.next !== null) {
      const rest = element("li");
      const left = (page.total - page.next).toLocaleString("en");
      const button = element("button", `Show more (${left} left)`, "more");
      button.type = "button";
      button.addEventListener("click", async () => {
        rest.remove();
        await this.more(item, below, page.next);
      });
      rest.append(button);
      below.append(rest);
    }
  }

  show(item) {
    const node = this.nodes.get(item);
    item.hidden = this.filter !== "" && node.kind === "array" && !node.name.toLowerCase().includes(this.filter);
  }

  setFilter(text) {
    this.filter = text.trim().toLowerCase();
    for (const item of this.list.querySelectorAll("[role=treeitem]")) this.show(item);
  }

  visible() {
    return [...this.list.querySelectorAll("[role=treeitem]")].filter((item) => !item.closest("[hidden]"));
  }

  focus(item) {
    for (const other of this.list.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  key(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.target.closest(".more")) return;
    const items = this.visible();
    const at = items.indexOf(item);
    const isOpen = item.getAttribute("aria-expanded") === "true";
    const above = item.parentElement.closest("[role=treeitem]");
    const moves = {
      ArrowDown: () => items[at + 1] && this.focus(items[at + 1]),
      ArrowUp: () => items[at - 1] && this.focus(items[at - 1]),
      Home: () => this.focus(items[0]),
      End: () => this.focus(items[items.length - 1]),
      ArrowRight: () => {
        if (item.hasAttribute("aria-expanded") && !isOpen) this.open(item);
        else if (isOpen && items[at + 1]) this.focus(items[at + 1]);
      },
      ArrowLeft: () => {
        if (isOpen) this.close(item);
        else if (above) this.focus(above);
      },
      Enter: () => this.pick(item),
      " ": () => this.pick(item),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }
}
