"""What the documentation shows runs: the example agent, and the blocks of each page in order."""

from __future__ import annotations

import pathlib
import re

import pytest

from ebb_memory import Ebb

HERE = pathlib.Path(__file__).resolve().parent
PAGES = [HERE.parent / "README.md", HERE.parents[3] / "docs/guide/python.md"]
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


@pytest.fixture
def local(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server as that of the environment."""
    monkeypatch.setenv("EBB_URL", url)


@pytest.mark.usefixtures("local")
def test_the_agent_learns_which_advice_helps(scope: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(HERE.parent / "examples")
    import agent

    agent.main(scope)
    turns = capsys.readouterr().out.split("user:")[1:]
    assert [turn.count("agent:") for turn in turns] == [3, 1]
    assert all("Raise the lease" in turn.splitlines()[-1] for turn in turns)
    assert "Raise the lease" not in "".join(turns[0].splitlines()[:-1])


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_in_order_and_print_what_it_shows(page: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = BLOCK.findall(page.read_text())
    assert len(blocks) == page.read_text().count("```python\n") > 0
    known: dict[str, object] = {"__name__": "__main__"}
    for code, shown in blocks:
        exec(compile(code, page, "exec"), known)
        printed = capsys.readouterr().out
        assert printed == shown, f"{code}\nprinted:\n{printed}"
    if isinstance(opened := known["ebb"], Ebb):
        opened.close()
