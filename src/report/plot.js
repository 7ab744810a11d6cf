// Plots as SVG. A plot is drawn anew from its data whenever range, size, theme or visible curves change: a few
// thousand points take less than a frame, and there is no state that could go stale.

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

class Plot {
  // `spec.kind` is lines, stack or phase; curves are { label, x, y, colour } with arrays x and y.
  constructor(host, spec, curves, events) {
    Object.assign(this, { spec, curves, events, range: null, cursor: null });
    this.shown = curves.map((_, k) => !(spec.off ?? []).includes(spec.curves[k]));
    this.host = element("figure", { class: "card plot", id: "plot-" + spec.id });
    const tools = element("div", { class: "tools" });
    const save = element("button", { type: "button", class: "save", title: "Save this plot as SVG" }, "SVG");
    save.onclick = () => this.save();
    if (spec.kind === "phase" && curves.length > 1) tools.append(this.chooser());
    if (spec.references) tools.append(this.switcher());
    tools.append(save);
    this.legend = element("div", { class: "legend" });
    this.canvas = element("div");
    this.tip = element("div", { class: "tip", hidden: "" });
    this.heading = element("h2", {}, this.spec.title);
    const head = element("div", { class: "head" }, this.heading, tools);
    this.host.append(head, this.legend, this.canvas, this.tip);
    host.append(this.host);
    this.fillLegend();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // Between displacements, which show what a structure does, and positions.
  switcher() {
    const positions = this.curves;
    const from = ({ y }, place) => Float64Array.from(y, (value) => value - place);
    const displacements = positions.map((curve, k) => ({ ...curve, y: from(curve, this.spec.references[k]) }));
    const button = element("button", { type: "button", class: "switch" });
    const title = this.spec.title;
    const choose = (moved) => {
      this.curves = moved ? displacements : positions;
      this.spec = { ...this.spec, title: moved ? title.replace("Position", "Displacement") : title };
      button.textContent = moved ? "as positions" : "as displacements";
      button.onclick = () => {
        choose(!moved);
        this.heading.textContent = this.spec.title;
        this.draw();
      };
    };
    choose(true);
    return button;
  }

  // A phase plot shows one probe at a time: several in one picture could not be told apart.
  chooser() {
    const select = element("select", { "aria-label": "Probe" });
    this.curves.forEach((curve, k) => select.append(element("option", { value: k }, curve.label)));
    const choose = () => {
      this.shown = this.curves.map((_, k) => k === Number(select.value));
      this.range = null;
      this.draw();
    };
    select.onchange = choose;
    this.shown = this.curves.map((_, k) => k === 0);
    return select;
  }

  fillLegend() {
    this.legend.replaceChildren();
    if (this.spec.kind === "phase") return;
    this.curves.forEach((curve, k) => {
      const swatch = element("i", { style: `background:${this.colour(k)}` });
      const button = element("button", { type: "button", "aria-pressed": this.shown[k] }, swatch, curve.label);
      button.onclick = () => {
        this.shown[k] = !this.shown[k];
        button.setAttribute("aria-pressed", this.shown[k]);
        this.draw();
      };
      this.legend.append(button);
    });
  }

  // The line over a stack is in ink, to be told from the areas.
  colour(k) {
    return this.spec.kind === "stack" && k === this.curves.length - 1 ? themeColour("ink") : curveColour(k);
  }

  visible() {
    return this.curves.map((curve, k) => ({ ...curve, k })).filter(({ k }) => this.shown[k]);
  }

  // Areas on top of each other: what is positive piles up, what is negative piles down.
  areas() {
    const length = this.curves[0].x.length;
    const [up, down] = [new Float64Array(length), new Float64Array(length)];
    return this.visible().filter(({ k }) => k < this.curves.length - 1).map((curve) => {
      const [from, to] = [new Float64Array(length), new Float64Array(length)];
      for (let i = 0; i < length; i++) {
        const pile = curve.y[i] < 0 ? down : up;
        from[i] = pile[i];
        to[i] = pile[i] += curve.y[i];
      }
      return { ...curve, from, to };
    });
  }

  // Horizontal range of all data.
  whole() {
    let [low, high] = [Infinity, -Infinity];
    for (const { x } of this.spec.kind === "phase" ? this.visible() : this.curves) {
      for (const value of x) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return this.spec.kind === "phase" ? padded(low, high) : [low, high > low ? high : low + 1];
  }

  // Vertical range of what lies in the horizontal one.
  heights([from, to]) {
    let [low, high] = [Infinity, -Infinity];
    const take = (value) => {
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const { x, y } of this.visible()) {
      const [first, last] = this.spec.kind === "phase" ? [0, x.length] : within(x, from, to);
      for (let i = first; i < last; i++) take(y[i]);
    }
    if (this.spec.kind === "stack") {
      take(0);
      for (const { x, to: top } of this.areas()) {
        const [first, last] = within(x, from, to);
        for (let i = first; i < last; i++) take(top[i]);
      }
    }
    return low <= high ? padded(low, high) : [0, 1];
  }

  // Everything but hover and cursor, as an SVG element that needs no style sheet, so that it can be saved as it is.
  picture(width, height, titled) {
    const [x0, x1] = this.range?.x ?? this.whole();
    const [y0, y1] = this.range?.y ?? this.heights([x0, x1]);
    const across = ticks(x0, x1, width / 90);
    const upward = ticks(y0, y1, height / 48, this.spec.counts ? 1 : 0);
    const widest = Math.max(...upward.values.map((value) => upward.label(value).length), 2);
    const top = (titled ? 52 : 8) + (upward.exponent ? 14 : 0);
    const box = { left: 14 + 7 * widest, top, right: width - 14, bottom: height - 36 };
    const frame = {
      box, x0, x1, y0, y1,
      x: (value) => box.left + ((value - x0) / (x1 - x0)) * (box.right - box.left),
      y: (value) => box.bottom - ((value - y0) / (y1 - y0)) * (box.bottom - box.top),
    };
    const svg = shape("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, "font-size": 12,
      "font-family": "system-ui, 'DejaVu Sans', sans-serif" });
    const text = (content, attributes) =>
      (shape("text", { fill: themeColour("muted"), ...attributes }, svg).textContent = content);
    if (titled) {
      shape("rect", { width, height, fill: themeColour("card") }, svg);
      this.caption(svg, text);
    }
    for (const value of upward.values) {
      const y = Math.round(frame.y(value)) + 0.5;
      shape("path", { d: `M${box.left} ${y}H${box.right}`, stroke: themeColour("grid") }, svg);
      text(upward.label(value), { x: box.left - 6, y: y + 4, "text-anchor": "end" });
    }
    for (const value of across.values) {
      const x = Math.round(frame.x(value)) + 0.5;
      shape("path", { d: `M${x} ${box.top}V${box.bottom}`, stroke: themeColour("grid") }, svg);
      text(across.label(value), { x, y: box.bottom + 16, "text-anchor": "middle" });
    }
    if (upward.exponent) text("×10" + superscript(upward.exponent), { x: box.left, y: box.top - 5 });
    const name = this.spec.kind === "phase" ? "position" : "time";
    const factor = across.exponent ? ` (×10${superscript(across.exponent)})` : "";
    text(name + factor, { x: (box.left + box.right) / 2, y: box.bottom + 31, "text-anchor": "middle" });
    shape("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, fill: "none",
      stroke: themeColour("line") }, svg);
    const id = "clip-" + this.spec.id + (titled ? "-saved" : "");
    const clip = shape("clipPath", { id }, shape("defs", {}, svg));
    shape("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }, clip);
    this.ink(shape("g", { "clip-path": `url(#${id})`, "stroke-linejoin": "round" }, svg), frame);
    return { svg, frame };
  }

  caption(svg, text) {
    text(this.spec.title, { x: 12, y: 20, "font-size": 14, "font-weight": 600, fill: themeColour("ink") });
    let x = 12;
    for (const { label, k } of this.visible()) {
      shape("rect", { x, y: 33, width: 14, height: 4, fill: this.colour(k) }, svg);
      text(label, { x: x + 19, y: 39 });
      x += 36 + 7 * label.length;
    }
  }

  ink(group, frame) {
    const phase = this.spec.kind === "phase";
    const stack = this.spec.kind === "stack";
    for (const { x, from, to, k } of stack ? this.areas() : []) {
      const [first, last] = within(x, frame.x0, frame.x1);
      const back = trail(x, from, last - 1, first - 1, frame).replace("M", "L");
      shape("path", { d: trail(x, to, first, last, frame) + back + "Z", fill: this.colour(k), "fill-opacity": 0.55,
        "data-curve": this.curves[k].label }, group);
    }
    for (const { x, y, k } of this.visible()) {
      if (stack && k < this.curves.length - 1) continue;
      const [first, last] = phase ? [0, x.length] : within(x, frame.x0, frame.x1);
      shape("path", { d: trail(x, y, first, last, frame), fill: "none", stroke: this.colour(k), "stroke-width": 1.6,
        "data-curve": this.curves[k].label }, group);
    }
  }

  draw() {
    const width = Math.floor(this.canvas.clientWidth);
    if (!width) return;
    const { svg, frame } = this.picture(width, 270, false);
    this.frame = frame;
    this.overlay = shape("g", { "pointer-events": "none" }, svg);
    this.line = shape("path", { stroke: themeColour("muted"), "stroke-dasharray": "3 3" }, this.overlay);
    this.hover = shape("g", {}, this.overlay);
    this.canvas.replaceChildren(svg);
    this.moveCursor(this.cursor);
  }

  // Where the animation is.
  moveCursor(time) {
    this.cursor = time;
    if (!this.frame || time === null) return;
    const { box, x0, x1 } = this.frame;
    if (this.spec.kind === "phase") {
      this.hover.replaceChildren();
      for (const { x, y, t, k } of this.visible()) this.dot(x, y, clamp(lowerBound(t, time), 0, x.length - 1), k);
    } else {
      const inside = time >= x0 && time <= x1;
      this.line.setAttribute("d", inside ? `M${this.frame.x(time)} ${box.top}V${box.bottom}` : "");
    }
  }

  dot(x, y, i, k) {
    shape("circle", { cx: this.frame.x(x[i]), cy: this.frame.y(y[i]), r: 3.5, fill: this.colour(k) }, this.hover);
  }

  // Values at the pointer: of every visible curve the sample nearest to it.
  point(px, py) {
    const phase = this.spec.kind === "phase";
    const { box, x0, x1 } = this.frame;
    const at = x0 + ((px - box.left) / (box.right - box.left)) * (x1 - x0);
    this.hover.replaceChildren();
    this.tip.replaceChildren();
    let time = null;
    for (const { label, x, y, t, k } of this.visible()) {
      const i = phase ? this.nearest(x, y, px, py) : nearest(x, at);
      if (Number.isNaN(y[i])) continue;
      if (time === null) {
        time = phase ? t[i] : x[i];
        this.tip.append(element("div", {}, "time " + figure(time)));
      }
      this.dot(x, y, i, k);
      const words = phase ? `${label}: ${figure(x[i])}, velocity ${figure(y[i])}` : `${label} ${figure(y[i])}`;
      this.tip.append(element("div", {}, element("i", { style: `background:${this.colour(k)}` }), words));
    }
    this.tip.hidden = time === null;
    const place = this.canvas.offsetLeft + px;
    const left = place + 16 + this.tip.offsetWidth < this.host.clientWidth ? place + 14 : place - 14 - this.tip.offsetWidth;
    this.tip.style.left = Math.max(2, left) + "px";
    this.tip.style.top = this.canvas.offsetTop + box.top + 6 + "px";
    return time;
  }

  nearest(x, y, px, py) {
    let [best, least] = [0, Infinity];
    for (let i = 0; i < x.length; i++) {
      const distance = (this.frame.x(x[i]) - px) ** 2 + (this.frame.y(y[i]) - py) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  zoom(range) {
    this.range = range;
    if (this.spec.kind === "phase") this.draw();
    else this.events.zoomed(this, range);
  }

  listen() {
    const phase = this.spec.kind === "phase";
    let start = null;
    const place = (event) => {
      const bounds = this.canvas.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    const value = ([px, py]) => {
      const { box, x0, x1, y0, y1 } = this.frame;
      const [u, v] = [(px - box.left) / (box.right - box.left), (box.bottom - py) / (box.bottom - box.top)];
      return [x0 + clamp(u, 0, 1) * (x1 - x0), y0 + clamp(v, 0, 1) * (y1 - y0)];
    };
    const leave = () => {
      start = null;
      this.tip.hidden = true;
      this.hover.replaceChildren();
      this.moveCursor(this.cursor);
    };
    this.canvas.onpointerdown = (event) => {
      if (event.button === 0) start = place(event);
    };
    this.canvas.onpointermove = (event) => {
      const [px, py] = place(event);
      this.point(px, py);
      if (!start) return;
      const { box } = this.frame;
      const [left, right] = [Math.min(start[0], px), Math.max(start[0], px)].map((x) => clamp(x, box.left, box.right));
      const [top, bottom] = phase
        ? [Math.min(start[1], py), Math.max(start[1], py)].map((y) => clamp(y, box.top, box.bottom))
        : [box.top, box.bottom];
      shape("rect", { x: left, y: top, width: right - left, height: bottom - top, fill: themeColour("accent"),
        "fill-opacity": 0.15 }, this.hover);
    };
    this.canvas.onpointerup = (event) => {
      if (!start) return;
      const [a, b] = [value(start), value(place(event))];
      const wide = Math.abs(place(event)[0] - start[0]) > 6;
      const tall = Math.abs(place(event)[1] - start[1]) > 6;
      start = null;
      const sorted = (k) => [Math.min(a[k], b[k]), Math.max(a[k], b[k])];
      if (phase ? wide && tall : wide) this.zoom(phase ? { x: sorted(0), y: sorted(1) } : { x: sorted(0) });
      else if (!wide) this.events.picked(this.point(...place(event)));
    };
    this.canvas.onpointerleave = leave;
    this.canvas.onpointercancel = leave;
    this.canvas.ondblclick = () => this.zoom(null);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const factor = Math.exp(clamp(event.deltaY, -100, 100) * 0.002);
      const at = value(place(event));
      const { x0, x1, y0, y1 } = this.frame;
      const about = (k, low, high) => [at[k] - (at[k] - low) * factor, at[k] + (high - at[k]) * factor];
      let x = about(0, x0, x1);
      if (phase) return this.zoom({ x, y: about(1, y0, y1) });
      const [low, high] = this.whole();
      x = [Math.max(low, x[0]), Math.min(high, x[1])];
      // Closer than a millionth there are no samples left to see.
      if (x[1] - x[0] > 1e-6 * (high - low)) this.zoom(x[0] === low && x[1] === high ? null : { x });
    }, { passive: false });
  }

  save() {
    const { svg } = this.picture(900, 440, true);
    const text = new XMLSerializer().serializeToString(svg);
    const link = element("a", { download: this.spec.id + ".svg" });
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

function padded(low, high) {
  const room = high > low ? 0.06 * (high - low) : Math.abs(low) * 0.5 || 1;
  return [low - room, high + room];
}

// First and last index to draw so that lines run beyond both edges of the range.
function within(x, from, to) {
  return [Math.max(0, lowerBound(x, from) - 1), Math.min(x.length, lowerBound(x, to) + 1)];
}

function nearest(x, at) {
  const i = clamp(lowerBound(x, at), 0, x.length - 1);
  return i > 0 && at - x[i - 1] < x[i] - at ? i - 1 : i;
}

// A path through the points from `first` up to `last`, or down to it; broken where there is no value.
function trail(x, y, first, last, frame) {
  const step = first < last ? 1 : -1;
  let [path, pen] = ["", "M"];
  for (let i = first; i !== last; i += step) {
    if (Number.isNaN(y[i])) {
      pen = "M";
      continue;
    }
    path += pen + frame.x(x[i]).toFixed(1) + " " + frame.y(y[i]).toFixed(1);
    pen = "L";
  }
  return path;
}
