// Numbers as the text answers have them (planner/report/humanize.cpp, values/units.cpp); tests/data/html/numbers.json holds
// both to the same words.
const countText = (n) => (Math.sign(n) * Math.round(Math.abs(n))).toLocaleString("en-US");

/** A tie goes to the even digit, as C++ has it: toFixed takes the larger. With so few digits a tie is an odd number of
    halves of 2^digits, which a double has exactly. */
function fixedText(x, digits) {
  const size = Math.abs(x), halves = size * 2 ** (digits + 1);
  if (halves % 2 !== 1) return x.toFixed(digits);
  const below = Math.floor(size * 10 ** digits), even = below + (below % 2);
  return `${x < 0 ? "-" : ""}${(even / 10 ** digits).toFixed(digits)}`;
}

/** Three significant digits without zeros at the end: "0.00123", "2.5", "1e+15". */
function generalText(x) {
  const [mantissa, power] = x.toExponential(2).split("e").map(Number);
  const inPowers = power < -4 || power >= 3, text = inPowers ? String(mantissa) : x.toPrecision(3);
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return inPowers ? `${short}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}` : short;
}

/** At least three significant digits: "1.23", "45.6", "7,890". How many decimals give three is decided after rounding:
    9.996 is "10.0", not "10.00". */
function numberText(x) {
  const size = Math.abs(x);
  if (size >= 1e15) return generalText(x);
  if (size >= 999.5) return countText(x);
  return fixedText(x, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** In the largest unit that it is 1 of once three digits are rounded: 999.6 ms is 1 s. `units`: [size, name, how many]. */
function scaledText(x, units) {
  const [, name, many] = units.find(([size]) => Math.abs(x) >= 0.9995 * size) || units.at(-1);
  return `${numberText(many(x))} ${name}`;
}

const timeUnits = [[1, "s", (x) => x], [1e-3, "ms", (x) => x * 1e3], [1e-6, "µs", (x) => x * 1e6]];
const trafficUnits = [[1e9, "GB", (x) => x / 1e9], [1e6, "MB", (x) => x / 1e6], [1e3, "kB", (x) => x / 1e3]];

/** What a difference of rounded numbers leaves is nothing. */
const timeText = (seconds) => (Math.abs(seconds) < 1e-9 ? "0 s" : scaledText(seconds, timeUnits));

function trafficText(bytes) {
  if (bytes === 0) return "0 GB";
  return Math.abs(bytes) < 1000 ? `${countText(bytes)} B` : scaledText(bytes, trafficUnits);
}

function memoryText(bytes) {
  if (bytes === 0) return "0 GiB";
  const size = Math.abs(bytes);
  if (size < 0.9995 * 2 ** 20) return `${numberText(bytes / 1024)} KiB`;
  if (size < 0.05 * 2 ** 30) return `${numberText(bytes / 2 ** 20)} MiB`;
  return `${fixedText(bytes / 2 ** 30, 1)} GiB`;
}

/** For a million tokens. */
const dollarsOfMillionText = (dollars) => (dollars < 999.5 ? generalText(dollars) : numberText(dollars));

const shareText = (share) => `${fixedText(100 * share, 1)}%`;
const rateText = (bytesPerSecond) => `${numberText(bytesPerSecond / 1e9)} GB/s`;
const slowerText = (slower) => (slower < 1 ? shareText(slower) : `${numberText(1 + slower)}×`);

/** "expert=8"; "1 device" where no axis is above 1. */
function meshText(mesh) {
  const parts = Object.entries(mesh).filter(([, size]) => size > 1).map(([axis, size]) => `${axis}=${size}`);
  return parts.length ? parts.join(",") : "1 device";
}

/** A run's arguments as a shell takes them. */
const shellWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const argumentWords = (run) => Object.entries(run.maxtext_arguments).map(([key, value]) => shellWord(`${key}=${value}`)).join(" ");

/** "1 hour", "1.5 days": no more digits than it was asked with has. */
const amount = (n, noun) => `${Number(n.toPrecision(4))} ${noun}${n === 1 ? "" : "s"}`;
const plural = (n, noun) => `${countText(n)} ${noun}${n === 1 ? "" : "s"}`;

/** With the routing of all tokens, which stands beside the parts of a step: what plans are compared with. */
const wholeStep = (t) => t.step_seconds + t.all_token_routing_seconds;
const withRouting = (rate, t) => (t.all_token_routing_seconds > 0 ? rate * t.step_seconds / wholeStep(t) : rate);
const tokensPerSecond = (e) => withRouting(e.time.tokens_per_second_per_device, e.time) * e.devices;
/** Where gradients of experts' biases take what isn't known on the machine, and the step leaves out, rates are less. */
const atMostText = (isLess, rate) => `${isLess ? "at most " : ""}${numberText(rate)}`;
const lacksBiasGradients = (e) => e.findings.some((f) => f.id === "bias-gradients-unpriced");
const tokensPerSecondText = (e) => atMostText(lacksBiasGradients(e), tokensPerSecond(e));
const tokensPerSecondAndChipText = (e) => atMostText(lacksBiasGradients(e), tokensPerSecond(e) / e.chips);
const sum = (values) => values.reduce((total, value) => total + value, 0);
