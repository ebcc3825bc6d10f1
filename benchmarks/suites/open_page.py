"""Opens a report in headless Chromium and prints when its table could be used, was whole, and how evenly it scrolls."""

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SCROLL = """async () => {
    const scroller = document.querySelector('.scroller');
    let [longest, last] = [0, performance.now()];
    for (let step = 0; step <= 120; step += 1) {
        scroller.scrollTop = (scroller.scrollHeight * step) / 120;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        [longest, last] = [Math.max(longest, now - last), now];
    }
    return longest;
}"""
NOW = "performance.now() / 1000"

page_file, chromium, cases = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with sync_playwright() as playwright:
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    browser = playwright.chromium.launch(executable_path=chromium, args=options)
    page = browser.new_page()
    page.goto(page_file.as_uri(), wait_until="commit")
    page.wait_for_selector(".list tbody th a")
    first = page.evaluate(NOW)
    page.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)
    whole = page.evaluate(NOW)
    assert page.inner_text(".controls output") == f"{cases:,} cases"
    print(json.dumps({"first_s": first, "all_s": whole, "frame_ms": page.evaluate(SCROLL)}))
    browser.close()
