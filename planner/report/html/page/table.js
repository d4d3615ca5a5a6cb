// Tables, and what becomes of them where they are wider than their place: a narrow one is stacked, each row a block and each
// cell behind its column's title; any other scrolls, with the edge faded behind which there is more.
const stackedBelow = 640;
const saysNothing = (content) => content === null || content === undefined || ["", "-", "–"].includes(content);

/** Columns are {title, number, text(row)}; the first is the row's header. Roles are said, since stacked cells are no table's. */
function dataTable(caption, columns, rows, isChosen) {
  const cell = (column, row, i) => {
    const content = column.text(row);
    const kind = [column.number ? "n" : "", saysNothing(content) ? "nothing" : ""].filter(Boolean).join(" ") || null;
    return i === 0 ? el("th", { class: kind, scope: "row", role: "rowheader" }, content)
      : el("td", { class: kind, role: "cell", "data-title": column.title }, content);
  };
  const title = (c) => el("th", { scope: "col", role: "columnheader", class: c.number ? "n" : null }, c.title);
  const table = el("table", { role: "table" }, el("caption", { class: "sr" }, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, columns.map(title))),
    el("tbody", { role: "rowgroup" }, rows.map((row) =>
      el("tr", { role: "row", class: isChosen && isChosen(row) ? "chosen" : null }, columns.map((c, i) => cell(c, row, i))))));
  return fitted(el("div", { class: "scroll" }, table), { name: `${caption}, table`, stacks: true });
}

/** `name`: what the keyboard scrolls, where nothing in it takes the focus; it is a stop only while there is more than it shows. */
function fitted(host, { name, stacks } = {}) {
  let width = 0;
  const markEdges = () => {
    const more = host.scrollWidth - host.clientWidth;
    host.classList.toggle("more-left", more > 1 && host.scrollLeft > 1);
    host.classList.toggle("more-right", more > 1 && more - host.scrollLeft > 1);
    if (!name) return;
    for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", name]])
      if (more > 1) host.setAttribute(key, value); else host.removeAttribute(key);
  };
  onResize(host, () => {
    const now = host.clientWidth;
    if (now === width || now === 0) return;
    width = now;
    host.classList.remove("stacked");
    host.classList.toggle("stacked", Boolean(stacks) && now < stackedBelow && host.scrollWidth > now + 1);
    markEdges();
  });
  host.addEventListener("scroll", markEdges);
  return host;
}
