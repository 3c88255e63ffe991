/** Plays a task's solution in the place of the picture of its start, and stops it. Nothing moves before that. */

const play = /** @type {HTMLAnchorElement | null} */ (document.getElementById("play"));
const picture = /** @type {HTMLImageElement | null} */ (document.querySelector("#picture img"));
const words = document.getElementById("status");

if (play && picture && words) {
  const [start, alt, told] = [picture.src, picture.alt, words.textContent];
  play.setAttribute("role", "button");

  /** Shows the start again. @param {string | null} text */
  const stop = (text) => {
    [picture.src, picture.alt, words.textContent] = [start, alt, text];
    play.textContent = "Play the solution";
    delete play.dataset.playing;
  };

  play.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (play.dataset.playing !== undefined) return stop(told);
    play.dataset.playing = "";
    play.textContent = "Stop";
    words.textContent = "Drawing the solution …";
    const film = new Image();
    film.src = play.href;
    try {
      await film.decode();
    } catch {
      return stop("The solution could not be loaded. Try again in a moment.");
    }
    if (play.dataset.playing === undefined) return;
    [picture.src, picture.alt, words.textContent] = [film.src, "The solution, as the player sees it", told];
  });
  // A link that acts as a button follows the space bar, too.
  play.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    play.click();
  });
}
