"""Write docs/reference/mistakes.md: `python -m tools.mistakes`. It makes each mistake, which takes about a minute."""

from __future__ import annotations

from tools.mistakes.page import PAGE, write_page

PAGE.write_text(write_page(), encoding="utf-8")
