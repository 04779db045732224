"""A page's drawings: its marked blocks, with the heading above each."""

from __future__ import annotations

from app.lab.sources.timelines import Drawing, drawings

PAGE = """\
# lease: a page

## How it fails

### As taught

B comes, and A
is late.

```timeline fails
 1  GET stock -> 1
    ~~ 10 s go by ~~
```

### Its keys

```python
print("no drawing")
```

```
timeline in no mark
```
"""


def test_a_marked_block_with_its_heading_and_caption() -> None:
    drawn = " 1  GET stock -> 1\n    ~~ 10 s go by ~~\n"
    assert list(drawings(PAGE)) == [
        Drawing("fails", drawn, "As taught", "B comes, and A\nis late.")
    ]
