const answer = JSON.parse(document.getElementById("answer").textContent);
const pages = { plan: planPage, compare: comparePage, sweep: sweepPage, check: checkPage, audit: auditPage };
const page = pages[answer.command] || explainPage;
installTips();
document.body.append(hatchingPattern());
document.getElementById("report").append(...page(answer).filter(Boolean),
  el("footer", {}, "Made by shardplan from the JSON answer in this file (id \"answer\"). Times and memory are predictions."));
document.title = `${document.querySelector("h1").textContent}: shardplan ${answer.command || "explain"}`;
showNamedCells(document);
installFolds();
