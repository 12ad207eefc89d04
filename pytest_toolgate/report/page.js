// The search of each list. Without this script the page shows all of it.
"use strict";
for (const box of document.querySelectorAll("[data-search]")) {
  const input = box.querySelector("input");
  const told = box.querySelector("output");
  const rows = [...document.getElementById(box.dataset.search).children];
  const texts = rows.map(() => null);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, number) => {
      // Read when somebody searches: together these are most of the page.
      const found = words.every((word) => (texts[number] ??= row.textContent.toLowerCase()).includes(word));
      row.hidden = !found;
      shown += found;
    });
    told.textContent = `${shown} of ${rows.length} shown`;
  };
  box.hidden = false;
  input.addEventListener("input", filter);
  filter();
}
