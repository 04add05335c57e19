// Layers of the picture of an image: its channels, and labels over them.

import { picture } from "./server.js";

const at = (id) => document.getElementById(id);

// Greatest number of channels, and of labels, that there are controls for.
const MOST = 32;

function check(text, isChecked, color) {
  const label = document.createElement("label");
  label.className = "check";
  const input = document.createElement("input");
  input.type = "checkbox";
  input.checked = isChecked;
  label.append(input);
  if (color) {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = color;
    label.append(swatch);
  }
  label.append(text);
  return [label, input];
}

// The axis of channels of an image, if it has several; -1 otherwise.
function axisOf({ image, shape }) {
  return image ? image.axes.findIndex(({ type }, axis) => type === "channel" && shape[axis] > 1) : -1;
}

// Makes the controls for an image.
export function controls(state, changed) {
  const { image } = state;
  // Choices stay where the controls are made anew, for other axes.
  const known = state.layers;
  const chosen = (inputs, number, otherwise) => inputs?.[number]?.checked ?? otherwise;
  state.layers = { together: null, channels: [], labels: [] };
  const axis = axisOf(state);
  const of = axis < 0 ? 0 : state.shape[axis];
  const rows = [];
  if (of > 1) {
    const [label, together] = check("Together", known?.together?.checked ?? true);
    state.layers.together = together;
    rows.push(label);
    const { looks } = image;
    // Without a document of channels the first are active, as many as the server draws.
    const isActive = (number) => (looks.length ? looks[number]?.is_active ?? false : number < 6);
    for (let number = 0; number < Math.min(of, MOST); number += 1) {
      const [one, input] = check(
        looks[number]?.name ?? String(number), chosen(known?.channels, number, isActive(number)), looks[number]?.color,
      );
      input.dataset.channel = String(number);
      state.layers.channels.push(input);
      rows.push(one);
    }
  }
  at("channels").hidden = rows.length === 0;
  at("channels").replaceChildren(at("channels").firstElementChild, ...rows);
  const names = image?.labels ?? [];
  const labels = names.slice(0, MOST).map((name, number) => {
    const [label, input] = check(name, chosen(known?.labels, number, false));
    input.dataset.labels = name;
    state.layers.labels.push(input);
    return label;
  });
  if (names.length > MOST) labels.push(`and ${(names.length - MOST).toLocaleString("en")} more`);
  at("layers").hidden = labels.length === 0;
  at("layer-names").replaceChildren(...labels);
  for (const input of [state.layers.together, ...state.layers.channels, ...state.layers.labels]) input?.addEventListener("change", changed);
}

// The question for a picture of layers; null if the values of one plane are drawn.
export function wish(state) {
  const { layers, image } = state;
  if (!image || !layers || state.rank < 2) return null;
  const axis = axisOf(state);
  const isTogether = (layers.together?.checked ?? false) && axis !== state.y && axis !== state.x;
  const channels = layers.channels.filter((input) => input.checked).map((input) => input.dataset.channel);
  const labels = layers.labels.filter((input) => input.checked).map((input) => input.dataset.labels);
  if (!labels.length && !(isTogether && channels.length)) return null;
  // The channel of the slider, if they are not shown together.
  const alone = axis < 0 || axis === state.y || axis === state.x ? null : String(state.at[axis]);
  return {
    channels: isTogether && channels.length ? channels.join(",") : alone,
    labels,
    opacity: labels.length ? at("opacity").value : null,
  };
}

// The same with half of the channels; null if there are no fewer.
function fewer(over) {
  const channels = over.channels?.split(",") ?? [];
  return channels.length > 1 ? { ...over, channels: channels.slice(0, channels.length >> 1).join(",") } : null;
}

// Asks for the picture of layers. If it is refused, half of the channels are asked for, down to one; at last the plane is shown alone.
export async function ask(region, wanted, signal) {
  let refused = null;
  for (let over = wanted; over; over = fewer(over)) {
    try {
      return { drawn: await picture({ ...region, ...over }, signal), refused };
    } catch (error) {
      if (signal.aborted) throw error;
      refused ??= error.message;
    }
  }
  return { drawn: null, refused };
}
