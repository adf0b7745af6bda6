(function () {
  "use strict";
  var root = document.documentElement, key = "rightcall-theme", names = ["auto", "light", "dark"], theme = "auto";

  /* A file that was opened from a disk may have no storage: then the choice lasts as long as the page. */
  try { theme = localStorage.getItem(key) || theme; } catch (error) { theme = "auto"; }
  function apply() {
    if (names.indexOf(theme) < 1) { theme = "auto"; root.removeAttribute("data-theme"); }
    else { root.setAttribute("data-theme", theme); }
  }
  apply();

  function reveal() {
    var at = null;
    try { at = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (error) { return; }
    if (!at) { return; }
    for (var up = at; up; up = up.parentElement) { if (up.tagName === "DETAILS") { up.open = true; } }
    at.scrollIntoView();
  }

  function closed() { return document.querySelectorAll("details.print:not([open])"); }

  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme"), opened = [];
    if (button) {
      button.hidden = false;
      button.textContent = "Theme: " + theme;
      button.addEventListener("click", function () {
        theme = names[(names.indexOf(theme) + 1) % names.length];
        apply();
        button.textContent = "Theme: " + theme;
        try { localStorage.setItem(key, theme); } catch (error) { return; }
      });
    }
    window.addEventListener("hashchange", reveal);
    if (location.hash) { reveal(); }
    window.addEventListener("beforeprint", function () {
      opened = Array.prototype.slice.call(closed());
      opened.forEach(function (one) { one.open = true; });
    });
    window.addEventListener("afterprint", function () {
      opened.forEach(function (one) { one.open = false; });
      opened = [];
    });
  });
})();
