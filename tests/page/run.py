"""The status page in a real browser, on a real server: EBB names the program, CHROMIUM the browser.

Nothing is mocked: Ebb starts a managed Neo4j of its own in a folder that is removed, and the page is used as a person would,
with the mouse, the keyboard and a narrow window. `--pictures FOLDER` leaves what was seen there.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import Page, expect, sync_playwright

EBB = os.environ["EBB"]
MARKUP = "<img src=x onerror=alert(1)> is text"
LIMIT_MS = 60_000


def post(api: str, path: str, body: object) -> dict:
    request = urllib.request.Request(
        api + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def fill(api: str) -> None:
    """Sixty memories of two subjects, one of them used often, one with markup in it."""
    subjects = [("staging", "The staging database"), ("billing", "The billing service")]
    memories = [
        {
            "id": f"{name}-{number}",
            "content": f"{subject} has rule {number}",
            "session": f"s{number % 5}",
            "mentions": [name],
            "tags": [name],
        }
        for name, subject in subjects
        for number in range(30)
    ]
    post(api, "/v1/memories:batch", memories)
    post(api, "/v1/memories", {"id": "markup", "content": MARKUP, "mentions": ["staging"]})
    for number in range(4):
        post(api, "/v1/memories/staging-0/access", {"session": f"a{number}"})
    post(api, "/v1/mirror/refresh?scope=local", {})


def show(page: Page, panel: str) -> str:
    return page.locator(f"#{panel}").inner_text()


def check_search(page: Page) -> None:
    rows = page.locator("#memories tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="More").click()
    expect(rows).to_have_count(61)
    expect(page.locator("#memories")).to_contain_text("All 61 memories.")
    page.get_by_label("text", exact=True).fill("BILLING service has rule 1")
    page.get_by_label("text", exact=True).press("Enter")
    expect(rows).to_have_count(11)
    page.get_by_label("text", exact=True).fill("is text")
    page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    expect(page.locator("#memories")).to_contain_text(MARKUP)
    assert page.locator("img").count() == 0, "contents are text"
    page.get_by_label("text", exact=True).fill("")
    page.get_by_label("tags").fill("staging")
    page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(30)


def check_memory(page: Page) -> None:
    page.locator("#memories").get_by_role("button", name="staging-0", exact=True).click()
    course = page.locator("#memory figure svg")
    expect(course).to_be_visible()
    expect(page.locator("#memory")).to_contain_text("It was accessed", ignore_case=True)
    expect(page.locator("#memory .rule").first).to_be_attached()
    assert "4 accesses as jumps" in show(page, "memory"), show(page, "memory")


def check_graph(page: Page) -> None:
    nodes = page.locator("#graph tbody tr")
    expect(page.locator("#canvas canvas").first).to_be_visible()
    expect(page.locator("#graph")).to_contain_text("MENTIONS")
    assert 2 <= nodes.count() <= 60, nodes.count()
    entity = page.locator("#graph").get_by_role("button", name="staging", exact=True)
    entity.focus()
    page.keyboard.press("Enter")
    expect(entity).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#graph tbody tr").first).to_contain_text("staging")
    assert nodes.count() >= 20, nodes.count()
    # A click into the drawing goes on from the node under it: the centre of the graph, after a fit of one node.
    assert page.evaluate("document.querySelectorAll('#canvas canvas').length") >= 1


def check_recall(page: Page) -> None:
    page.get_by_label("question").fill("what holds for the billing service")
    page.get_by_role("button", name="Recall", exact=True).click()
    hits = page.locator(".hits li")
    expect(hits.first).to_be_visible()
    expect(hits.first).to_contain_text("billing")
    expect(hits.first).to_contain_text(re.compile(r"relevance [01]\.\d\d"))
    page.get_by_label("least relevance").fill("1")
    page.get_by_role("button", name="Recall", exact=True).click()
    expect(page.locator("#recall")).to_contain_text("Nothing relevant.")
    page.get_by_label("least relevance").fill("")
    page.get_by_role("button", name="Recall", exact=True).click()
    expect(page.locator("#graph")).to_contain_text("The ways of the recall are lit.")
    expect(page.locator("#recall .way").filter(has_text="Way:").first).to_be_visible()
    hits.first.get_by_role("button").first.click()
    expect(hits.first.get_by_role("button").first).to_have_attribute("aria-pressed", "true")


def check_day(page: Page) -> None:
    page.locator("#memories").get_by_role("button", name="staging-0", exact=True).click()
    # Until the answers are there, the panels show the memory before.
    for panel in (page.locator("#memory"), page.locator("#graph tbody tr").first):
        expect(panel).to_contain_text("The staging database has rule 0")
    # The fact in the panel of the memory, the cell in the list and the one in the graph.
    seen = [
        page.locator("#memory dd").nth(1),
        page.locator("#memories tr", has=page.get_by_role("button", name="staging-0", exact=True)).locator("td").nth(3),
        page.locator("#graph tbody tr").first.locator("td").nth(2),
    ]
    before = []
    for one in seen:
        expect(one).to_have_text(re.compile(r"^\d"))
        before.append(float(one.inner_text()))
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#shown")).to_contain_text(re.compile("in (48 h|2 d)"))
    for one, energy in zip(seen, before):
        expect(one).not_to_have_text(f"{energy:.3f}")
        assert float(one.inner_text().replace("<", "")) < energy, one.inner_text()
    page.get_by_role("button", name="Now").click()
    expect(page.locator("#shown")).to_contain_text("now")


def check_names(page: Page) -> None:
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, [role=region], [role=img]')]
            .filter(one => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).map(one => one.outerHTML)"""
    )
    assert not nameless, nameless


