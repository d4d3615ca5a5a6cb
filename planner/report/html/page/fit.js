// Whether a run fits, in the words of the text answers (planner/words/fit_words.cpp), from values alone.
/** What a verdict is made of: of an evaluation's memory, or of a row that has the figures of a run beside others. */
function memoryOf(m) {
  const { low_bytes: low, high_bytes: high } = m.range || m.peak_range;
  return { low, high, capacity: m.capacity_bytes, reserved: m.reserved_bytes };
}

/** Of memory that is marginal; where a part of the device is to stay free, what is sure of it. */
function marginalVerdict(m) {
  const { low, high, capacity, reserved } = memoryOf(m), leavesTooLittle = low > capacity - reserved;
  if (reserved === 0) return "may fit or not";
  if (high <= capacity) return `fits, but ${leavesTooLittle ? "leaves" : "may leave"} less free than asked`;
  return leavesTooLittle ? "may fit or not, and leaves less free than asked" : "may fit or not";
}

/** "it may fit or not: 74.1 GiB to 79.0 GiB needed, 78.2 GiB available" */
function marginalText(m) {
  const { low, high, capacity, reserved } = memoryOf(m), available = `${memoryText(capacity)} available`;
  const free = reserved > 0 ? `, ${memoryText(reserved)} of it to stay free` : "";
  return `it ${marginalVerdict(m)}: ${memoryText(low)} to ${memoryText(high)} needed, ${available}${free}`;
}

/** What stands in the way of what doesn't surely fit as asked; "" of what does. */
const misfit = (fit, m) => (fit === "fits" ? "" : fit === "marginal" ? marginalVerdict(m) : "does not fit");

/** Whether memory is all that it may lack. */
const runsWhereItFits = ({ infeasible }) => !infeasible || infeasible.constraint === "hbm";

const fitColours = { fits: "good", marginal: "warn", does_not_fit: "bad" };
const capitalized = (text) => text[0].toUpperCase() + text.slice(1);
const fitMark = (fit, m) => el("span", { class: `badge ${fitColours[fit]}` }, capitalized(misfit(fit, m) || "fits"));
