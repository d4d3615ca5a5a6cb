// Configurations side by side.
const rowName = (row, i) => `${i + 1} · ${row.name || [row.several ? row.hardware : "", meshText(row.mesh), row.rules, row.moe_path === "none" ? "" : row.moe_path, ...(row.settings || [])].filter(Boolean).join(" · ")}`;
const rowVerdict = (row) => {
  if (row.infeasible && row.infeasible.constraint !== "hbm") return el("span", { class: "badge bad", title: row.infeasible.message }, row.infeasible.constraint);
  return el("span", { class: `badge ${fits[row.fit][0]}` }, fits[row.fit][1]);
};

const rowSettings = [["name", (r) => r.name || ""], ["machine", (r) => r.hardware], ["mesh", (r) => meshText(r.mesh)], ["rules", (r) => r.rules.replaceAll(",", ", ")],
  ["MoE path", (r) => (r.moe_path === "none" ? "" : r.moe_path)], ["settings", (r) => (r.settings || []).join(" ")], ["remat", (r) => r.remat],
  ["batch a device", (r) => String(r.per_device_batch_size)]];
const isShared = (rows, text) => rows.every((r) => text(r) === text(rows[0]));
const sharedSettings = (rows) => rowSettings.filter(([, text]) => text(rows[0]) && isShared(rows, text)).map(([name, text]) => `${name} ${text(rows[0])}`);

/** Settings that all rows share are said once, above it. */
function compareTable(rows, first) {
  const number = (title, text) => ({ title, number: true, text });
  const permutes = rows.some((r) => r.permute_bytes > 0) ? [number("permuted", (r) => trafficText(r.permute_bytes))] : [];
  const settings = rowSettings.filter(([, text]) => !isShared(rows, text)).map(([title, text]) => ({ title, text }));
  return dataTable(`Configurations from ${first + 1} on, bytes a device and step`, [
    number("#", (r) => String(first + rows.indexOf(r) + 1)), { title: "verdict", text: rowVerdict },
    number("step", (r) => timeText(r.step_seconds)), number("exposed", (r) => timeText(r.exposed_collective_seconds)),
    number("hidden", (r) => timeText(r.hidden_collective_seconds)), number("all-to-all", (r) => trafficText(r.all_to_all_bytes)),
    number("gathered", (r) => trafficText(r.gather_bytes)), number("reduced", (r) => trafficText(r.reduce_bytes)), ...permutes,
    number("peak", (r) => memoryText(r.peak_bytes)), ...settings], rows);
}

const rowsAtFirst = 16;
const sideBySideCard = (rows) => wide(card("Side by side", compareTable(rows.slice(0, rowsAtFirst), 0), rows.length > rowsAtFirst
  ? el("details", {}, el("summary", {}, `${rows.length - rowsAtFirst} more`), compareTable(rows.slice(rowsAtFirst), rowsAtFirst)) : null));

const slowerWords = (slower) => {
  if (Math.abs(slower) < 0.0005) return "as fast";
  return slower < 0 ? `${shareText(-slower / (1 + slower))} faster` : `${slowerText(slower)} slower`;
};

/** What a row has more or less than the first, in words; what doesn't show is left out. */
function differenceText(row, first) {
  const scale = first.global_batch_tokens / row.global_batch_tokens;
  const signed = (name, value, text) => `${name} ${value < 0 ? "−" : "+"}${text(Math.abs(value))}`;
  const times = [["compute", "compute_seconds"], ["exposed", "exposed_collective_seconds"], ["host copies", "exposed_host_seconds"], ["bubble", "bubble_seconds"]]
    .map(([name, key]) => [name, row[key] * scale - first[key]]).filter(([, v]) => Math.abs(v) > 0.0005 * first.step_seconds).map(([name, v]) => signed(name, v, timeText));
  const bytes = [["all-to-all", "all_to_all_bytes"], ["gathered", "gather_bytes"], ["reduced", "reduce_bytes"], ["permuted", "permute_bytes"]]
    .map(([name, key]) => [name, row[key] - first[key]]).filter(([, v]) => Math.abs(v) >= 1e6).map(([name, v]) => signed(name, v, trafficText));
  const peak = row.peak_bytes - first.peak_bytes;
  const tokens = Math.abs(scale - 1) > 0.0005 ? `in steps of ${numberText(1 / scale)}× the tokens` : "";
  return [`${slowerWords(row.slower)}${times.length ? ` (${times.join(", ")})` : ""}`, bytes.join(", "),
    Math.abs(peak) >= 2 ** 30 * 0.05 ? signed("peak", peak, memoryText) : "", tokens, row.infeasible ? `does not run: ${row.infeasible.message}` : ""].filter(Boolean).join("; ");
}

