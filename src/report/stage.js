// The structure in motion on a canvas. Layout of the data: `sinks/animation.rs`.

class Stage {
  constructor(root, { scene, frames }, changed) {
    Object.assign(this, { root, scene, changed, time: 0, playing: false, fresh: true, zoom: { k: 1, x: 0, y: 0 } });
    this.flat = scene.dimension === 1;
    this.times = frames.map(({ t }) => t);
    this.end = this.times.at(-1);
    this.frames = frames.map(({ u, f, c, o = [] }) => ({
      shifts: o,
      u: floats(u),
      fields: f.map(([low, high, text]) => ({ low, high, values: text && fractions(text) })),
      contacts: c,
    }));
    this.strongest = Math.max(0, ...frames.flatMap(({ c }) => c.map(([, x, y]) => Math.hypot(x, y))));
    this.colours = this.colourings();
    // How many segments meet at a place; bodies that are welded have nodes of their own there.
    const meeting = {};
    for (const node of scene.segments.flat()) meeting[scene.places[node]] = (meeting[scene.places[node]] ?? 0) + 1;
    this.degrees = scene.places.map((place) => meeting[place] ?? 0);
    this.canvas = $("canvas", root);
    this.ids = Object.fromEntries([...root.querySelectorAll("[id]")].map((node) => [node.id, node]));
    this.fillControls();
    this.listen();
    this.time = this.peak();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  // Where there is most to see: the frame with the strongest contact, else with the largest section force.
  peak() {
    const size = ({ contacts, fields }) => this.strongest > 0
      ? Math.max(0, ...contacts.map(([, x, y]) => Math.hypot(x, y)))
      : Math.max(0, ...fields.slice(this.scene.node_fields.length).map(({ low, high }) => Math.max(-low, high)));
    const sizes = this.frames.map(size);
    return this.times[sizes.indexOf(Math.max(...sizes))];
  }

  fillControls() {
    const { scrub, play, speed, colour, magnify, magnified, trace, arrows, profile } = this.ids;
    const option = (value, label) => element("option", { value }, label);
    scrub.max = this.end;
    for (const factor of [0.05, 0.1, 0.25, 0.5, 1, 2, 4]) speed.append(option(factor, factor + "×"));
    speed.value = 1;
    for (const name of Object.keys(this.colours)) colour.append(option(name, name));
    colour.append(option("", "none"));
    // Where there is bending, that is what one wants to see.
    if (this.colours["moment M"]) colour.value = "moment M";
    for (const { name, node } of this.scene.probes) trace.append(option(node, name));
    // Displacements as large as the model are motion; what the eye misses is then the deformation.
    const largest = this.frames.reduce((most, { u }) => u.reduce((a, b) => Math.max(a, Math.abs(b)), most), 0);
    const deformable = this.scene.bodies.some(({ nodes: [, count] }) => count > 1);
    magnified.value = deformable && largest > 0.1 * this.scene.length ? "deformation" : "displacement";
    arrows.parentNode.hidden = this.strongest === 0;
    this.lifted = this.flat && this.scene.bodies.some(({ link, segments: [, count] }) => !link && count > 0);
    this.ids["profile-label"].hidden = !this.lifted;
    play.onclick = () => this.toggle();
    scrub.oninput = () => this.seek(Number(scrub.value));
    for (const input of [colour, trace, arrows, profile]) input.onchange = () => this.refresh();
    for (const input of [magnify, magnified]) input.oninput = () => this.resize();
  }

  // What can be shown in colour: whether it lives on segments, the value of an entry in a frame, and `most`, where the
  // colours end. That is not the largest value of all, or one hard impact would leave every other frame grey.
  // Fields that are zero throughout are left out.
  colourings() {
    const { node_fields, segment_fields, dimension } = this.scene;
    const raw = (index) => (frame, i) => {
      const { low, high, values } = frame.fields[index];
      return values ? low + ((high - low) * values[i]) / 65535 : low;
    };
    const all = {};
    const add = (name, segments, signed, value) => {
      const count = (segments ? this.scene.segments : this.scene.places).length;
      const sizes = this.frames.map((frame) => {
        let most = 0;
        for (let i = 0; i < count; i++) most = Math.max(most, Math.abs(value(frame, i)));
        return most;
      }).sort((a, b) => a - b);
      const peak = sizes.at(-1);
      const most = sizes[Math.floor(0.95 * sizes.length)] || peak;
      if (peak > 0) all[name] = { segments, signed, value, most, exceeded: peak > most };
    };
    segment_fields.forEach((name, k) => {
      add({ N: "axial force N", M: "moment M" }[name] ?? name, true, true, raw(node_fields.length + k));
    });
    if (this.flat) {
      add("velocity", false, true, raw(0));
      add("displacement", false, true, (frame, i) => frame.u[i]);
    } else {
      add("velocity", false, false, (frame, i) => Math.hypot(raw(0)(frame, i), raw(1)(frame, i)));
      add("displacement", false, false, ({ u }, i) => Math.hypot(u[dimension * i], u[dimension * i + 1]));
    }
    return all;
  }

  // The frames around a time and how far it is from the first to the second.
  around(time) {
    const next = clamp(lowerBound(this.times, time), 0, this.times.length - 1);
    const last = Math.max(0, next - 1);
    const span = this.times[next] - this.times[last];
    return { a: this.frames[last], b: this.frames[next], w: span > 0 ? clamp((time - this.times[last]) / span, 0, 1) : 1 };
  }

  // Places of all nodes at a time, x and y in turn.
  positions(time) {
    const { a, b, w } = this.around(time);
    const { places, dimension, bodies } = this.scene;
    const factor = Math.max(0, Number(this.ids.magnify.value) || 0);
    const xy = new Float64Array(2 * places.length);
    const scale = this.ids.magnified.value === "displacement" ? factor : 1;
    for (let i = 0; i < places.length; i++) {
      for (let k = 0; k < 2; k++) {
        const u = k < dimension ? (1 - w) * a.u[dimension * i + k] + w * b.u[dimension * i + k] : 0;
        xy[2 * i + k] = places[i][k] + scale * u;
      }
    }
    if (scale !== factor) for (const { nodes } of bodies) this.exaggerate(xy, nodes, factor);
    return xy;
  }

  // Magnifies what a body's motion has beyond the rigid motion that fits it best.
  exaggerate(xy, [first, count], factor) {
    const { places } = this.scene;
    const from = [0, 0];
    const to = [0, 0];
    for (let i = first; i < first + count; i++) {
      for (let k = 0; k < 2; k++) {
        from[k] += places[i][k] / count;
        to[k] += xy[2 * i + k] / count;
      }
    }
    let [dot, cross] = [0, 0];
    for (let i = first; i < first + count; i++) {
      const [x, y] = [places[i][0] - from[0], places[i][1] - from[1]];
      const [u, v] = [xy[2 * i] - to[0], xy[2 * i + 1] - to[1]];
      dot += x * u + y * v;
      cross += x * v - y * u;
    }
    const angle = this.flat ? 0 : Math.atan2(cross, dot);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    for (let i = first; i < first + count; i++) {
      const [x, y] = [places[i][0] - from[0], places[i][1] - from[1]];
      const rigid = [to[0] + c * x - s * y, to[1] + s * x + c * y];
      for (let k = 0; k < 2; k++) xy[2 * i + k] = rigid[k] + factor * (xy[2 * i + k] - rigid[k]);
    }
  }

  // Wheel and pinch zoom about the pointer, dragging moves the view, a double click resets it.
  listen() {
    const pointers = new Map();
    const place = ({ clientX, clientY }) => {
      const { left, top } = this.canvas.getBoundingClientRect();
      return [clientX - left, clientY - top];
    };
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.magnifyView(Math.exp(clamp(-event.deltaY, -100, 100) * 0.003), place(event));
    }, { passive: false });
    this.canvas.onpointerdown = (event) => {
      pointers.set(event.pointerId, place(event));
      this.canvas.setPointerCapture(event.pointerId);
    };
    this.canvas.onpointermove = (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      pointers.set(event.pointerId, now);
      if (other) {
        const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
        const middle = [0, 1].map((k) => (now[k] + other[k]) / 2);
        this.magnifyView(apart(now) / apart(before), middle);
        this.moveView([0, 1].map((k) => (now[k] - before[k]) / 2));
      } else this.moveView([0, 1].map((k) => now[k] - before[k]));
    };
    this.canvas.onpointerup = this.canvas.onpointercancel = (event) => pointers.delete(event.pointerId);
    this.canvas.ondblclick = () => this.setView({ k: 1, x: 0, y: 0 });
  }

  magnifyView(factor, [x, y]) {
    const { zoom } = this;
    const k = clamp(zoom.k * factor, 0.2, 1000);
    const keep = (pointer, offset) => pointer - (k / zoom.k) * (pointer - offset);
    this.setView({ k, x: keep(x, zoom.x), y: keep(y, zoom.y) });
  }

  moveView([dx, dy]) {
    this.setView({ ...this.zoom, x: this.zoom.x + dx, y: this.zoom.y + dy });
  }

  // A line of bodies is stretched along itself only.
  setView(zoom) {
    this.zoom = zoom;
    const { fit } = this;
    if (!fit) return;
    this.view = { ...fit, scale: zoom.k * fit.scale, x: zoom.k * fit.x + zoom.x, y: this.flat ? fit.y : zoom.k * fit.y + zoom.y };
    this.draw();
  }

  // Nodes that the view is fitted to. A loose mass that flies away from a structure is left to go.
  fitted() {
    const { bodies } = this.scene;
    const loose = ({ segments: [, count] }) => count === 0;
    const reach = this.scene.length;
    const structure = bodies.some((body) => !loose(body)) && reach > 0;
    const from = new Set(bodies.filter((body) => structure && loose(body)).map(({ nodes: [node] }) => node));
    return (node, x, y) => {
      if (!from.has(node)) return true;
      const [x0, y0] = this.scene.places[node];
      return Math.hypot(x - x0, y - y0) < reach;
    };
  }

  // Fits the motion of the structure into the canvas, so that the view rests while it moves.
  resize() {
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    const take = (x, y) => {
      [low[0], high[0]] = [Math.min(low[0], x), Math.max(high[0], x)];
      [low[1], high[1]] = [Math.min(low[1], y), Math.max(high[1], y)];
    };
    const belongs = this.fitted();
    for (const time of this.times) {
      const xy = this.positions(time);
      for (let i = 0; i < xy.length; i += 2) if (belongs(i / 2, xy[i], xy[i + 1])) take(xy[i], xy[i + 1]);
    }
    const centre = [0, 1].map((k) => (low[k] + high[k]) / 2);
    // Obstacles, unless they are far away: their corners, and where lines without end are nearest to the structure.
    const near = ([x, y]) => Math.hypot(x - centre[0], y - centre[1]) < 2 * this.scene.length;
    for (const line of this.scene.obstacles.flatMap(({ lines }) => lines)) {
      const between = line.slice(1).map((to, k) => nearestOn(line[k], to, centre));
      for (const [x, y] of [...line, ...between].filter(near)) take(x, this.flat ? 0 : y);
    }
    const width = this.canvas.clientWidth;
    if (!width) return;
    const room = width < 500 ? 34 : 64;
    const [w, h] = [high[0] - low[0], high[1] - low[1]];
    const wide = width - 2 * room;
    const height = this.flat ? (this.lifted ? 300 : 190) : clamp((h / (w || 1)) * wide + 2 * room, 240, width < 500 ? 360 : 480);
    const scale = Math.min(wide / (w || 1e-9), this.flat ? Infinity : (height - 2 * room) / (h || 1e-9));
    // A single mass at rest has no extent of its own.
    const finite = w || h ? scale : wide / (this.scene.length || 1);
    this.fit = { width, height, scale: finite, x: width / 2 - finite * (low[0] + high[0]) / 2,
      y: this.flat ? height - 66 : height / 2 + finite * (low[1] + high[1]) / 2 };
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = height + "px";
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.setView(this.zoom);
    this.refresh();
  }

  // Colours and legend anew, then the picture.
  refresh() {
    if (!this.pen) return;
    this.theme = Object.fromEntries(["card", "ink", "muted", "line", "solid", "middle", "cold", "warm", "hot", "force", "accent"]
      .map((name) => [name, themeColour(name)]));
    const name = this.ids.colour.value;
    const shown = this.colours[name];
    const { cold, middle, warm, hot } = this.theme;
    const stops = shown?.signed ? [cold, middle, hot] : [middle, warm, hot];
    this.palette = Array.from({ length: 256 }, (_, i) => blend(stops, i / 255));
    const scale = $(".scale", this.root);
    scale.hidden = !shown;
    if (shown) {
      $(".what", scale).textContent = name;
      const beyond = (sign) => (shown.exceeded ? sign + " " : "");
      $(".low", scale).textContent = shown.signed ? beyond("≤") + figure(-shown.most, 3) : "0";
      $(".high", scale).textContent = beyond("≥") + figure(shown.most, 3);
      $(".ramp", scale).style.background = `linear-gradient(90deg, ${stops})`;
    }
    this.draw();
  }

  paint(value, { signed, most }) {
    const share = value / most;
    return this.palette[Math.round(255 * clamp(signed ? 0.5 + share / 2 : share, 0, 1))];
  }

  screen(x, y) {
    return [this.view.x + this.view.scale * x, this.view.y - this.view.scale * y];
  }

  draw() {
    const { pen, view, scene } = this;
    if (!view || !this.theme) return;
    const xy = this.positions(this.time);
    const at = (i) => this.screen(xy[2 * i], xy[2 * i + 1]);
    pen.clearRect(0, 0, view.width, view.height);
    pen.lineCap = pen.lineJoin = "round";
    const { a, b, w } = this.around(this.time);
    scene.obstacles.forEach((obstacle, k) => {
      // Moving obstacles have their displacement in the frames.
      const [x, y] = [0, 1].map((i) => (a.shifts[k] ? (1 - w) * a.shifts[k][i] + w * b.shifts[k][i] : 0));
      pen.save();
      pen.translate(view.scale * x, -view.scale * y);
      for (const line of obstacle.lines) this.drawSolid(line);
      pen.restore();
    });
    const shown = this.colours[this.ids.colour.value];
    const mixed = (i) => (1 - w) * shown.value(a, i) + w * shown.value(b, i);
    const ofSegment = (k) => {
      const [i, j] = scene.segments[k];
      return shown.segments ? mixed(k) : (mixed(i) + mixed(j)) / 2;
    };
    for (const body of scene.bodies) {
      const [first, count] = body.segments;
      const thick = clamp(2 * body.half_height * view.scale, this.flat ? 30 : 5, 44);
      const colour = (k) => (shown ? this.paint(ofSegment(k), shown) : this.theme.accent);
      const each = (draw) => {
        for (let k = first; k < first + count; k++) draw(k, ...scene.segments[k].map(at));
      };
      if (body.link) {
        each((k, from, to) => this.drawSpring(from, to, colour(k)));
        continue;
      }
      // Discs close the gaps between straight pieces; the pieces then cover what of the discs is not a gap.
      if (!this.flat) each((k, ...ends) => this.drawJoints(scene.segments[k], ends, colour(k), thick));
      each((k, from, to) => this.drawSegment(from, to, colour(k), thick));
      if (this.flat && count > 0) this.drawOutline(body, at, thick);
    }
    for (const { nodes: [node], segments: [, count], half_height: radius } of scene.bodies) {
      const plain = !shown || shown.segments;
      const size = radius > 0 ? view.scale * radius : this.flat ? 15 : 8;
      if (count === 0) this.drawMass(at(node), plain ? this.theme.accent : this.paint(mixed(node), shown), size);
    }
    scene.supports.forEach((node, k) => this.drawSupport(at(node), scene.held?.[k] ?? [true, true, false], this.leaving(node, at)));
    for (const { node } of scene.probes) this.drawProbe(at(node));
    if (this.ids.trace.value !== "") this.drawTrace(Number(this.ids.trace.value));
    if (this.ids.arrows.checked) this.drawForces((w > 0 ? b : a).contacts, at);
    if (this.lifted && shown && this.ids.profile.checked) this.drawProfile(shown, mixed, at);
    this.ids.now.textContent = `t = ${figure(this.time, 4)} of ${figure(this.end, 4)}`;
    this.ids.scrub.value = this.time;
  }

  drawSegment([x0, y0], [x1, y1], colour, thick) {
    const { pen } = this;
    if (this.flat) {
      // The half pixel more on either side closes the seams that smoothing would leave.
      pen.fillStyle = colour;
      pen.fillRect(Math.min(x0, x1) - 0.5, y0 - thick / 2, Math.abs(x1 - x0) + 1, thick);
    } else {
      pen.lineCap = "butt";
      this.stroke(colour, thick, [[x0, y0], [x1, y1]]);
      pen.lineCap = "round";
    }
  }

  drawJoints(nodes, places, colour, thick) {
    nodes.forEach((node, side) => {
      if (this.degrees[node] > 1) this.disc(places[side], thick / 2, colour);
    });
  }

  drawOutline({ nodes: [first, count] }, at, thick) {
    const xs = Array.from({ length: count }, (_, i) => at(first + i));
    const [left, right] = [Math.min(...xs.map(([x]) => x)), Math.max(...xs.map(([x]) => x))];
    this.pen.strokeStyle = this.theme.solid;
    this.pen.lineWidth = 1;
    this.pen.strokeRect(left, xs[0][1] - thick / 2, right - left, thick);
  }

  drawSpring(from, to, colour) {
    const turns = 8;
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy) || 1;
    const [nx, ny] = [(-dy / length) * 7, (dx / length) * 7];
    const points = [from];
    for (let k = 0; k <= 2 * turns; k++) {
      const share = 0.15 + (0.7 * k) / (2 * turns);
      const side = k === 0 || k === 2 * turns ? 0 : k % 2 ? 1 : -1;
      points.push([from[0] + share * dx + side * nx, from[1] + share * dy + side * ny]);
    }
    this.stroke(colour, 2, [...points, to]);
  }

  disc([x, y], radius, colour) {
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.pen.fillStyle = colour;
    this.pen.fill();
  }

  drawMass(place, colour, size) {
    this.disc(place, size, colour);
    this.pen.strokeStyle = this.theme.solid;
    this.pen.lineWidth = 1;
    this.pen.stroke();
  }

  // Direction on the screen in which the structure leaves a node.
  leaving(node, at) {
    const segment = this.scene.segments.find((ends) => ends.includes(node));
    if (!segment) return [0, -1];
    const [[x0, y0], [x1, y1]] = [at(node), at(segment[0] === node ? segment[1] : segment[0])];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    return [(x1 - x0) / length, (y1 - y0) / length];
  }

  // A clamp is a hatched wall behind the node, a pin a triangle on the ground, a roller one on wheels that leaves free what
  // is not held; a guide that holds the rotation alone is a small square.
  drawSupport([x, y], [heldX, heldY, turned], [dx, dy]) {
    const { pen } = this;
    pen.save();
    pen.translate(x, y);
    pen.strokeStyle = this.theme.solid;
    pen.fillStyle = this.theme.card;
    pen.lineWidth = 1.5;
    const hatched = (from, half) => {
      pen.beginPath();
      pen.moveTo(-half, from);
      pen.lineTo(half, from);
      for (let s = -half; s < half; s += 5) {
        pen.moveTo(s + 5, from);
        pen.lineTo(s, from + 5);
      }
      pen.stroke();
    };
    if (this.flat || (heldX && heldY && turned)) {
      // Turned so that the structure leaves upwards, away from the wall.
      pen.rotate(Math.atan2(dx, -dy));
      pen.lineWidth = 2.5;
      hatched(1, this.flat ? 22 : 14);
    } else if (heldX || heldY) {
      // A roller that holds x rests on a vertical ground, on the side that the structure does not take.
      if (!heldY) pen.rotate(dx < 0 ? -Math.PI / 2 : Math.PI / 2);
      const roller = heldX !== heldY;
      const base = roller ? 10 : 13;
      pen.beginPath();
      pen.moveTo(0, 0);
      pen.lineTo(-8, base);
      pen.lineTo(8, base);
      pen.closePath();
      pen.fill();
      pen.stroke();
      for (const side of roller ? [-4.5, 4.5] : []) {
        pen.beginPath();
        pen.arc(side, base + 3, 2.5, 0, 2 * Math.PI);
        pen.stroke();
      }
      hatched(roller ? base + 6 : base, 11);
    } else {
      pen.strokeRect(-5, -5, 10, 10);
      pen.fillRect(-5, -5, 10, 10);
    }
    pen.restore();
  }

  drawProbe(place) {
    this.disc(place, 3, this.theme.card);
    this.pen.strokeStyle = this.theme.ink;
    this.pen.lineWidth = 1.5;
    this.pen.stroke();
  }

  // Arrows end where they push; the longest is as long as there is room beside the structure.
  drawForces(contacts, at) {
    for (const [node, fx, fy] of contacts) {
      const force = Math.hypot(fx, fy);
      // Of many contacts the weak ones would bury the picture.
      if (force < 0.02 * this.strongest && contacts.length > 4) continue;
      const [x, y] = at(node);
      const [dx, dy] = [fx / force, -fy / force];
      const length = 14 + (this.view.width < 500 ? 18 : 46) * (force / this.strongest);
      const tail = [x - length * dx, y - length * dy];
      this.stroke(this.theme.force, 3, [tail, [x - 5 * dx, y - 5 * dy]]);
      const wing = (side) => [x - 10 * dx - side * 5 * dy, y - 10 * dy + side * 5 * dx];
      this.pen.beginPath();
      for (const corner of [[x, y], wing(1), wing(-1)]) this.pen.lineTo(...corner);
      this.pen.fillStyle = this.theme.force;
      this.pen.fill();
      if (contacts.length <= 4) {
        // Behind the arrow; along a line of bodies below it.
        const place = this.flat ? [tail[0], tail[1] + 22] : [tail[0] - 18 * dx, tail[1] - 12 * dy + 4];
        this.write(figure(force, 4), place, this.theme.force);
      }
    }
  }

  write(text, [x, y], colour) {
    const { pen } = this;
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textAlign = "center";
    pen.fillStyle = colour;
    const half = pen.measureText(text).width / 2 + 4;
    pen.fillText(text, clamp(x, half, this.view.width - half), clamp(y, 12, this.view.height - 4));
  }

  // In the plane the path of a node; on a line its place over time, the past rising from the structure.
  drawTrace(node) {
    const points = [];
    const times = [...this.times.slice(0, lowerBound(this.times, this.time)), this.time];
    for (const time of times) {
      const xy = this.positions(time);
      const [x, y] = this.screen(xy[2 * node], xy[2 * node + 1]);
      points.push([x, this.flat ? y - ((this.time - time) / this.end) * (this.view.y - 16) : y]);
    }
    this.stroke(this.theme.muted, 1.5, points);
  }

  // The coloured quantity as a curve above the line.
  drawProfile(shown, mixed, at) {
    const [top, bottom] = [26, this.view.y - 44];
    const zero = shown.signed ? (top + bottom) / 2 : bottom;
    // Beyond the scale of colours there is a little room, and then an end.
    const y = (value) => zero - clamp(value / shown.most, -1.2, 1.2) * ((zero - top) / 1.2);
    const [left, right] = [10, this.view.width - 10];
    this.pen.setLineDash([2, 4]);
    this.stroke(this.theme.line, 1, [[left, zero], [right, zero]]);
    this.pen.setLineDash([]);
    for (const { link, segments: [first, count] } of this.scene.bodies) {
      if (link) continue;
      const points = [];
      for (let k = first; k < first + count; k++) {
        const [from, to] = this.scene.segments[k];
        if (shown.segments) points.push([(at(from)[0] + at(to)[0]) / 2, y(mixed(k))]);
        else points.push([at(from)[0], y(mixed(from))], [at(to)[0], y(mixed(to))]);
      }
      this.stroke(this.theme.ink, 1.8, points);
    }
    this.write(this.ids.colour.value, [40, top - 10], this.theme.muted);
  }

  // The outline of something rigid, with the structure on its left: hatched on its right, or shaded if it is closed round
  // the solid.
  drawSolid(line) {
    const { pen, view } = this;
    const wall = (y) => (this.flat ? view.y - clamp(view.scale * y, -44, 44) : this.screen(0, y)[1]);
    const points = line.map(([x, y]) => [this.screen(x, 0)[0], wall(y)]);
    this.stroke(this.theme.solid, 2.5, points);
    const last = line.at(-1);
    const closed = line[0][0] === last[0] && line[0][1] === last[1];
    if (closed && area(line) < 0) {
      pen.fillStyle = this.theme.solid;
      pen.globalAlpha = 0.25;
      pen.fill();
      pen.globalAlpha = 1;
      return;
    }
    pen.lineWidth = 1;
    pen.beginPath();
    // Strokes every nine pixels along the whole line, however short its pieces; on the screen y points down. Only those that
    // are visible are counted out: a long line that is zoomed in has billions.
    const within = (from, way, size, length) => {
      if (way === 0) return from < -20 || from > size + 20 ? [1, 0] : [0, length];
      return [(-20 - from) / way, (size + 20 - from) / way].sort((a, b) => a - b);
    };
    const most = (view.width + view.height + 80) / 9;
    let rest = 4.5;
    for (let k = 1; k < points.length; k++) {
      const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
      const length = Math.hypot(x1 - x0, y1 - y0);
      if (!(length > 0 && length < Infinity)) continue;
      const [tx, ty] = [(x1 - x0) / length, (y1 - y0) / length];
      const [across, down] = [within(x0, tx, view.width, length), within(y0, ty, view.height, length)];
      const [start, end] = [Math.max(rest, across[0], down[0]), Math.min(length, across[1], down[1])];
      const first = rest + 9 * Math.ceil((start - rest) / 9);
      const count = Math.min(Math.ceil((end - first) / 9), most);
      for (let stroke = 0; stroke < count; stroke++) {
        const s = first + 9 * stroke;
        const [x, y] = [x0 + s * tx, y0 + s * ty];
        pen.moveTo(x - ty, y + tx);
        pen.lineTo(x - 9 * tx - 10 * ty, y - 9 * ty + 10 * tx);
      }
      rest = (((rest - length) % 9) + 9) % 9;
    }
    pen.stroke();
  }

  stroke(colour, width, points) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    for (const point of points) pen.lineTo(...point);
    pen.stroke();
  }

  seek(time) {
    this.fresh = false;
    this.time = clamp(time, 0, this.end);
    this.draw();
    this.changed(this.time);
  }

  step(count) {
    this.pause();
    const now = lowerBound(this.times, this.time - 1e-9 * this.end);
    this.seek(this.times[clamp(now + count, 0, this.times.length - 1)]);
  }

  faster(count) {
    const { speed } = this.ids;
    speed.selectedIndex = clamp(speed.selectedIndex + count, 0, speed.options.length - 1);
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.time >= this.end || this.fresh) this.seek(0);
    this.playing = true;
    this.ids.play.textContent = "❚❚";
    let last = performance.now();
    // At speed 1 the whole run takes eight seconds, whatever the user's unit of time.
    const turn = (now) => {
      if (!this.playing) return;
      const time = this.time + ((now - last) / 8000) * Number(this.ids.speed.value) * this.end;
      last = now;
      this.seek(time);
      if (this.time < this.end) requestAnimationFrame(turn);
      else this.pause();
    };
    requestAnimationFrame(turn);
  }

  pause() {
    this.playing = false;
    this.ids.play.textContent = "▶";
  }
}

// The point of a straight piece that is nearest to a place.
function nearestOn([x0, y0], [x1, y1], [x, y]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const share = clamp(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1), 0, 1);
  return [x0 + share * dx, y0 + share * dy];
}

// Twice the area that a closed line goes round, positive if counter-clockwise.
function area(line) {
  let sum = 0;
  for (let k = 1; k < line.length; k++) sum += line[k - 1][0] * line[k][1] - line[k][0] * line[k - 1][1];
  return sum;
}

// Colour at a share of a ramp of colours given as #rrggbb.
function blend(stops, share) {
  const place = share * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(place));
  const part = (stop, at) => parseInt(stop.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => part(stops[k], at) + (place - k) * (part(stops[k + 1], at) - part(stops[k], at)));
  return `rgb(${mixed.map(Math.round)})`;
}
