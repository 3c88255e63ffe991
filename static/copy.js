// Copies a text to the clipboard. Without this script it can be selected and copied by hand.
const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("button[data-copies]"));
const text = /** @type {HTMLTextAreaElement | null} */ (document.getElementById(button?.dataset.copies ?? ""));
const copyStatus = document.getElementById("copied");

/** `navigator.clipboard` exists only on HTTPS pages; the deprecated `execCommand` works on the others, too. */
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

if (button && text && copyStatus) {
  copyStatus.textContent = "";
  button.hidden = false;
  button.addEventListener("click", async () => {
    copyStatus.textContent = (await copy(text)) ? "Copied." : "Your browser blocked copying. The text is selected; copy it manually.";
  });
}
