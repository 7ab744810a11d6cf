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

const animation = JSON.parse($("#animation-data").textContent);

// Reference places of the probes of a plot of positions, which is shown as displacements at first.
function references({ id, curves: indices }) {
  const component = ["probe-x", "probe-y"].indexOf(id);
  if (component < 0) return null;
  const { probes, places } = animation.scene;
  return indices.map((index) => {
    const probe = probes.find(({ name }) => name === decoded[index].label);
    return probe ? places[probe.node][component] : 0;
  });
}

const folded = $("#folded");
const hostOf = (spec) => $(".grid", spec.folded ? folded : $("#plots"));
const drawn = plots.map((spec) => new Plot(hostOf(spec), { ...spec, references: references(spec) }, curvesOf(spec), events));
folded.hidden = !plots.some((spec) => spec.folded);
const stage = new Stage($("#stage"), animation, (time) => {
  for (const plot of drawn) plot.moveCursor(time);
});
for (const plot of drawn) plot.moveCursor(stage.time);
for (const button of document.querySelectorAll(".keys [data-time]")) {
  button.onclick = () => {
    stage.pause();
    stage.seek(Number(button.dataset.time));
    $("#stage").scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
}

function switchTheme() {
  setTheme(root.dataset.theme === "dark" ? "light" : "dark");
}
function setTheme(theme) {
  root.dataset.theme = theme;
  stage.refresh();
  for (const plot of drawn) {
    plot.fillLegend();
    plot.draw();
  }
}
$("#theme").onclick = switchTheme;

// Paper is white.
let screenTheme = null;
addEventListener("beforeprint", () => {
  screenTheme = root.dataset.theme;
  setTheme("light");
});
addEventListener("afterprint", () => setTheme(screenTheme ?? "light"));

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
