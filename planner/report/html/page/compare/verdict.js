// What a comparison comes to: who is faster and by how much, of what fits; what doesn't fit.
const isAsFast = (one, other) => Math.abs(rowRate(one) / rowRate(other) - 1) < 0.0005;
/** Below twice in percent: "32.5% faster than", "2.10× as fast as". */
const aheadText = (one, other, [more, times]) => {
  const rate = rowRate(one) / rowRate(other);
  return rate < 2 ? `${shareText(rate - 1)} ${more} than` : `${numberText(rate)}× as ${times} as`;
};
const fasterThan = (one, other) => aheadText(one, other, ["faster", "fast"]), moreText = (one, other) => aheadText(one, other, ["more", "many"]);

/** Two that were asked for: files, or the best of each of two rule sets. */
function pairOf(answer, rows) {
  const difference = answer.rule_changes;
  if (!difference) return rows.length === 2 ? rows : null;
  const best = (rules) => { const own = rows.filter((row) => row.rules === rules); return own.find(isAble) || own[0]; };
  const pair = ["first", "second"].map((side) => ({ rules: difference[side], row: best(difference[side]) }));
  return pair.every(({ row }) => row) ? pair.map(({ rules, row }) => ({ ...row, label: rules, full: `${rules} (${meshText(row.mesh)})` })) : null;
}

function pairTitle(pair) {
  const able = byRate(pair.filter(isAble)), unable = pair.filter((row) => !isAble(row));
  if (able.length === 2) return isAsFast(...able) ? `${able[0].label} and ${able[1].label} are as fast` : `${able[0].label} is ${fasterThan(...able)} ${able[1].label}`;
  if (able.length === 1) return `${able[0].label} fits, ${unable[0].label} ${unfitText(unable[0]).split(":")[0]}`;
  return `neither ${pair[0].label} nor ${pair[1].label} ${unable.some((row) => row.fit === "marginal") ? "surely " : ""}fits`;
}

function compareTitle(answer, rows, subject) {
  const pair = pairOf(answer, rows), able = byRate(rows.filter(isAble));
  if (pair) return answer.changed_arguments ? pairTitle(pair) : `${subject}: ${pairTitle(pair)}`;
  if (rows.length === 1) return `${subject}: ${rows[0].label} ${unfitText(rows[0]).split(":")[0] || "fits"}`;
  if (!able.length) return `${subject}: none of ${plural(rows.length, "configuration")} ${rows.some((row) => row.fit === "marginal") ? "surely fits" : "fits"}`;
  if (able.length === 1) return `${subject}: ${able[0].label} is the only one of ${countText(rows.length)} that fits`;
  return `${subject}: ${able[0].label} is the fastest of ${countText(rows.length)}`;
}

function fitBadge(rows) {
  const able = rows.filter(isAble).length;
  if (able === rows.length) return el("span", { class: "badge good" }, able === 1 ? "Fits" : able === 2 ? "Both fit" : "All fit");
  return el("span", { class: `badge ${able ? "warn" : "bad"}` }, able ? `${countText(able)} of ${countText(rows.length)} fit` : ["Does not fit", "Neither fits"][rows.length - 1] || "None fits");
}

/** What the fastest that fits makes, and how far the next is behind; what would be faster; what doesn't fit. */
function compareLead(answer, rows) {
  const pair = pairOf(answer, rows) || rows, able = byRate(pair.filter(isAble)), unable = byRate(pair.filter((row) => !isAble(row)));
  const name = (row) => el("b", {}, row.full), rate = (row) => `${numberText(rowRate(row))} tokens a second`;
  const steps = (one, other) => (one.global_batch_tokens === other.global_batch_tokens ? "" : `, in steps of ${countText(one.global_batch_tokens)} and ${countText(other.global_batch_tokens)} tokens`);
  const sentences = [];
  if (able.length > 1) {
    const [best, next] = able, ahead = isAsFast(best, next) ? "as many as " : `${moreText(best, next)} `;
    sentences.push([name(best), ` makes ${rate(best)}, ${ahead}`, name(next), `${steps(best, next)}. `]);
  } else if (able.length === 1) sentences.push([name(able[0]), ` makes ${rate(able[0])}. `]);
  const against = able[0] || unable.at(-1), said = unable.slice(0, 3);
  for (const row of said) {
    const ahead = row !== against && rowRate(row) > rowRate(against) && !isAsFast(row, against) ? `; if it did, it would be ${fasterThan(row, against)} ${against.label}` : "";
    sentences.push([name(row), ` ${unfitText(row)}${ahead}. `]);
  }
  if (unable.length > said.length) sentences.push(`${countText(unable.length - said.length)} more don't fit. `);
  return sentences.length ? el("p", { class: "lead" }, answer.rule_changes ? "The best run of each: " : null, sentences) : null;
}
