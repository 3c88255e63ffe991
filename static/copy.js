// Copies a text with one press; without this script it can be selected and copied by hand.
const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("button[data-copies]"));
const text = /** @type {HTMLTextAreaElement | null} */ (document.getElementById(button?.dataset.copies ?? ""));
const told = document.getElementById("copied");

/** Browsers lend the clipboard only to pages that come encrypted; the old way works elsewhere, too. */
async function copy(/** @type {HTMLTextAreaElement} */ field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}

if (button && text && told) {
  told.textContent = "";
  button.hidden = false;
  button.addEventListener("click", async () => {
    told.textContent = (await copy(text)) ? "Copied." : "Your browser blocked copying. The text is selected; copy it manually.";
  });
}
