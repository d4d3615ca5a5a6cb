// What a plan comes to, in the words of the text answers (planner/words/search_words.cpp).
const orders = { throughput: "fastest first", memory: "least memory first", cost: "cheapest first" };
const bestOf = { throughput: "fastest", cost: "cheapest" };

/** Of a machine without a plan: whether what is closest may fit, though nothing is expected to. */
const mayFit = ({ closest }) => Boolean(closest) && closest.fit === "marginal" && runsWhereItFits(closest);

/** A search that was stopped doesn't know that nothing fits. */
function nothingVerdict(results) {
  if (results.some((r) => r.unfinished)) return "nothing found";
  return results.some(mayFit) ? "nothing surely fits" : "nothing fits";
}

const unfinishedText = ({ unfinished: u }) =>
  `stopped at --${u.limit}-limit: ${countText(u.left)} of ${plural(u.shardings, "sharding")} were not costed to the end`;

/** Of each machine whose search was stopped: what is shown of it is not the whole answer. */
const unfinishedNotes = (results) => results.filter((r) => r.unfinished).map((r) =>
  el("p", { class: "lead", "data-unfinished": r.hardware },
    el("span", { class: "badge warn" }, "warning"), ` ${r.hardware}: ${unfinishedText(r)}`));

function outlook(r) {
  if (!r.unfinished && mayFit(r)) return fitMark(r.closest.fit, r.closest.memory);
  return el("span", { class: `badge ${r.unfinished ? "warn" : "bad"}` }, capitalized(nothingVerdict([r])));
}

/** Why a machine has no plan. */
function shortfall(r) {
  if (r.refused) return r.refused;
  if (mayFit(r)) return `${marginalText(r.closest.memory)}, with ${meshText(r.closest.mesh)}`;
  const why = r.closest && r.closest.infeasible;
  if (!why && r.unfinished) return "nothing found before the search was stopped";
  if (!why) return r.rejections.length ? r.rejections[0].example : "no valid configuration";
  if (why.constraint !== "hbm") return why.message;
  return `${memoryText(why.needed_bytes)} of ${memoryText(why.available_bytes)} at least, with ${meshText(r.closest.mesh)}`;
}
