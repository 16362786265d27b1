"""The HTML report in a real browser; skipped where there is no Chromium or no playwright."""
