// Puts the page together: theme, stage, plots, keys.

const root = document.documentElement;
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

const { times, curves, plots } = JSON.parse($("#plots-data").textContent);
const axes = times.map(floats);
const decoded = curves.map(({ label, time, base, values }) => ({
  label,
  x: axes[time],
  y: Float64Array.from(floats(values), (value) => base + value),
}));

const events = {
  // All plots over time show the same stretch of it, if the reader likes.
  zoomed(source, range) {
    for (const plot of drawn) {
      if (plot === source || ($("#linked").checked && plot.spec.kind !== "phase")) {
        plot.range = range;
        plot.draw();
      }
    }
  },
  picked(time) {
    if (time !== null) stage.seek(time);
  },
};

// Curves of a phase plot come as pairs of position and velocity.
function curvesOf({ kind, curves: indices, labels }) {
  if (kind !== "phase") return indices.map((index) => decoded[index]);
  const pairs = [];
  for (let k = 0; k < indices.length; k += 2) {
    const [place, velocity] = [decoded[indices[k]], decoded[indices[k + 1]]];
    pairs.push({ label: labels[k / 2], x: place.y, y: velocity.y, t: place.x });
  }
  return pairs;
}

const drawn = plots.map((spec) => new Plot($("#plots .grid"), spec, curvesOf(spec), events));
const stage = new Stage($("#stage"), JSON.parse($("#animation-data").textContent), (time) => {
  for (const plot of drawn) plot.moveCursor(time);
});

function switchTheme() {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  stage.refresh();
  for (const plot of drawn) {
    plot.fillLegend();
    plot.draw();
  }
}
$("#theme").onclick = switchTheme;

const KEYS = {
  " ": () => stage.toggle(),
  ArrowLeft: (event) => stage.step(event.shiftKey ? -10 : -1),
  ArrowRight: (event) => stage.step(event.shiftKey ? 10 : 1),
  Home: () => stage.seek(0),
  End: () => stage.seek(stage.end),
  "+": () => stage.faster(1),
  "=": () => stage.faster(1), // where plus needs the shift key
  "-": () => stage.faster(-1),
  d: switchTheme,
};
addEventListener("keydown", (event) => {
  const { target, key } = event;
  // Keys that a focused control needs for itself stay with it.
  const typing = target.matches?.("select, input[type=number], textarea");
  const pressing = key === " " && target.matches?.("button, summary, input[type=checkbox]");
  if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[key]) return;
  event.preventDefault();
  KEYS[key](event);
});
