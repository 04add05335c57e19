// Plates and wells: a grid of thumbnails, each asked for once it comes into view.

import { thumbnail } from "./server.js";

const SIDE = 96;
// Number of thumbnails that are asked for at the same time.
const AT_ONCE = 4;

export class Plate {
  constructor(place, status, choose) {
    this.place = place;
    this.status = status;
    this.choose = choose;
    this.cancel();
  }

  cancel() {
    this.observer?.disconnect();
    this.stop?.abort();
    this.grid = null;
    this.queue = [];
    this.running = 0;
  }

  show(path, grid) {
    // What is shown already stays, with its pictures.
    if (this.grid === grid) return;
    this.cancel();
    this.grid = grid;
    this.stop = new AbortController();
    this.windows = null;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        this.observer.unobserve(target);
        this.queue.push(target);
      }
      this.work();
    }, { root: null, rootMargin: "100px" });
    const named = grid.columns.some(Boolean);
    const cells = [];
    const text = (name, value) => {
      const made = document.createElement(name);
      made.textContent = value;
      return made;
    };
    const places = new Map(grid.images.map((image) => [`${image.row} ${image.column}`, image]));
    const head = document.createElement("tr");
    if (named) {
      head.append(text("td", ""), ...grid.columns.map((name) => text("th", name)));
      cells.push(head);
    }
    grid.rows.forEach((name, row) => {
      const line = document.createElement("tr");
      if (named) line.append(text("th", name));
      grid.columns.forEach((column, number) => line.append(this.cell(path, places.get(`${row} ${number}`))));
      cells.push(line);
    });
    this.place.replaceChildren(...cells);
    const what = grid.is_plate ? "wells" : "fields";
    const left = grid.count - grid.images.length;
    this.status.textContent = left > 0
      ? `${grid.images.length.toLocaleString("en")} of ${grid.count.toLocaleString("en")} ${what}`
      : `${grid.count.toLocaleString("en")} ${what} in ${grid.rows.length} × ${grid.columns.length} places`;
  }

  cell(path, image) {
    const made = document.createElement("td");
    if (!image) {
      made.className = "empty";
      return made;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.path = `${path === "/" ? "" : path}/${image.path}`;
    button.title = image.path;
    button.setAttribute("aria-label", image.path);
    const canvas = document.createElement("canvas");
    button.append(canvas);
    button.addEventListener("click", () => this.choose(button.dataset.path));
    made.append(button);
    this.observer.observe(button);
    return made;
  }

  work() {
    // The first one says in which ranges of values the others are shown.
    const most = this.windows === null ? 1 : AT_ONCE;
    while (this.running < most && this.queue.length) {
      const button = this.queue.shift();
      const { stop } = this;
      this.running += 1;
      this.draw(button, stop.signal).catch((error) => {
        if (stop.signal.aborted) return;
        button.disabled = true;
        button.title = error.message;
        button.textContent = "cannot be read";
      }).finally(() => {
        if (stop !== this.stop) return;
        this.running -= 1;
        this.work();
      });
    }
  }

  async draw(button, signal) {
    const { head, pixels } = await thumbnail({
      path: button.dataset.path, width: SIDE * 2, height: SIDE * 2, windows: this.windows || null,
    }, signal);
    this.windows ??= head.channels.map(({ number, window }) => `${number}:${window.join(":")}`).join(",");
    const canvas = button.firstElementChild;
    canvas.width = Math.max(1, head.columns);
    canvas.height = Math.max(1, head.rows);
    canvas.getContext("2d").putImageData(pixels(head.columns, head.rows), 0, 0);
    button.dataset.drawn = "1";
  }
}