function differencesCard(rows, count) {
  const [first, ...others] = rows;
  const shared = sharedSettings(rows);
  return wide(card("What differs", el("p", {}, el("b", {}, rowName(first, 0)), `: ${timeText(first.step_seconds)} a step, ${timeText(first.exposed_collective_seconds)} exposed, peak ${memoryText(first.peak_bytes)}`),
    el("ul", { class: "reasons plain-list" }, others.slice(0, 8).map((row, i) => el("li", {}, el("b", {}, rowName(row, i + 1)), `: ${differenceText(row, first)}`))),
    count > 9 ? el("p", { class: "soft" }, `and ${count - 9} more in the table`) : null,
    shared.length && others.length ? el("p", { class: "soft" }, `The same in all: ${shared.join(", ")}.`) : null));
}

/** Of the first row's tokens, so that rows with other batches compare. */
function compareTimeCard(rows) {
  const bars = rows.map((r, i) => {
    const scale = rows[0].global_batch_tokens / r.global_batch_tokens, time = (v) => timeText(v);
    return { label: rowName(r, i), note: i === 0 ? timeText(r.step_seconds) : slowerWords(r.slower),
      segments: [part("compute", r.compute_seconds * scale, time, "blue"), part("exposed collectives", r.exposed_collective_seconds * scale, time, "red"),
        part("host copies", r.exposed_host_seconds * scale, time, "pink"), part("pipeline bubble", r.bubble_seconds * scale, time, "amber")] };
  });
  return card("Time of the same tokens", figure("time", `${countText(rows[0].global_batch_tokens)} tokens each`, stackedBars(bars, inSeconds), barTable("Time by part", bars, "time")));
}

function compareTrafficCard(rows) {
  const bars = rows.map((r, i) => ({ label: rowName(r, i), note: trafficText(r.all_to_all_bytes + r.gather_bytes + r.reduce_bytes + r.permute_bytes),
    segments: [part("all-to-all", r.all_to_all_bytes, trafficText, "violet"), part("gathered", r.gather_bytes, trafficText, "blue"),
      part("reduced", r.reduce_bytes, trafficText, "teal"), part("permuted", r.permute_bytes, trafficText, "amber")] }));
  return card("All-to-all against gathers and reductions", figure("traffic", "Bytes a device and step", stackedBars(bars, inBytes), barTable("Bytes by kind", bars, "bytes")));
}

function compareMemoryCard(rows) {
  const bars = rows.map((r, i) => ({ label: rowName(r, i), note: `${memoryText(r.peak_bytes)} of ${memoryText(r.capacity_bytes)}`,
    segments: [part("peak", r.peak_bytes, memoryText, r.fit === "fits" ? "green" : r.fit === "marginal" ? "amber" : "red")] }));
  const whole = Math.max(...rows.flatMap((r) => [r.peak_bytes, r.capacity_bytes]));
  return card("Peak memory", figure("memory", `The whole bar is ${memoryText(whole)} of a device`, stackedBars(bars, inGibibytes, { whole, key: false }), barTable("Peak memory", bars, "memory")));
}

/** What each configuration moves over each set of axes, most bytes first. */
function byAxisCard(rows) {
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
  return card("By mesh axis", el("p", { class: "soft" }, "Bytes a device and step, exposed + hidden time; numbers as above"),
    dataTable("Bytes, exposed and hidden time by kind and axes", [{ title: "collectives", text: (k) => k.key },
      ...rows.map((_, i) => ({ title: `#${i + 1}`, number: true, text: (k) => cell(k.cells[i]) }))], entries));
}

const ruleLine = (change, one) => `${one.line ? `line ${one.line}: ` : ""}${change.logical ? `'${change.logical}' → ` : ""}[${one.axes.join(", ")}]`;

/** What a change alone is worth on the first set's run; null where that is nothing. */
function aloneText(change, base) {
  const { alone } = change;
  if (!alone) return "no place on this mesh";
  if (alone.infeasible) return `does not run: ${alone.infeasible.message}`;
  if (!base) return `${timeText(alone.step_seconds)} a step`;
  const scaled = { ...alone, slower: alone.step_seconds / base.step_seconds - 1, global_batch_tokens: base.global_batch_tokens };
  const text = differenceText(scaled, base);
  return text === "as fast" ? null : text;
}

function ruleChange(change, text) {
  const lines = (side, kind, sign) => change[side].map((one) => el("code", { class: kind }, `${sign} ${ruleLine(change, one)}`));
  return el("div", { class: "change" }, el("b", {}, change.logical || change.part), lines("first", "old", "−"), lines("second", "new", "+"), el("div", {}, `alone: ${text}`));
}

