// Filters the blocks by the words in the search field. Without this script all of them are shown.
const field = /** @type {HTMLInputElement | null} */ (document.getElementById("word"));
const found = document.getElementById("found");
const blocks = [...document.querySelectorAll("[data-words]")].filter((block) => block instanceof HTMLElement);

function filter() {
  const words = field?.value.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  let count = 0;
  for (const block of blocks) {
    const text = block.dataset.words ?? "";
    block.hidden = !words.every((word) => text.includes(word.replaceAll("-", "_")));
    if (!block.hidden) count += 1;
  }
  for (const section of document.querySelectorAll("main > section")) {
    if (section instanceof HTMLElement) section.hidden = !section.querySelector("[data-words]:not([hidden])");
  }
  if (found) found.textContent = words.length ? (count ? `${count} of ${blocks.length} blocks` : "No blocks match this filter.") : "";
}

if (field?.parentElement) {
  field.parentElement.hidden = false;
  field.addEventListener("input", filter);
  filter();
}
