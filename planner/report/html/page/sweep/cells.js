// Words for a sweep's cells, and which of them to take.
const inWords = (id) => id.replaceAll("-", " ");
const dollarsText = (dollars) => `$${numberText(dollars)}`;
const daysText = (days) => `${numberText(days)} days`;
const durationText = (seconds) => (seconds < 86400 ? amount(seconds / 3600, "hour") : amount(seconds / 86400, "day"));
const isLate = (answer, cell) => answer.within_seconds !== null && cell.days !== null && cell.days * 86400 > answer.within_seconds;

/** "15T", "300B". */
function budgetText(tokens) {
  for (const [factor, letter] of [[1e12, "T"], [1e9, "B"], [1e6, "M"]]) if (tokens >= factor && tokens % (factor / 10) === 0) return `${tokens / factor}${letter}`;
  return countText(tokens);
}

function goalText(answer) {
  const within = answer.within_seconds === null ? "" : ` within ${durationText(answer.within_seconds)}`;
  return answer.tokens === null ? "" : `${budgetText(answer.tokens)} tokens${within}`;
}

/** A step without the gradients of experts' biases, whose time isn't known there. */
const lacks = (cell) => Boolean(cell.plan && cell.plan.lacks_bias_gradients);
const cellRateText = (cell) => atMostText(lacks(cell), cell.tokens_per_second);
const takes = (cell) => (cell.days === null ? `${cellRateText(cell)} tokens/s`
  : [`${lacks(cell) ? "at least " : ""}${daysText(cell.days)}`, cell.cost === null ? `${countText(cell.chip_hours)} chip-hours` : dollarsText(cell.cost)].join(" · "));
const cellText = (cell) => `${plural(cell.chips, "chip")} of ${cell.hardware}`;

const answerNames = [["smallest", "fewest chips"], ["cheapest", "cheapest"], ["fastest", "fastest"]];
const namesOf = (cell, choice) => answerNames.filter(([key]) => choice[key] && choice[key].place === cell.place).map(([, name]) => name);

/** The fastest possible cell, in time or not. */
const fastestCell = (answer, model) => answer.cells.filter((c) => c.model === model && c.feasible).sort((a, b) => b.tokens_per_second - a.tokens_per_second)[0];
