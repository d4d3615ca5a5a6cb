// What the configurations of a comparison are called, by what they differ in, and what one has more or less than another.
/** The bare value, and how it is said in full. */
const ofModel = [(r) => r.model], ofMachine = [(r) => r.hardware], ofChips = [(r) => plural(r.chips, "chip")];
const ofMesh = [(r) => meshText(r.mesh)], ofRules = [(r) => r.rules.replaceAll(",", ", "), (text) => `${text} rules`];
const ofExperts = [(r) => (r.moe_path === "none" ? "" : r.moe_path), (text) => `${text} experts`];
const runSettings = [ofModel, ofMachine, ofChips, ofMesh, ofRules, ofExperts, [(r) => (r.settings || []).join(" ")]];
const ofRemat = [(r) => r.remat, (text) => `remat ${text}`], ofBatch = [(r) => `${amount(r.per_device_batch_size, "sequence")} a device`];

/** What the settings that rows are compared by say already is not said again. */
const saysItself = (rows, key) => rows.some((r) => (r.settings || []).some((setting) => setting.split("=")[0] === key));
const rowSettings = (rows) => [...runSettings, ...(saysItself(rows, "remat_policy") ? [] : [ofRemat]),
  ...(saysItself(rows, "per_device_batch_size") ? [] : [ofBatch])];
const isShared = (rows, text) => rows.every((r) => text(r) === text(rows[0]));
const valuesOf = (row, settings) => settings.map(([text]) => text(row)).filter(Boolean).join(" · ");
const saidOf = (row, settings) => settings.filter(([text]) => text(row)).map(([text, said]) => (said ? said(text(row)) : text(row))).join(" · ");

/** Model, chips and machine, as far as all rows have the same: what the title is of. */
function subjectOf(rows) {
  const [model, chips, machine] = [ofModel, ofChips, ofMachine].map(([text]) => (isShared(rows, text) ? text(rows[0]) : ""));
  return [model, [chips, machine].filter(Boolean).join(" of ")].filter(Boolean).join(" on ");
}
const sharedSettings = (rows) =>
  saidOf(rows[0], rowSettings(rows).filter((one) => ![ofModel, ofMachine, ofChips].includes(one) && isShared(rows, one[0])));

/** With `label`, short: the file that a row is of, or what it alone has; `rest`, what else it alone has; `full`, both in full.
    Files go by their names without folders where those tell them apart. */
function namedRows(rows) {
  const differing = rowSettings(rows).filter(([text]) => !isShared(rows, text));
  const telling = differing.filter((one) => runSettings.includes(one));
  const files = rows.map((row) => (row.name ? row.name.split("/").at(-1) : "")), isTold = new Set(files).size === rows.length;
  return rows.map((row, i) => {
    const said = saidOf(row, differing), file = (isTold && files[i]) || row.name;
    if (file) return { ...row, label: file, rest: said, full: [file, said].filter(Boolean).join(" · ") };
    const only = said || valuesOf(row, [ofMesh, ofRules]);
    if (!telling.length) return { ...row, label: only, rest: "", full: only };
    return { ...row, label: valuesOf(row, telling), rest: saidOf(row, differing.filter((one) => !telling.includes(one))), full: said };
  });
}
const rowName = (row, i) => `${i + 1} · ${row.label}`;

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

/** Surely; what may not fit does not count. */
const isAble = (row) => row.fit === "fits" && !row.infeasible;

/** "does not fit: 87.3 GiB of 74.4 GiB"; nothing of what runs. */
function unfitText(row) {
  const why = row.infeasible;
  if (why && why.constraint !== "hbm") return `does not run: ${why.message}`;
  if (isAble(row)) return "";
  const [needed, available] = why ? [why.needed_bytes, why.available_bytes] : [row.peak_bytes, row.capacity_bytes];
  return `${misfit(row.fit, row) || "does not fit"}: ${memoryText(needed)} of ${memoryText(available)}`;
}

const rowRate = (row) => (wholeStep(row) > 0 ? row.global_batch_tokens / wholeStep(row) : 0);
const rowRateText = (row) => atMostText(row.lacks_bias_gradients, rowRate(row));
const costOf = (row) => row.dollars_per_million_tokens;
const millionText = (dollars) => `$${dollarsOfMillionText(dollars)} a million tokens`;

const slowerWords = (slower) => {
  if (Math.abs(slower) < 0.0005) return "as fast";
  return slower < 0 ? `${slowerText(-slower / (1 + slower))} faster` : `${slowerText(slower)} slower`;
};

/** What a row has more or less than the first for as many tokens, in words; what doesn't show is left out. */
function differenceText(row, first) {
  const scale = first.global_batch_tokens / row.global_batch_tokens;
  const signed = (name, value, text) => `${name} ${value < 0 ? "−" : "+"}${text(Math.abs(value))}`;
  const times = [["compute", "compute_seconds"], ["exposed", "exposed_collective_seconds"], ["host copies", "exposed_host_seconds"], ["bubble", "bubble_seconds"], ["routing of all tokens", "all_token_routing_seconds"]]
    .map(([name, key]) => [name, row[key] * scale - first[key]]).filter(([, v]) => Math.abs(v) > 0.0005 * wholeStep(first)).map(([name, v]) => signed(name, v, timeText));
  const bytes = [["all-to-all", "all_to_all_bytes"], ["gathered", "gather_bytes"], ["reduced", "reduce_bytes"], ["permuted", "permute_bytes"]]
    .map(([name, key]) => [name, row[key] * scale - first[key]]).filter(([, v]) => Math.abs(v) >= 1e6).map(([name, v]) => signed(name, v, trafficText));
  const peak = row.peak_bytes - first.peak_bytes;
  const tokens = Math.abs(scale - 1) > 0.0005 ? `times and bytes for as many tokens: its steps have ${numberText(1 / scale)}×` : "";
  const priceText = (r) => (costOf(r) === undefined ? "" : millionText(costOf(r)));
  return [priceText(row) === priceText(first) ? "" : priceText(row), `${slowerWords(row.slower)}${times.length ? ` (${times.join(", ")})` : ""}`, bytes.join(", "),
    Math.abs(peak) >= 2 ** 30 * 0.05 ? signed("peak", peak, memoryText) : "", tokens, unfitText(row)].filter(Boolean).join("; ");
}
