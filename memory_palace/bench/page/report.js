
// Sort a table by the column whose heading is pressed: figures first from the highest, names from A.
(() => {
"use strict";

function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  // A cell without a figure is less than any.
  if (typeof one === "number") return 1;
  if (typeof other === "number") return -1;
  return one.localeCompare(other);
}

function sort(table, heading) {
  const body = table.tBodies[0];
  const column = heading.cellIndex;
  const rows = [...body.rows];
  const isNumeric = rows.some((row) => row.cells[column].dataset.value !== undefined);
  const before = heading.getAttribute("aria-sort");
  const order = before ? (before === "ascending" ? "descending" : "ascending")
    : isNumeric ? "descending" : "ascending";
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((a, b) => sign * compare(valueOf(a, column), valueOf(b, column)));
  body.append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
}

for (const table of document.querySelectorAll("table")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.firstElementChild.addEventListener("click", () => sort(table, heading));
  }
}
})();
