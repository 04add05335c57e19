// Questions to the server.

const token = new URLSearchParams(location.search).get("token");
let pending = 0;

// For tests, and for a mark of work under way: how many questions were asked, and how many are not answered.
export const counts = { asked: 0 };

function mark(change) {
  pending += change;
  document.documentElement.dataset.pending = String(pending);
}

async function ask(question, parameters, signal) {
  const url = new URL(`api/${question}`, document.baseURI);
  url.search = "";
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
    }
  }
  counts.asked += 1;
  mark(1);
  try {
    const answer = await fetch(url, { signal, headers: token ? { Authorization: `Bearer ${token}` } : {} });
    if (answer.ok) return answer;
    let problem = `${answer.status} ${answer.statusText}`;
    try {
      const { error } = await answer.json();
      problem = error.hint ? `${error.message} (${error.hint})` : error.message;
    } catch {
      // The status has to do.
    }
    throw new Error(problem);
  } finally {
    mark(-1);
  }
}

export async function json(question, parameters = {}, signal) {
  return (await ask(question, parameters, signal)).json();
}

// An answer of bytes: its head, and where the rest begins.
async function framed(question, parameters, signal) {
  const bytes = await (await ask(question, parameters, signal)).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  return { bytes, length, head };
}

// Pixels of a picture: its head, and a function that makes an image of this size of them.
async function pixels(question, parameters, signal) {
  const { bytes, length, head } = await framed(question, parameters, signal);
  const parts = new Uint8Array(bytes, 4 + length);
  const made = (width, height) => {
    const image = new ImageData(Math.max(width, 1), Math.max(height, 1));
    for (let i = 0; i < width * height; i += 1) {
      for (let part = 0; part < 3; part += 1) image.data[4 * i + part] = parts[3 * i + part];
      image.data[4 * i + 3] = 255;
    }
    return image;
  };
  return { head, pixels: made };
}

export const picture = (parameters, signal) => pixels("picture", parameters, signal);
export const thumbnail = (parameters, signal) => pixels("thumbnail", parameters, signal);

// A plane: what it is, and its numbers row by row.
export async function plane(parameters, signal) {
  const { bytes, length, head } = await framed("plane", parameters, signal);
  const type = head.data_type === "float32" ? Float32Array : Float64Array;
  return { head, values: new type(bytes, 4 + length) };
}

// Runs a task with the newest wish only: while one runs, wishes replace each other. The task gets a signal, which ends its questions once
// the wish is cancelled.
export function newest(task) {
  let running = null;
  let next;
  async function wish(...wanted) {
    next = wanted;
    if (running) return;
    try {
      while (next) {
        const now = next;
        next = undefined;
        running = new AbortController();
        try {
          await task(running.signal, ...now);
        } catch (error) {
          // A newer wish may be granted.
          if (!next && !running.signal.aborted) throw error;
        }
      }
    } finally {
      running = null;
    }
  }
  wish.cancel = () => {
    next = undefined;
    running?.abort();
  };
  return wish;
}

// Does something once nobody has asked for it again in a time.
export function later(milliseconds, work) {
  let timer = null;
  function cancel() {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    mark(-1);
  }
  function soon() {
    cancel();
    mark(1);
    timer = setTimeout(() => {
      const done = work();
      cancel();
      return done;
    }, milliseconds);
  }
  soon.cancel = cancel;
  return soon;
}
