"use strict";
// Draws live memory over the events of a run: one band a tensor, piled up by part of the budget.
// Each column of pixels shows the fullest of the events that it stands for.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.querySelector("canvas");
  const told = document.getElementById("tensor");
  const count = data.events.length;
  const end = data.failed ?? count;
  const GIB = 2 ** 30, MIB = 2 ** 20;
  const LEFT = 64, TOP = 22, BOTTOM = 8;

  const text = (bytes) =>
    bytes >= GIB ? `${(bytes / GIB).toFixed(2)} GiB` : `${(bytes / MIB).toFixed(2)} MiB`;

  // The bytes that are live after each event, and the first and last event of each tensor.
  const live = new Float64Array(count);
  const born = new Int32Array(data.sizes.length), gone = new Int32Array(data.sizes.length);
  gone.fill(count);
  data.events.reduce((sum, event, at) => {
    const handle = event < 0 ? -1 - event : event;
    (event < 0 ? gone : born)[handle] = at;
    return (live[at] = sum + (event < 0 ? -1 : 1) * data.sizes[handle]);
  }, 0);
  let peakAt = 0;
  for (let at = 0; at < end; at++) if (live[at] > live[peakAt]) peakAt = at;

  let view = [...data.view];
  let columns = []; // what was drawn: the event, and its tensors from the bottom up
  let pinned = null;

  const phaseAt = (at) => data.phases.findLast(([start]) => start <= at)?.[1] ?? "";

  function reservedAt(at) {
    const found = data.reserved.findLast(([start]) => start <= at);
    return found ? found[1] : 0;
  }

  /** Who is live at each of these events, in ascending order: one walk over the whole run. */
  function tensorsAt(events) {
    const layers = data.legend.map(() => new Set());
    const found = [];
    let at = 0;
    for (const wanted of events) {
      for (; at <= wanted; at++) {
        const event = data.events[at], handle = event < 0 ? -1 - event : event;
        const layer = layers[data.layers[handle]];
        if (event < 0) layer.delete(handle);
        else layer.add(handle);
      }
      found.push(layers.flatMap((layer) => [...layer]));
    }
    return found;
  }

  function highest() {
    let top = data.limit ?? 0;
    if (top > 2.2 * live[peakAt]) top = 0;
    if (data.failed !== null) top = Math.max(top, reservedAt(end - 1) + (data.request ?? 0));
    for (let at = view[0]; at < Math.min(view[1], count); at++) {
      top = Math.max(top, live[at], at < end ? reservedAt(at) : 0);
    }
    return top * 1.08 || 1;
  }

  function draw() {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const colors = getComputedStyle(document.documentElement);
    const ink = colors.getPropertyValue("--ink"), faint = colors.getPropertyValue("--faint");
    const rule = colors.getPropertyValue("--rule"), bad = colors.getPropertyValue("--bad");
    const top = highest(), inner = height - TOP - BOTTOM;
    const y = (bytes) => TOP + inner * (1 - bytes / top);
    const span = view[1] - view[0], wide = width - LEFT;
    const x = (at) => LEFT + (wide * (at - view[0])) / span;
    pen.font = "12px system-ui, sans-serif";

    const whole = top >= GIB ? GIB : MIB;
    const unit = 10 ** Math.floor(Math.log10(top / whole)) * whole;
    const step = [0.2, 0.5, 1, 2].map((each) => each * unit).find((each) => top / each <= 8);
    for (let bytes = 0; bytes <= top; bytes += step ?? unit) {
      pen.fillStyle = rule;
      pen.fillRect(LEFT, y(bytes), wide, 1);
      pen.fillStyle = faint;
      pen.textAlign = "right";
      pen.fillText(top >= GIB ? `${(bytes / GIB).toFixed(1)} GiB`
        : `${Math.round(bytes / MIB)} MiB`, LEFT - 6, y(bytes) + 4);
    }

    const events = [];
    for (let column = 0; column < wide; column++) {
      const first = Math.floor(view[0] + (span * column) / wide);
      const last = Math.max(first + 1, Math.floor(view[0] + (span * (column + 1)) / wide));
      if (first >= count) break;
      let best = first;
      for (let at = first; at < Math.min(last, count); at++) if (live[at] > live[best]) best = at;
      events.push(best);
    }
    const tensors = tensorsAt(events);
    columns = events.map((at, column) => ({ at, tensors: tensors[column] }));
    columns.forEach(({ at, tensors }, column) => {
      pen.globalAlpha = at >= end ? 0.3 : 1;
      let base = 0, layerBase = 0;
      tensors.forEach((handle, index) => {
        const size = data.sizes[handle], layer = data.layers[handle];
        base += size;
        if (layer !== data.layers[tensors[index + 1]]) { // the whole part at once: some are tiny
          pen.fillStyle = data.legend[layer][1];
          pen.fillRect(LEFT + column, y(base), 1, (inner * (base - layerBase)) / top);
          layerBase = base;
        }
      });
      base = 0;
      for (const handle of tensors) {
        const size = data.sizes[handle], tall = (inner * size) / top;
        base += size;
        if (handle === pinned) {
          pen.fillStyle = ink;
          pen.fillRect(LEFT + column, y(base), 1, Math.max(1, tall));
        } else if (tall >= 3) { // a hair between two tensors
          pen.fillStyle = "rgba(0, 0, 0, .16)";
          pen.fillRect(LEFT + column, y(base), 1, 0.8);
        }
      }
    });
    pen.globalAlpha = 1;

    pen.strokeStyle = ink;
    pen.beginPath();
    columns.forEach(({ at }, column) => {
      if (at < end) pen.lineTo(LEFT + column, y(reservedAt(at)));
    });
    pen.stroke();
    pen.textAlign = "left";
    let free = LEFT; // where the next phase's name may begin
    data.phases.forEach(([start, name], index) => {
      const until = data.phases[index + 1]?.[0] ?? count;
      if (until <= view[0] || start >= view[1]) return;
      const left = Math.max(LEFT, x(start)), room = Math.min(width, x(until)) - left;
      pen.fillStyle = rule;
      pen.fillRect(left, TOP - 6, 1, inner + 6);
      if (left >= free && pen.measureText(name).width < room - 6) {
        pen.fillStyle = faint;
        pen.fillText(name, left + 4, TOP - 8);
        free = left + pen.measureText(name).width + 8;
      }
    });
    if (data.limit !== null && data.limit <= top) {
      pen.fillStyle = bad;
      pen.fillRect(LEFT, y(data.limit) - 1, wide, 2);
      pen.textAlign = "right";
      pen.fillText(`${data.card}: ${text(data.limit)} for PyTorch`, width - 4, y(data.limit) - 5);
    }
    if (data.failed !== null && data.failed >= view[0] && data.failed <= view[1]) {
      pen.fillStyle = bad;
      const held = reservedAt(end - 1), at = x(data.failed);
      pen.fillRect(at - 2, y(held + data.request), 5, (inner * data.request) / top);
      pen.textAlign = at > width / 2 ? "right" : "left";
      pen.fillText(`${text(data.request)} more do not fit`, at + (at > width / 2 ? -8 : 8),
        y(held + data.request) + 12);
    }
  }

  function tensorUnder(event) {
    const box = canvas.getBoundingClientRect();
    const column = columns[Math.floor(event.clientX - box.left - LEFT)];
    if (!column) return null;
    const inner = canvas.clientHeight - TOP - BOTTOM;
    const bytes = highest() * (1 - (event.clientY - box.top - TOP) / inner);
    let base = 0;
    for (const handle of column.tensors) {
      base += data.sizes[handle];
      if (bytes >= 0 && bytes < base) return { at: column.at, handle };
    }
    return { at: column.at, handle: null };
  }

  function say(found) {
    const { at, handle } = found;
    const lines = [`event ${at} of ${count}, ${phaseAt(at)}: ${text(live[at])} allocated` +
      (at < end ? `, ${text(reservedAt(at))} reserved` : ", never reached")];
    if (handle !== null) {
      const until = gone[handle] < count ? `event ${gone[handle]}, ${phaseAt(gone[handle])}`
        : "the end";
      const words = data.words[data.names[handle]];
      lines.unshift(`${words}: ${text(data.sizes[handle])}, ` +
        `${data.legend[data.layers[handle]][0]}, lives from event ${born[handle]}, ` +
        `${phaseAt(born[handle])}, to ${until}`);
      const line = data.lines[data.line_of[handle]];
      if (line) lines.splice(1, 0, line);
    }
    told.replaceChildren(...lines.map((line) => {
      const paragraph = document.createElement("p");
      paragraph.textContent = line;
      return paragraph;
    }));
  }

  function show(from, to) {
    const span = Math.min(count, Math.max(8, to - from));
    const start = Math.min(Math.max(0, from), count - span);
    view = [start, start + span];
    draw();
  }

  const views = {
    step: () => show(...data.view),
    whole: () => show(0, count),
    peak: () => show(peakAt - 60, peakAt + 60),
  };
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => views[button.dataset.view]());
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const wide = canvas.clientWidth - LEFT;
    const share = (event.clientX - canvas.getBoundingClientRect().left - LEFT) / wide;
    const middle = view[0] + share * (view[1] - view[0]);
    const factor = 1.0015 ** event.deltaY;
    show(middle - (middle - view[0]) * factor, middle + (view[1] - middle) * factor);
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, view: [...view] };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (held !== null) {
      const moved = ((event.clientX - held.x) * (held.view[1] - held.view[0])) /
        (canvas.clientWidth - LEFT);
      show(held.view[0] - moved, held.view[1] - moved);
      return;
    }
    const found = tensorUnder(event);
    if (found === null) return;
    say(found);
    if (found.handle !== pinned) {
      pinned = found.handle;
      requestAnimationFrame(draw);
    }
  });
  canvas.addEventListener("keydown", (event) => {
    const span = view[1] - view[0];
    const keys = {
      ArrowLeft: [-0.1, -0.1], ArrowRight: [0.1, 0.1], "+": [0.1, -0.1], "-": [-0.1, 0.1],
    };
    if (event.key in keys) {
      const [from, to] = keys[event.key];
      show(view[0] + from * span, view[1] + to * span);
    }
  });

  const legend = document.getElementById("legend");
  for (const [label, color] of [...data.legend].reverse()) {
    const entry = document.createElement("span"), patch = document.createElement("i");
    patch.style.background = color;
    entry.append(patch, label);
    legend.append(entry);
  }
  window.addEventListener("resize", draw);
  say({ at: peakAt, handle: null });
  draw();
})();
