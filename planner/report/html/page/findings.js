// Findings, of a run or of rules, with the lines of the rules that make them.
const severityBadge = { error: "bad", warning: "warn", note: "plain" };

function finding(f) {
  const lines = (f.rules || []).map((rule) => el("li", {}, el("code", {},
    `${rule.line ? `line ${rule.line} ` : ""}['${rule.logical}', [${rule.axes.map((axis) => `'${axis}'`).join(", ")}]]`)));
  return el("div", { class: `finding ${f.severity}`, "data-finding": f.id },
    el("p", { class: "head" }, el("span", { class: `badge ${severityBadge[f.severity]}` }, f.severity), el("b", {}, f.id),
      f.standing && f.standing !== "new" ? el("span", { class: "badge plain" }, f.standing) : null),
    el("p", {}, f.message),
    f.where ? el("p", { class: "soft" }, `in ${f.where}${f.axis ? ` · axis ${f.axis}` : ""}`) : null,
    f.worst ? el("p", { class: "soft" }, `worst in ${f.worst}`) : null,
    lines.length ? el("ul", { class: "reasons" }, lines) : null,
    f.models && f.configurations > 1 ? el("p", { class: "soft" }, `bites ${plural(f.configurations, "configuration")}: ${f.models.join(", ")} on ${f.meshes.join(" · ")}`) : null,
    f.fix ? el("p", {}, el("b", {}, "Fix: "), el("code", {}, f.fix)) : null);
}

function findingsCard(findings, title = "Findings") {
  if (!findings.length) return null;
  const grave = { error: 0, warning: 1, note: 2 };
  const sorted = [...findings].sort((a, b) => grave[a.severity] - grave[b.severity]);
  return card(`${title} (${findings.length})`, sorted.slice(0, 12).map(finding),
    sorted.length > 12 ? el("details", {}, el("summary", {}, `${sorted.length - 12} more`), sorted.slice(12).map(finding)) : null);
}
