// Runs before the first paint, so that a chosen theme never flashes. The choice itself is CSS's: see the top
// of style.css.
(() => {
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  // Storage throws where the browser blocks it; the choice then lasts only as long as the page.
  function storedTheme() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  }

  function storeTheme(/** @type {string} */ theme) {
    try {
      localStorage.setItem("theme", theme);
    } catch {}
  }

  function currentTheme() {
    return root.dataset.theme ?? "system";
  }

  function applyTheme(/** @type {string | null} */ wanted) {
    const theme = wanted && THEMES.includes(wanted) ? wanted : "system";
    root.dataset.theme = theme;
    const name = document.getElementById("theme-name");
    if (name) name.textContent = theme.charAt(0).toUpperCase() + theme.slice(1);
  }

  function switchTheme() {
    const theme = THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length] ?? "system";
    applyTheme(theme);
    storeTheme(theme);
  }

  applyTheme(storedTheme());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    applyTheme(currentTheme());
    // Where the menu is wider than the window, scroll it to the entry of the current page.
    const here = document.querySelector("header.site li [aria-current]")?.parentElement;
    if (here?.parentElement) here.parentElement.scrollLeft = here.offsetLeft - (here.parentElement.clientWidth - here.offsetWidth) / 2;
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", switchTheme);
  });
  addEventListener("storage", (event) => {
    if (event.key === "theme" || event.key === null) applyTheme(event.newValue);
  });
})();
