// Tooltips at once, one trial lit up wherever it appears, and a table that sorts. The page says the same without this.
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  var tip = document.getElementById("tip"), hot = [], pinned = null;

  function text(el) {
    var title = el.querySelector(":scope > title");
    if (title) { el.dataset.tip = title.textContent; title.remove(); }
    return el.dataset.tip;
  }
  function light(trial) {
    hot.forEach(function (el) { el.classList.remove("hot"); });
    hot = trial === null ? [] : Array.from(document.querySelectorAll('[data-t="' + Number(trial) + '"]'));
    hot.forEach(function (el) { el.classList.add("hot"); });
  }
  function place(event) {
    var box = tip.getBoundingClientRect(), x = event.clientX + 14, y = event.clientY + 14;
    if (x + box.width > innerWidth - 8) x = Math.max(8, event.clientX - box.width - 14);
    if (y + box.height > innerHeight - 8) y = Math.max(8, event.clientY - box.height - 14);
    tip.style.left = x + "px"; tip.style.top = y + "px";
  }
  document.addEventListener("mouseover", function (event) {
    var shape = event.target.closest("svg *"), row = event.target.closest("[data-t]");
    var words = shape && text(shape);
    tip.hidden = !words;
    if (words) { tip.textContent = words; place(event); }
    light(row ? row.dataset.t : pinned);
  });
  document.addEventListener("mousemove", function (event) { if (!tip.hidden) place(event); });
  document.addEventListener("click", function (event) {
    var row = event.target.closest("[data-t]");
    if (row) { pinned = pinned === row.dataset.t ? null : row.dataset.t; light(pinned); }
  });

  document.querySelectorAll("table.sortable").forEach(function (table) {
    var body = table.tBodies[0];
    Array.from(table.tHead.rows[0].cells).forEach(function (head, at) {
      if (head.classList.contains("plain")) return;
      head.tabIndex = 0;
      function sort() {
        var down = head.getAttribute("aria-sort") === "ascending";
        Array.from(table.tHead.rows[0].cells).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        function key(row) {
          var cell = row.cells[at], v = cell.dataset.v;
          return v === undefined ? cell.textContent : v === "" ? null : Number(v);
        }
        var rows = Array.from(body.rows).map(function (row) { return [key(row), row]; });
        rows.sort(function (a, b) {
          // What has no value stays at the end whichever way the rest goes.
          if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null);
          var order = typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]));
          return down ? -order : order;
        });
        rows.forEach(function (pair) { body.appendChild(pair[1]); });
      }
      head.addEventListener("click", sort);
      head.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
      });
    });
  });

  var copy = document.querySelector(".copy"), best = document.getElementById("best");
  if (copy && best && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", function () {
      navigator.clipboard.writeText(best.textContent).then(function () {
        copy.textContent = "Copied";
        setTimeout(function () { copy.textContent = "Copy"; }, 1500);
      });
    });
  }
})();
