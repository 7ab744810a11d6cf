// Uses reports of carom as a reader would; called by report_browser.sh, which says what is needed.
//
//     node report_browser.mjs HOME OUTDIR...
//
// HOME holds the driver and gets the screenshots.

import { createRequire } from "node:module";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [home, ...runs] = process.argv.slice(2).map((path) => resolve(path));
const puppeteer = createRequire(join(home, "/"))("puppeteer-core");
const shots = join(home, "shots");
const LARGEST = 10e6; // bytes, for the longest runs
const SLOWEST = 3000; // milliseconds from the first byte to all plots drawn

let failures = 0;
function check(holds, what) {
  if (!holds) failures++;
  console.log(`  ${holds ? "ok    " : "FAILED"} ${what}`);
}
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
async function eventually(condition) {
  for (let k = 0; k < 50; k++) {
    if (await condition()) return true;
    await pause(100);
  }
  return false;
}

// What the canvas shows, as a string that differs when a pixel does.
const drawing = (page) => page.$eval("#stage canvas", (canvas) => canvas.toDataURL());
const text = (page, selector) => page.$eval(selector, (node) => node.textContent);

async function scrub(page, share) {
  await page.$eval("#scrub", (input, share) => {
    input.value = share * input.max;
    input.dispatchEvent(new Event("input"));
  }, share);
}

