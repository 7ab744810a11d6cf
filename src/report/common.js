// What plots and stage share: decoding, colours of the theme, numbers in words.

const $ = (selector, from = document) => from.querySelector(selector);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Arrays are written little-endian, which is what every machine with a browser is.
function bytes(text) {
  const raw = atob(text);
  const array = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) array[i] = raw.charCodeAt(i);
  return array.buffer;
}
const floats = (text) => new Float32Array(bytes(text));
const fractions = (text) => new Uint16Array(bytes(text));

const themeColour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const curveColour = (index) => themeColour("c" + (index % 8));

// Six digits: as many as a 32-bit float has.
function figure(value, digits = 6) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-4)
    ? value.toExponential(digits - 2).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

// Round values between low and high, about `count` of them and `least` apart, and how to write them.
function ticks(low, high, count, least = 0) {
  const rough = Math.max(least, (high - low) / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(k * step);
  const size = Math.max(Math.abs(low), Math.abs(high));
  // A common power of ten keeps labels short where plain numbers would be long.
  const exponent = size >= 1e5 || size < 1e-2 ? Math.floor(Math.log10(size)) : 0;
  const unit = 10 ** exponent;
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const label = (value) => (value / unit).toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−");
  return { values, label, exponent };
}

const superscript = (n) => String(n).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

// First index whose value is not below `x`; `values` ascend.
function lowerBound(values, x) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
