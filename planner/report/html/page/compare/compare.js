// Configurations side by side.
const rowVerdict = (row) => {
  if (row.infeasible && row.infeasible.constraint !== "hbm") return el("span", { class: "badge bad", title: row.infeasible.message }, row.infeasible.constraint);
  return fitMark(row.fit, row);
};

/** Settings that all rows share are said once, above it. */
function compareTable(rows, first) {
  const number = (title, text) => ({ title, number: true, text }), name = (r) => rowName(r, first + rows.indexOf(r));
  const permutes = rows.some((r) => r.permute_bytes > 0) ? [number("permuted", (r) => trafficText(r.permute_bytes))] : [];
  const dollars = rows.some((r) => costOf(r) !== undefined) ? [number("$/M tokens", (r) => dollarsOfMillionText(costOf(r)))] : [];
  return dataTable(`Configurations from ${first + 1} on, bytes a device and step`, [
    { title: "configuration", text: (r) => (r.rest ? el("span", {}, name(r), el("br", {}), el("span", { class: "soft" }, r.rest)) : name(r)) }, { title: "verdict", text: rowVerdict },
    ...dollars, number("tokens/s", rowRateText), number("step", (r) => timeText(wholeStep(r))), number("exposed", (r) => timeText(r.exposed_collective_seconds)),
    number("hidden", (r) => timeText(r.hidden_collective_seconds)), number("all-to-all", (r) => trafficText(r.all_to_all_bytes)),
    number("gathered", (r) => trafficText(r.gather_bytes)), number("reduced", (r) => trafficText(r.reduce_bytes)), ...permutes,
    number("peak", (r) => memoryText(r.peak_bytes))], rows);
}

const rowsAtFirst = 16;
const sideBySideCard = (rows) => wide(card("Side by side", compareTable(rows.slice(0, rowsAtFirst), 0), rows.length > rowsAtFirst
  ? el("details", {}, el("summary", {}, `${rows.length - rowsAtFirst} more`), compareTable(rows.slice(rowsAtFirst), rowsAtFirst)) : null));

const inWordsAtFirst = 9;

/** What a chart that has no room for all says of those that it shows; "" where it shows all. */
const firstOfText = (rows, count) => (rows.length < count ? `; the first ${countText(rows.length)} of ${countText(count)}` : "");

function differencesCard(rows) {
  const [first, ...others] = rows, shared = sharedSettings(rows), unfit = unfitText(first);
  const cost = costOf(first) === undefined ? "" : `${millionText(costOf(first))}, `;
  return wide(card("What differs", el("p", {}, el("b", {}, rowName(first, 0)), `: ${cost}${timeText(wholeStep(first))} a step, ${timeText(first.exposed_collective_seconds)} exposed, peak ${memoryText(first.peak_bytes)}${unfit ? `; ${unfit}` : ""}`),
    el("ul", { class: "reasons plain-list" }, others.slice(0, inWordsAtFirst - 1).map((row, i) => el("li", {}, el("b", {}, rowName(row, i + 1)), `: ${differenceText(row, first)}`))),
    rows.length > inWordsAtFirst ? el("p", { class: "soft" }, `and ${rows.length - inWordsAtFirst} more in the table`) : null,
    shared && others.length ? el("p", { class: "soft" }, `The same in all: ${shared}.`) : null));
}

/** Bars of this many times the fastest would leave none of the others to tell apart. */
const mostDrawn = 4;

/** Of the first row's tokens, so that rows with other batches compare. */
function compareTimeCard(rows, count) {
  const bars = rows.map((r, i) => {
    const scale = rows[0].global_batch_tokens / r.global_batch_tokens, time = (v) => timeText(v);
    return { label: rowName(r, i), note: i === 0 ? timeText(wholeStep(r)) : slowerWords(r.slower),
      segments: [part("compute", r.compute_seconds * scale, time, "blue"), part("exposed collectives", r.exposed_collective_seconds * scale, time, "red"),
        part("host copies", r.exposed_host_seconds * scale, time, "pink"), part("pipeline bubble", r.bubble_seconds * scale, time, "amber"),
        part("routing of all tokens", r.all_token_routing_seconds * scale, time, "green")] };
  });
  const drawn = bars.filter((_, i) => !(rows[i].slower > mostDrawn - 1)), far = bars.length - drawn.length;
  const others = far ? `; ${plural(far, "run")} of more than ${mostDrawn} times the fastest's time ${far === 1 ? "is" : "are"} in the numbers alone` : "";
  return card("Time of the same tokens", figure("time", `${countText(rows[0].global_batch_tokens)} tokens each${firstOfText(rows, count)}${others}`, stackedBars(drawn, inSeconds), barTable("Time by part", bars, "time")));
}

