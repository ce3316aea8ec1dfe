"use strict";
// A box above the tables of rules that leaves the rows that hold every word of what is typed.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("article table")]
    .filter((table) => table.querySelector("th")?.textContent === "code");
  if (!tables.length) return;
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "filter: error, memory, batch_size, NL4 ...";
  box.className = "md-input md-input--stretch";
  box.setAttribute("aria-label", "filter the rules");
  document.querySelector("article h1").after(box);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const table of tables) {
      const rows = [...table.querySelectorAll("tbody tr")];
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      const found = rows.some((row) => !row.hidden);
      const wrapper = table.closest(".md-typeset__scrollwrap") ?? table;
      wrapper.style.display = found ? "" : "none"; // the theme's own display beats "hidden"
      // The heading and the sentence above a table without rows say nothing.
      for (let above = wrapper.previousElementSibling;
        above && !above.querySelector?.("table") && above !== box && above.tagName !== "H1";
        above = above.previousElementSibling) {
        above.hidden = !found && words.length > 0;
        if (above.tagName === "H2") break;
      }
    }
  });
});
