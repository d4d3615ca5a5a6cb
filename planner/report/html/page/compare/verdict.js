// What a comparison comes to: who is faster and by how much, of what fits; what doesn't fit.
/** Below twice in percent: "32.5% faster than", "2.10× as fast as". */
const aheadText = (one, other, [more, times]) => {
  const rate = rowRate(one) / rowRate(other);
  return rate < 2 ? `${shareText(rate - 1)} ${more} than` : `${numberText(rate)}× as ${times} as`;
};

/** What rows are ranked by, and how that is said: how many tokens a second, or what a million of them cost. */
const rateFigure = (row) => `${rowRateText(row)} tokens a second`;
const bySpeed = { worth: rowRate, best: "fastest", same: "as fast", ahead: (one, other) => aheadText(one, other, ["faster", "fast"]),
  figure: rateFigure, sameFigure: "as many as", aheadInFigure: (one, other) => aheadText(one, other, ["more", "many"]) };
const cheaperText = (one, other) => `${shareText(1 - costOf(one) / costOf(other))} cheaper than`;
const byCost = { worth: (row) => 1 / costOf(row), best: "cheapest", same: "as cheap", ahead: cheaperText,
  figure: (row) => `${rateFigure(row)} at ${millionText(costOf(row))}`, sameFigure: "as cheap as", aheadInFigure: cheaperText };
const goalOf = (answer) => (answer.objective === "cost" ? byCost : bySpeed);
const ranked = (rows, goal) => [...rows].sort((a, b) => goal.worth(b) - goal.worth(a));
const isSame = (one, other, goal) => Math.abs(goal.worth(one) / goal.worth(other) - 1) < 0.0005;

/** Two that were asked for: files, or the best of each of two rule sets. */
function pairOf(answer, rows) {
  const difference = answer.rule_changes;
  if (!difference) return rows.length === 2 ? rows : null;
  const best = (rules) => { const own = rows.filter((row) => row.rules === rules); return own.find(isAble) || own[0]; };
  const pair = ["first", "second"].map((side) => ({ rules: difference[side], row: best(difference[side]) }));
  return pair.every(({ row }) => row) ? pair.map(({ rules, row }) => ({ ...row, label: rules, full: `${rules} (${meshText(row.mesh)})` })) : null;
}

function pairTitle(pair, goal) {
  const able = ranked(pair.filter(isAble), goal), unable = pair.filter((row) => !isAble(row));
  const [best, next] = able;
  if (next) return isSame(best, next, goal) ? `${best.label} and ${next.label} are ${goal.same}` : `${best.label} is ${goal.ahead(best, next)} ${next.label}`;
  if (able.length === 1) return `${able[0].label} fits, ${unable[0].label} ${unfitText(unable[0]).split(":")[0]}`;
  return `neither ${pair[0].label} nor ${pair[1].label} ${surely(unable)}fits`;
}

const surely = (rows) => (rows.some((row) => row.fit === "marginal") ? "surely " : "");

function compareTitle(answer, rows, subject) {
  const pair = pairOf(answer, rows), goal = goalOf(answer), able = ranked(rows.filter(isAble), goal);
  const of = subject ? `${subject}: ` : "";
  if (pair) return `${answer.changed_arguments ? "" : of}${pairTitle(pair, goal)}`;
  if (rows.length === 1) return `${of}${rows[0].label} ${unfitText(rows[0]).split(":")[0] || "fits"}`;
  if (!able.length) return `${of}none of ${plural(rows.length, "configuration")} ${surely(rows)}fits`;
  if (able.length === 1) return `${of}${able[0].label} is the only one of ${countText(rows.length)} that fits`;
  return `${of}${able[0].label} is the ${goal.best} of ${countText(rows.length)}`;
}

function fitBadge(rows) {
  const able = rows.filter(isAble).length, [only] = rows;
  if (able === rows.length) return el("span", { class: "badge good" }, able === 1 ? "Fits" : able === 2 ? "Both fit" : "All fit");
  if (rows.length === 1) return runsWhereItFits(only) ? fitMark(only.fit, only) : el("span", { class: "badge bad" }, "Does not run");
  const none = `${rows.length === 2 ? "Neither" : "None"} ${surely(rows)}fits`;
  return el("span", { class: `badge ${able || surely(rows) ? "warn" : "bad"}` }, able ? `${countText(able)} of ${countText(rows.length)} fit` : none);
}

/** What the best that fits makes, and how far the next is behind; what would be better; what doesn't fit. */
function compareLead(answer, rows) {
  const goal = goalOf(answer), pair = pairOf(answer, rows) || rows;
  const able = ranked(pair.filter(isAble), goal), unable = ranked(pair.filter((row) => !isAble(row)), goal);
  const name = (row) => el("b", {}, row.full);
  const steps = (one, other) => (one.global_batch_tokens === other.global_batch_tokens ? "" : `, in steps of ${countText(one.global_batch_tokens)} and ${countText(other.global_batch_tokens)} tokens`);
  const sentences = [];
  if (able.length > 1) {
    const [best, next] = able, ahead = isSame(best, next, goal) ? goal.sameFigure : goal.aheadInFigure(best, next);
    sentences.push([name(best), ` makes ${goal.figure(best)}, ${ahead} `, name(next), `${steps(best, next)}. `]);
  } else if (able.length === 1) sentences.push([name(able[0]), ` makes ${goal.figure(able[0])}. `]);
  const against = able[0] || unable.at(-1);
  const isAhead = (row) => row !== against && goal.worth(row) > goal.worth(against) && !isSame(row, against, goal);
  const said = unable.length > 2 && able.length ? unable.filter(isAhead).slice(0, 3) : unable.slice(0, 3);
  for (const row of said) {
    const ahead = isAhead(row) ? `; if it did, it would be ${goal.ahead(row, against)} ${against.label}` : "";
    sentences.push([name(row), ` ${unfitText(row)}${ahead}. `]);
  }
  if (unable.length > said.length) sentences.push(`${countText(unable.length - said.length)}${said.length ? " more" : ""} don't ${surely(unable)}fit. `);
  return sentences.length ? el("p", { class: "lead" }, answer.rule_changes ? "The best run of each: " : null, sentences) : null;
}
