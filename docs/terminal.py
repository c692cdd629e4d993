#!/usr/bin/env python3
"""Draws docs/terminal.svg: commands of the example `quickstart` with their real output.

Usage: docs/terminal.py    (needs cargo, and npx for the client in the last command)
"""

import html
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
INSPECTOR = "npx --yes --loglevel=error @modelcontextprotocol/inspector@2.12.0 --cli"
SERVER = "target/debug/examples/quickstart"
# The command that the picture shows, and the command that runs if it is another one.
COMMANDS = [
    ("cargo run --example quickstart -- list", "cargo run --quiet --example quickstart -- list"),
    ("cargo run --example quickstart -- call add a=40 b=2", "cargo run --quiet --example quickstart -- call add a=40 b=2"),
    ("cargo run --example quickstart -- call add a=40 c=2", "cargo run --quiet --example quickstart -- call add a=40 c=2"),
    (
        f"npx @modelcontextprotocol/inspector --cli {SERVER} --method tools/call --tool-name add --tool-arg a=40 b=2",
        f"{INSPECTOR} {SERVER} --method tools/call --tool-name add --tool-arg a=40 b=2",
    ),
]
LINE = 20
CHARACTER = 8.4
PADDING = 16


def lines():
    for shown, command in COMMANDS:
        run = subprocess.run(command, shell=True, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        yield "command", "$ " + shown
        for line in run.stdout.rstrip().splitlines():
            yield ("error" if line.startswith("error") else "output"), line
        yield "output", ""


def draw(lines):
    width = round(max(len(text) for _, text in lines) * CHARACTER) + 2 * PADDING
    height = len(lines) * LINE + 2 * PADDING
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    yield "<style>text { font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre; fill: #d0d7de }"
    yield ".command { fill: #7ee787 } .error { fill: #ff7b72 }</style>"
    yield f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>'
    for row, (kind, text) in enumerate(lines):
        y = PADDING + row * LINE + 15
        yield f'<text class="{kind}" x="{PADDING}" y="{y}" xml:space="preserve">{html.escape(text)}</text>'
    yield "</svg>"


if __name__ == "__main__":
    picture = list(lines())
    while picture[-1][1] == "":
        picture.pop()
    (ROOT / "docs" / "terminal.svg").write_text("\n".join(draw(picture)) + "\n")
