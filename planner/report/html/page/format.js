// Numbers as the text answers have them (planner/report/humanize.cpp).
const countText = (n) => Math.round(n).toLocaleString("en-US");

/** At least three significant digits: "1.23", "45.6", "7,890". */
function numberText(x) {
  if (x === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x))));
  return x.toLocaleString("en-US", { minimumFractionDigits: Math.min(digits, 6), maximumFractionDigits: Math.min(digits, 6) });
}

function timeText(seconds) {
  const size = Math.abs(seconds);
  if (size < 1e-9) return "0 s";  // what a difference of rounded numbers leaves, too
  if (size >= 1) return `${numberText(seconds)} s`;
  if (size >= 1e-3) return `${numberText(seconds * 1e3)} ms`;
  return `${numberText(seconds * 1e6)} µs`;
}

function trafficText(bytes) {
  if (bytes === 0) return "0 GB";
  const size = Math.abs(bytes);
  if (size >= 1e9) return `${numberText(bytes / 1e9)} GB`;
  if (size >= 1e6) return `${numberText(bytes / 1e6)} MB`;
  return size >= 1e3 ? `${numberText(bytes / 1e3)} kB` : `${countText(bytes)} B`;
}

function memoryText(bytes) {
  const gib = bytes / 2 ** 30;
  if (Math.abs(gib) >= 0.05) return `${gib.toFixed(1)} GiB`;
  if (Math.abs(bytes) >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

const shareText = (share) => `${(100 * share).toFixed(1)}%`;
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
const sum = (values) => values.reduce((total, value) => total + value, 0);