def check_keys(page: Page, api: str, folder: str) -> None:
    words = ["key", "create", "--name", "page", "--right", "read", "--scope", "*", "-o", "json"]
    made = json.loads(subprocess.run([EBB, *words], cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    expect(page.locator("#key")).to_be_visible(timeout=LIMIT_MS)
    expect(page.locator("#state")).to_have_text("needs a key")
    assert page.locator("#memories tbody tr").count() == 0, "without a key nothing is left to see"
    page.get_by_label("Enter an API key:").fill(made["secret"])
    page.get_by_role("button", name="Use key").click()
    expect(page.locator("#memories tbody tr").first).to_be_visible()
    page.get_by_role("button", name="One day later").click()
    expect(page.locator("#shown")).to_contain_text(re.compile("in (24 h|1440 min)"))
    expect(page.locator("#refused")).to_be_hidden()
    # Another link loads the page again by itself.
    page.goto(f"{api}/#day=%2B010000-01-01T00:00:00Z")
    expect(page.locator("#refused")).to_contain_text("This day cannot be shown.")


def check_page(page: Page, api: str, folder: str, shoot) -> None:
    page.goto(api)
    expect(page.locator("#state")).to_have_text("up to date", timeout=LIMIT_MS)
    expect(page.locator("#attention")).to_contain_text(re.compile("Nothing|due for|No job"))
    expect(page.locator("#jobs tbody tr")).not_to_have_count(0)
    expect(page.locator("#runs")).to_contain_text("decay")
    for check in (check_search, check_memory, check_graph, check_recall, check_day, check_names):
        print(check.__name__, flush=True)
        check(page)
        shoot(page, check.__name__)
    page.reload()
    expect(page.locator("#memory figure svg")).to_be_visible()
    expect(page.locator("#runs")).to_contain_text("decay")
    for width in (400, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"the page is {wide} px wide in a window of {width}"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)
            shoot(page, f"{scheme}-{width}")
    print("check_keys", flush=True)
    check_keys(page, api, folder)


def serve(folder: str):
    """A server with a database of its own, and its address."""
    environment = {**os.environ, "EBB__HTTP__LISTEN": "127.0.0.1:0", "EBB__NEO4J__KEEP": "0s"}
    environment.pop("NEO4J_URI", None)
    port = os.environ.get("PORT", "8392")
    environment["EBB__HTTP__LISTEN"] = f"127.0.0.1:{port}"
    return subprocess.Popen([EBB, "serve"], cwd=folder, env=environment), f"http://127.0.0.1:{port}"


def wait_ready(api: str, process) -> None:
    for _ in range(600):
        assert process.poll() is None, "ebb serve ended"
        try:
            urllib.request.urlopen(f"{api}/readyz", timeout=5)
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError("ebb serve is not ready after five minutes")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--pictures", type=pathlib.Path)
    pictures = options.parse_args().pictures
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    os.environ.pop("NEO4J_URI", None)

    def shoot(page: Page, name: str) -> None:
        if pictures:
            page.screenshot(path=pictures / f"{name}.png", full_page=True)

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([EBB, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        process, api = serve(folder)
        try:
            wait_ready(api, process)
            fill(api)
            post(api, "/v1/jobs/decay/run", {})
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            faults: list[str] = []
            page.on("pageerror", lambda why: faults.append(str(why)))
            page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
            elsewhere: list[str] = []
            page.on("request", lambda asked: elsewhere.append(asked.url) if not asked.url.startswith((api, "data:")) else None)
            page.set_default_timeout(LIMIT_MS)
            expect.set_options(timeout=LIMIT_MS)
            check_page(page, api, folder, shoot)
            assert not elsewhere, elsewhere
            # The browser reports each refused request of the last check.
            faults = [fault for fault in faults if not re.search("status of 40[013]", fault)]
            assert not faults, faults
            browser.close()
        finally:
            process.terminate()
            process.wait()
            subprocess.run([EBB, "neo4j", "stop", "--force"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    print("the status page: passed")


if __name__ == "__main__":
    sys.exit(main())