/** The best of one rule set against the best of the other. */
function rulesVerdict(answer) {
  const difference = answer.rule_changes;
  if (!difference) return null;
  const [one, other] = ["first", "second"].map((side) => answer.rows.find((r) => r.rules === difference[side]));
  if (!one || !other || one === other) return null;
  const slower = (other.step_seconds / other.global_batch_tokens) / (one.step_seconds / one.global_batch_tokens) - 1;
  const unfit = [one, other].filter((row) => row.fit !== "fits").map((row) => `; ${row.rules}: ${fits[row.fit][1]}`).join("");
  return el("p", { class: "lead" },
    `Best of ${difference.first} against best of ${difference.second}: ${difference.second} is ${slowerWords(slower)}${unfit}.`);
}

function ruleChangesCard(answer) {
  const difference = answer.rule_changes;
  if (!difference) return null;
  const base = answer.rows.find((r) => r.rules === difference.first);
  const worth = (change) => (change.alone && base ? Math.abs(change.alone.step_seconds / base.step_seconds - 1) : 0);
  const changes = difference.changes.map((change) => ({ change, text: aloneText(change, base) }));
  const telling = changes.filter((c) => c.text).sort((a, b) => worth(b.change) - worth(a.change)), idle = changes.filter((c) => !c.text);
  return wide(card(`Rules that change from ${difference.first} to ${difference.second}`, changes.length ? null : el("p", {}, "None."),
    telling.map(({ change, text }) => ruleChange(change, text)),
    idle.length ? el("details", {}, el("summary", {}, `${idle.length} that change nothing alone${base ? ` on ${meshText(base.mesh)}` : ""}`), idle.map(({ change }) => ruleChange(change, "nothing"))) : null));
}

const argumentsCard = (rows) => card("To start one", el("details", {}, el("summary", {}, "MaxText's arguments, which shardplan explain takes too"),
  rows.map((row, i) => commandBlock(rowName(row, i), argumentWords(row)))));

const changedArgumentsCard = (answer) => (answer.changed_arguments
  ? wide(card("Settings that differ", answer.changed_arguments.length ? dataTable("Settings that differ", [{ title: "setting", text: (c) => c.key },
    { title: answer.rows[0].name, text: (c) => c.first || "(default)" }, { title: answer.rows[1].name, text: (c) => c.second || "(default)" }], answer.changed_arguments)
    : el("p", {}, "None."))) : null);

const refusedCard = (answer) => (answer.refused.length ? card("Left out", dataTable("Left out, with the reason", [
  { title: "machine", text: (r) => r.hardware }, { title: "rules", text: (r) => r.rules }, { title: "MoE", text: (r) => r.moe_path }, { title: "mesh", text: (r) => r.mesh || "" },
  { title: "settings", text: (r) => (r.settings || []).join(" ") }, { title: "reason", text: (r) => r.reason }], answer.refused)) : null);

/** Rows that are the same run under other rule sets are one, which names them all; two files stay two rows. */
function distinctRows(answer) {
  if (answer.rule_changes || answer.changed_arguments) return answer.rows;
  const keyOf = ({ rules, maxtext_arguments, slower, ...run }) => JSON.stringify({ ...run, mesh: meshText(run.mesh) });
  const rows = new Map();
  for (const row of answer.rows) {
    const key = keyOf(row), same = rows.get(key);
    if (same) same.rules += `,${row.rules}`;
    else rows.set(key, { ...row });
  }
  return [...rows.values()];
}

/** "expert=8 · default is the fastest of 4", of those that fit, named by what they differ in. */
function fastestText(rows) {
  const differing = rowSettings.filter(([, text]) => !isShared(rows, text));
  const able = rows.filter((row) => row.fit === "fits" && !row.infeasible);
  if (able.length < 2 || !differing.length) return plural(rows.length, "configuration");
  const rate = (row) => row.global_batch_tokens / row.step_seconds;
  const fastest = able.reduce((best, row) => (rate(row) > rate(best) ? row : best));
  return `${differing.map(([, text]) => text(fastest)).filter(Boolean).join(" · ")} is the fastest of ${countText(rows.length)}`;
}

function comparePage(answer) {
  const several = answer.rows.some((row) => row.hardware !== answer.hardware);
  const all = distinctRows(answer).map((row) => ({ ...row, several })), rows = all.slice(0, 12);
  const title = answer.changed_arguments ? `${rows[0].name} against ${rows[1].name}` : `${answer.model} on ${plural(answer.chips, "chip")}${several ? "" : ` of ${answer.hardware}`}: ${fastestText(all)}`;
  return [el("p", { class: "kicker" }, "shardplan compare"), el("h1", {}, title), rulesVerdict(answer),
    el("div", { class: "columns" }, differencesCard(rows, all.length), changedArgumentsCard(answer), ruleChangesCard(answer), compareTimeCard(rows), compareTrafficCard(rows),
      sideBySideCard(all), wideOrNothing(byAxisCard(rows.slice(0, 8))), wide(compareMemoryCard(rows)), wide(argumentsCard(rows)), wideOrNothing(refusedCard(answer)))];
}