function compareTrafficCard(rows, count) {
  const bars = rows.map((r, i) => ({ label: rowName(r, i), note: trafficText(r.all_to_all_bytes + r.gather_bytes + r.reduce_bytes + r.permute_bytes),
    segments: [part("all-to-all", r.all_to_all_bytes, trafficText, "violet"), part("gathered", r.gather_bytes, trafficText, "blue"),
      part("reduced", r.reduce_bytes, trafficText, "teal"), part("permuted", r.permute_bytes, trafficText, "amber")] }));
  return card("All-to-all against gathers and reductions", figure("traffic", `Bytes a device and step${firstOfText(rows, count)}`, stackedBars(bars, inBytes), barTable("Bytes by kind", bars, "bytes")));
}

function compareMemoryCard(rows, count) {
  const bars = rows.map((r, i) => ({ label: rowName(r, i), note: `${memoryText(r.peak_bytes)} of ${memoryText(r.capacity_bytes)}`,
    segments: [part("peak", r.peak_bytes, memoryText, r.fit === "fits" ? "green" : r.fit === "marginal" ? "amber" : "red")] }));
  const whole = Math.max(...rows.flatMap((r) => [r.peak_bytes, r.capacity_bytes]));
  return card("Peak memory", figure("memory", `The whole bar is ${memoryText(whole)} of a device${firstOfText(rows, count)}`, stackedBars(bars, inGibibytes, { whole, key: false }), barTable("Peak memory", bars, "memory")));
}

/** What each configuration moves over each set of axes, most bytes first. */
function byAxisCard(rows, count) {
  const keys = new Map();
  rows.forEach((row, i) => row.by_axis.forEach((one) => {
    const key = `${one.kind} over ${one.axes.join("+")}`, entry = keys.get(key) || { key, cells: [], most: 0 };
    entry.cells[i] = one;
    entry.most = Math.max(entry.most, one.bytes);
    keys.set(key, entry);
  }));
  const entries = [...keys.values()].sort((a, b) => b.most - a.most);
  if (!entries.length) return null;
  const times = (one) => `${timeText(one.exposed_seconds)}${one.hidden_seconds > 0 ? ` + ${timeText(one.hidden_seconds)}` : ""}`;
  const cell = (one) => (one ? el("span", {}, trafficText(one.bytes), el("br", {}), el("span", { class: "soft" }, times(one))) : "-");
  return card("By mesh axis", el("p", { class: "soft" }, `Bytes a device and step, exposed + hidden time; numbers as above${firstOfText(rows, count)}`),
    dataTable("Bytes, exposed and hidden time by kind and axes", [{ title: "collectives", text: (k) => k.key },
      ...rows.map((_, i) => ({ title: `#${i + 1}`, number: true, text: (k) => cell(k.cells[i]) }))], entries));
}

const argumentsCard = (rows, count) => card("To start one", el("details", {}, el("summary", {}, `MaxText's arguments, which shardplan explain takes too${firstOfText(rows, count)}`),
  rows.map((row, i) => commandBlock(rowName(row, i), argumentWords(row)))));

const changedArgumentsCard = (answer, [first, second]) => (answer.changed_arguments
  ? wide(card("Settings that differ", answer.changed_arguments.length ? dataTable("Settings that differ", [{ title: "setting", text: (c) => c.key },
    { title: first.label, text: (c) => c.first || "(default)" }, { title: second.label, text: (c) => c.second || "(default)" }], answer.changed_arguments)
    : el("p", {}, "None."))) : null);

const refusedCard = (answer) => (answer.refused.length ? card("Left out", dataTable("Left out, with the reason", [
  { title: "machine", text: (r) => r.hardware }, { title: "rules", text: (r) => r.rules }, { title: "MoE", text: (r) => r.moe_path }, { title: "mesh", text: (r) => r.mesh || "" },
  { title: "settings", text: (r) => (r.settings || []).join(" ") }, { title: "reason", text: (r) => r.reason }], answer.refused)) : null);

const nothingRunsPage = (answer) => [el("p", { class: "kicker" }, "shardplan compare"),
  el("div", { class: "head" }, el("h1", {}, `${answer.model} on ${plural(answer.chips, "chip")} of ${answer.hardware}: nothing runs`)),
  el("div", { class: "columns" }, wide(refusedCard(answer)))];

const rowsInCharts = 12, rowsByAxis = 8;

function comparePage(answer) {
  if (answer.rows.length === 0) return nothingRunsPage(answer);
  const all = namedRows(distinctRows(answer)), rows = all.slice(0, rowsInCharts), subject = subjectOf(all), count = all.length;
  return [el("p", { class: "kicker" }, ["shardplan compare", answer.changed_arguments ? subject : ""].filter(Boolean).join(" · ")),
    el("div", { class: "head" }, el("h1", {}, compareTitle(answer, all, subject)), fitBadge(all)), compareLead(answer, all),
    el("div", { class: "columns" }, differencesCard(all), changedArgumentsCard(answer, rows), ruleChangesCard(answer), compareTimeCard(rows, count), compareTrafficCard(rows, count),
      sideBySideCard(all), wideOrNothing(byAxisCard(rows.slice(0, rowsByAxis), count)), wide(compareMemoryCard(rows, count)), wide(argumentsCard(rows, count)), wideOrNothing(refusedCard(answer)))];
}
