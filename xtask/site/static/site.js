// What is wider than the page scrolls by itself: keys reach it as well.
for (const wide of document.querySelectorAll(".highlight pre, .table-wrapper")) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}