// Key results are what the summary says, and show their instant.
async function readKeys(page, run) {
  const summary = JSON.parse(readFileSync(join(run, "summary.json"), "utf8"));
  const keys = await page.$$eval(".keys tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  check(keys.length > 0, `${keys.length} key results`);
  // What several rows are about is named in the first of them.
  keys.forEach((row, k) => { row[0] ||= keys[k - 1]?.[0] ?? ""; });
  const first = await page.$eval("main > :first-child", (node) => node.className);
  check(first.includes("keys"), "they come first");
  for (const [name, { peak }] of Object.entries(summary.contacts).slice(0, 3)) {
    const row = keys.find(([owner, what]) => owner === `contact ${name}` && what === "peak force");
    check(!peak || Math.abs(Number(row?.[2]) - peak) <= 1e-4 * peak, `peak of ${name}: ${row?.[2]}`);
  }
  const button = await page.$(".keys [data-time]");
  if (button) {
    await button.click();
    const time = await button.evaluate((node) => Number(node.dataset.time));
    const [, now] = (await text(page, "#now")).match(/t = (.*) of/);
    check(Math.abs(Number(now.replace("−", "-")) - time) <= 1e-3 * Math.abs(time) + 1e-12, `its instant is shown: ${now}`);
  }
}

// Zoom, pan and reset of the view.
async function useView(page) {
  await scrub(page, 0.3);
  await page.$eval("#stage canvas", (canvas) => canvas.scrollIntoView());
  const before = await drawing(page);
  const box = await (await page.$("#stage canvas")).boundingBox();
  const centre = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(...centre);
  await page.mouse.wheel({ deltaY: -200 });
  const zoomed = await drawing(page);
  check(zoomed !== before, "the wheel zooms the animation");
  await page.mouse.down();
  await page.mouse.move(centre[0] + 80, centre[1] + 20, { steps: 4 });
  await page.mouse.up();
  check((await drawing(page)) !== zoomed, "dragging moves the view");
  await page.mouse.click(...centre, { count: 2 });
  check((await drawing(page)) === before, "a double click resets the view");
}

// One page that prints: white, with every plot whole.
async function print(page, path) {
  await page.pdf({ path, format: "A4", printBackground: true, margin: { top: "12mm", bottom: "12mm", left: "12mm", right: "12mm" } });
  const { size } = statSync(path);
  check(size > 10000 && readFileSync(path).subarray(0, 5).toString() === "%PDF-", `prints to ${Math.round(size / 1000)} kB of PDF`);
}

async function useAnimation(page) {
  const peakTime = await text(page, "#now");
  check(!/^t = 0 of/.test(peakTime) || !(await page.$(".keys [data-time]")), `opens at the peak: ${peakTime}`);
  await page.focus("#stage canvas");
  await page.keyboard.press("Home");
  const [start, startTime] = [await drawing(page), await text(page, "#now")];
  await page.click("#play");
  check(await eventually(async () => (await text(page, "#now")) !== startTime), "play moves the time");
  await pause(400);
  check((await drawing(page)) !== start, "play changes the drawing");
  await page.click("#play");
  const still = await drawing(page);
  await pause(300);
  check((await drawing(page)) === still, "pause holds it");

  const seen = new Set();
  for (const share of [0, 0.3, 0.6, 0.9]) {
    await scrub(page, share);
    seen.add(await drawing(page));
  }
  check(seen.size === 4, "scrubbing shows four drawings at four times");

  await page.focus("#stage canvas");
  await page.keyboard.press("Home");
  check((await drawing(page)) === start, "home shows the start again");
  await page.keyboard.press("ArrowRight");
  check((await text(page, "#now")) !== startTime, "an arrow steps to the next frame");
  await page.keyboard.press("End");
  const [, now, end] = (await text(page, "#now")).match(/t = (.*) of (.*)/);
  check(now === end, "end shows the end");
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  check(await eventually(async () => (await text(page, "#now")) !== startTime), "space plays");
  await page.keyboard.press("Space");
  const speed = await page.$eval("#speed", (select) => select.value);
  await page.keyboard.press("+");
  check((await page.$eval("#speed", (select) => select.value)) > speed, "plus plays faster");

  await scrub(page, 0.3);
  const before = await drawing(page);
  const colour = await page.$eval("#colour", (select) => select.value);
  const coloured = new Set();
  for (const value of await page.$$eval("#colour option", (options) => options.map(({ value }) => value))) {
    await page.select("#colour", value);
    coloured.add(await drawing(page));
    check((await text(page, ".scale .what")) === value || value === "", `colour: ${value || "none"}`);
  }
  check(coloured.size > 1, "the colour changes the drawing");
  await page.select("#colour", colour);
  await page.$eval("#magnify", (input) => {
    input.value = 3;
    input.dispatchEvent(new Event("input"));
  });
  check((await drawing(page)) !== before, "magnification changes the drawing");
  await page.$eval("#magnify", (input) => {
    input.value = 1;
    input.dispatchEvent(new Event("input"));
  });
  check((await drawing(page)) === before, "and back");
  const probes = await page.$$eval("#trace option", (options) => options.map(({ value }) => value));
  if (probes.length > 1) {
    await page.select("#trace", probes[1]);
    check((await drawing(page)) !== before, "a trace is drawn");
    await page.select("#trace", "");
  }
}

async function usePlots(page, downloads) {
  const curve = () => page.$$eval('#plot-energy path[data-curve="kinetic"]', (found) => found.length);
  check((await curve()) === 1, "the kinetic energy is drawn");
  await page.click("#plot-energy .legend button");
  check((await curve()) === 0, "its name switches it off");
  await page.click("#plot-energy .legend button");
  check((await curve()) === 1, "and on again");

  const whole = await page.$eval("#plot-energy svg", (svg) => svg.querySelector("[data-curve]").getAttribute("d"));
  await page.$eval("#plot-energy", (plot) => plot.scrollIntoView());
  const box = await (await page.$("#plot-energy svg")).boundingBox();
  const at = (share) => [box.x + 60 + share * (box.width - 80), box.y + box.height / 2];
  await page.mouse.move(...at(0.5));
  const tip = await text(page, "#plot-energy .tip");
  check(/time .*kinetic .*total /.test(tip), `hovering tells values: ${tip}`);
  await page.mouse.move(...at(0.2));
  await page.mouse.down();
  await page.mouse.move(...at(0.4), { steps: 5 });
  await page.mouse.up();
  const zoomed = await page.$eval("#plot-energy [data-curve]", (path) => path.getAttribute("d"));
  check(zoomed !== whole, "dragging zooms");
  await page.mouse.wheel({ deltaY: -300 });
  check((await page.$eval("#plot-energy [data-curve]", (path) => path.getAttribute("d"))) !== zoomed, "the wheel zooms");
  await page.mouse.click(...at(0.5), { count: 2 });
  const reset = await page.$eval("#plot-energy [data-curve]", (path) => path.getAttribute("d"));
  check(reset === whole, "a double click resets");
  check(!(await page.$$eval("#plots svg", (all) => all.some((svg) => /NaN|Infinity|undefined/.test(svg.outerHTML)))), "no plot holds a broken number");

  if (await page.$(".plot .switch")) {
    const title = () => page.$eval(".plot:has(.switch) h2", (node) => node.textContent);
    const [shown, drawn] = [await title(), await page.$eval(".plot:has(.switch) svg", (svg) => svg.outerHTML)];
    check(shown.startsWith("Displacement"), `probes are shown as displacements: ${shown}`);
    await page.click(".plot .switch");
    check((await title()).startsWith("Position"), "a switch shows positions");
    await page.click(".plot .switch");
    check((await page.$eval(".plot:has(.switch) svg", (svg) => svg.outerHTML)) === drawn, "and displacements again");
  }
  const inner = await page.$$eval("#folded .plot", (all) => all.map(({ id }) => id));
  check(inner.includes("plot-defect") && !(await page.$eval("#folded", ({ open }) => open)), `folded away: ${inner}`);
  await page.click("#folded summary");
  check(await eventually(() => page.$$eval("#folded svg", (all) => all.length > 0)), "they unfold");
  await page.click("#folded summary");

  const plots = await page.$$eval("#plots .plot", (all) => all.map(({ id }) => id.replace("plot-", "")));
  for (const plot of ["energy", "ledger", "phase"]) {
    if (!plots.includes(plot)) continue;
    await page.click(`#plot-${plot} .save`);
    const file = join(downloads, plot + ".svg");
    // A download has its name before it has its content.
    const whole = () => readdirSync(downloads).includes(plot + ".svg") && readFileSync(file, "utf8").trimEnd().endsWith("</svg>");
    check(await eventually(whole), `${plot}.svg is saved`);
    const content = readFileSync(file, "utf8");
    const found = await page.evaluate((content) => {
      const parsed = new DOMParser().parseFromString(content, "image/svg+xml");
      const wrong = parsed.querySelector("parsererror");
      return wrong ? wrong.textContent : [parsed.documentElement.namespaceURI, parsed.querySelectorAll("[data-curve]").length];
    }, content);
    check(found[0] === "http://www.w3.org/2000/svg" && found[1] > 0, `${plot}.svg is XML with curves: ${found}`);
  }
  return plots;
}

async function inspect(browser, run) {
  console.log(run);
  const name = basename(run);
  const page = await browser.newPage();
  const trouble = [];
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || trouble.push("asks for " + request.url()));
  const downloads = mkdtempSync(join(tmpdir(), "carom-downloads-"));
  const client = await page.createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });

  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(join(run, "report.html")).href, { waitUntil: "load" });
  const opened = await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  }));
  const { size } = statSync(join(run, "report.html"));
  check(size < LARGEST, `has ${(size / 1e6).toFixed(1)} MB`);
  check(opened < SLOWEST, `opens in ${Math.round(opened)} ms`);
  check((await page.$$eval("#plots svg", (all) => all.length)) >= 4, "plots are drawn");
  await useAnimation(page);
  await useView(page);
  await usePlots(page, downloads);
  await readKeys(page, run);
  await print(page, join(shots, `${name}.pdf`));

  // The states that the screenshots show: in the middle of the first contact if there is one.
  await page.mouse.move(0, 0);
  await scrub(page, name.includes("impacting-bar") ? 0.25 : 0.3);
  for (const theme of ["light", "dark"]) {
    await page.setViewport({ width: 1280, height: 900 });
    await pause(200);
    check((await page.$eval("html", (html) => html.dataset.theme)) === theme, `theme ${theme}`);
    await page.screenshot({ path: join(shots, `${name}-desktop-${theme}.png`), fullPage: true });
    await page.setViewport({ width: 390, height: 844, deviceScaleFactor: 2 });
    await pause(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 390, `fits a phone (${wide} pixels wide)`);
    await page.screenshot({ path: join(shots, `${name}-phone-${theme}.png`), fullPage: true });
    await page.click("#theme");
  }
  check(trouble.length === 0, `no error in the console, nothing asked of the network${trouble.map((t) => "\n         " + t).join("")}`);
  await page.close();
  rmSync(downloads, { recursive: true });
}

mkdirSync(shots, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), "carom-browser-"));
const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  userDataDir: profile,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars"],
});
try {
  for (const run of runs) await inspect(browser, run);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(failures ? `${failures} checks failed` : "all checks passed");
process.exit(failures || runs.length === 0 ? 1 : 0);
