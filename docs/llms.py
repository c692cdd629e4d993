#!/usr/bin/env python3
"""Writes llms.txt and llms-full.txt, the documentation for coding agents, from the guide and the attribute tables.

Usage: docs/llms.py            writes both files
       docs/llms.py --check    writes nothing, and exits with 1 if a file is not up to date

The form of llms.txt is described at https://llmstxt.org. Only the standard library is needed.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "mcp-runtime/docs/guide"
MACROS = ROOT / "mcp-macros"
DOCS = "https://docs.rs/mcp-runtime/latest/mcp_runtime"

SUMMARY = """\
# mcp-runtime

> Rust framework for Model Context Protocol (MCP) servers. You annotate plain functions with `#[tool]`, `#[resource]` and `#[prompt]`.
> The framework makes the schemas, and serves stdio and HTTP in the protocol revisions 2024-11-05 to 2026-07-28.
"""

FACTS = """\
Facts for a coding agent:

- Rust 1.88 or newer. `cargo add mcp-runtime`, then `use mcp_runtime::prelude::*;`. No dependency on serde, schemars or tokio is needed.
- `fn main() -> Exit { server!().run() }` is the whole setup. It finds all annotated functions of the package. `run` starts its own
  runtime: no `#[tokio::main]`, no `.await`, no `?`.
- Parameters are arguments of the client, in plain form: no argument struct. Only `&T` (shared state, except `&str` and `&[T]`), `State<T>`,
  `&Context`, `Progress`, `Cancel`, `Handle` and other types with `FromCall` come from the server.
- `Option<T>` and `#[arg(default = …)]` make an argument optional. `#[arg(range(1..=9), len(..=80), pattern = "…")]` are checked.
- Types of your own have `#[data]` instead of derives, and are returned as `Json<T>`. Lists and maps are returned as `Json<…>` too.
- `Err(Error::msg("…"))` is text for the model. `?` converts every standard error, but no text: write `.ok_or_else(|| Error::msg("…"))?`,
  or `.map_err(Error::msg)?` for a `Result<_, String>`.
- Names outside of the prelude, such as `Builder` and `Limits`, have their paths in the section `Imports`.
- Calls share state and run at the same time: `.state(db)` or `.setup(async || Db::open())`, then `db: &Db`. No `Arc`, no `&mut`.
- A plain `fn` must return at once. For files, databases and long computing write
  `#[tool(blocking)]`. For asynchronous work write `async fn`.
- Doc comments (`///`) of functions, parameters and fields become the descriptions that the model reads.
- Over stdio, stdout belongs to the protocol. Log with `eprintln!` or `tracing`.
- Keys of attributes are in Rust's spelling: `read_only`, not `readOnlyHint`. Compile errors name the fix.
- Verify with `cargo run -- list`, `cargo run -- call TOOL name=value`, `cargo run -- check --strict` and `cargo test`.
- The names of this version are in these documents. Names from other frameworks, such as `#[tool_router]` of rmcp, do not exist here.
"""

REFERENCE = [
    ("tool", "prelude/attr.tool.html", "keys of `#[tool]`, and of `#[arg]` on parameters"),
    ("resource", "prelude/attr.resource.html", "keys of `#[resource]`, and the variables of URI templates"),
    ("prompt", "prelude/attr.prompt.html", "keys of `#[prompt]`, and of its arguments"),
    ("completion", "prelude/attr.completion.html", "functions for `#[complete(…)]`"),
    ("handlers", "prelude/attr.handlers.html", "methods as items, and keys that the items of an impl block share"),
    ("data", "prelude/attr.data.html", "types of arguments and results"),
    ("form", "prelude/attr.form.html", "types that users fill in"),
    ("server!", "macro.server.html", "keys of `server!`"),
    ("Builder", "struct.Builder.html", "all settings of a server"),
    ("Context", "struct.Context.html", "the call: questions, state, the caller, tasks"),
    ("Error", "struct.Error.html", "errors of handlers"),
    ("ToolReply", "reply/trait.ToolReply.html", "types that a tool can return"),
    ("testing", "testing/index.html", "`TestClient`, `assert_builds!` and `assert_contract!`"),
    ("Features", "index.html#features", "feature flags of the crate"),
]

OPTIONAL = [
    ("llms-full.txt", "llms-full.txt", "the whole guide and all tables of keys in one file"),
    ("SKILL.md", "SKILL.md", "steps, a complete server and the usual mistakes, in 200 lines"),
    ("Examples", "examples/README.md", "whole servers"),
    ("Changes", "CHANGELOG.md", "what each version changed"),
    ("Security", "SECURITY.md", "threats, and the part of the author of a server"),
]


def pages():
    """Yields the module name and the text of each page of the guide, in order."""
    for path in sorted(GUIDE.glob("[0-9][0-9]-*.md")):
        yield path.stem[3:].replace("-", "_"), read(path)


def read(path):
    return path.read_text(encoding="utf-8")


def title(page):
    """Returns the first sentence of a page, without its full stop."""
    first = " ".join(page.split("\n\n", 1)[0].split())
    return plain(re.split(r"(?<=\.)\s", first, maxsplit=1)[0]).rstrip(".")


# The text of a link, and its target: an item, a page, or a heading of the same page.
TEXT = r"\[((?:`[^`]*`|[^\[\]`])+)"
TARGET = r"\]\((?:super::|crate::|macro@|#)[^)]*\)"


def plain(text):
    """Replaces links to items and pages by their text. A code span that touches a link on both sides is joined with it."""
    text = re.sub(r"(?<=[^`\s])`\[`([^`]*)`" + TARGET + r"`(?=[^`\s])", r"\1", text)
    text = re.sub(TEXT + TARGET, r"\1", text)
    text = re.sub(r"\[`macro@(\w+)`\]", r"`\1`", text)
    # A link whose target is at the end of the documentation.
    return re.sub(r"\[(`[^`\[\]]+`)\](?:\[`[^`\[\]]+`\])?(?!\()", r"\1", text)


def readable(page, level):
    """Returns a page as plain Markdown whose headings are `level` levels deeper."""
    lines = []
    fence = None
    for line in page.strip().splitlines():
        if fence is not None and line == "```":
            fence = None
            lines.append(line)
        elif fence is not None:
            code = line.lstrip()
            is_hidden = fence == "rust" and (code == "#" or code.startswith("# "))
            # Hidden lines can leave an empty line at the start of a block.
            is_gap = not code and lines[-1] == "```" + fence
            if not is_hidden and not is_gap:
                lines.append(line)
        elif line.startswith("```"):
            # rustdoc reads a block without a language as Rust.
            fence = line[3:].split(",")[0] or "rust"
            lines.append("```" + fence)
        elif line.startswith("#"):
            lines.append("#" * level + plain(line))
        else:
            lines.append(plain(line))
    return "\n".join(lines)


def attributes():
    """Yields the name and the documentation of each public macro, from the sources of mcp-macros."""
    documentation = []
    hidden = False
    for line in read(MACROS / "src/lib.rs").splitlines():
        include = re.fullmatch(r'#\[doc = include_str!\("\.\./(docs/\w+\.md)"\)\]', line)
        function = re.match(r"pub fn (\w+)\(", line)
        if line.startswith("///"):
            documentation.append(line[3:].removeprefix(" "))
        elif include:
            documentation.extend(read(MACROS / include[1]).splitlines())
        elif line == "#[doc(hidden)]":
            hidden = True
        elif function:
            if not hidden:
                yield function[1], "\n".join(documentation)
            documentation, hidden = [], False
        elif not line.startswith("#["):
            documentation = []


def tables(documentation):
    """Returns the first paragraph of a macro's documentation and the sections that have a table, without their examples."""
    text = re.sub(r"^```.*?^```$\n?", "", documentation, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^Specification: .*$|^\[`[^`]+`\]: .*$", "", text, flags=re.MULTILINE)
    first, *sections = re.split(r"^(?=# )", text, flags=re.MULTILINE)
    parts = first.split("\n\n")
    kept = [parts[0]] + [part for part in parts if part.startswith("|")] + [section for section in sections if "\n|" in section]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part.strip() for part in kept))


def index():
    """Returns the text of llms.txt."""
    guide = [f"- [{title(text)}]({DOCS}/guide/{name}/index.html)" for name, text in pages()]
    reference = [f"- [{name}]({DOCS}/{path}): {about}" for name, path, about in REFERENCE]
    optional = [f"- [{name}]({path}): {about}" for name, path, about in OPTIONAL]
    parts = [SUMMARY + "\n" + FACTS]
    parts += [f"## {heading}\n\n" + "\n".join(links) + "\n" for heading, links in
              [("Guide", guide), ("Reference", reference), ("Optional", optional)]]
    return "\n".join(parts)


def full():
    """Returns the text of llms-full.txt."""
    parts = [SUMMARY + "\n" + FACTS.strip()]
    for name, text in pages():
        # The links to other pages have no use in a single file.
        text = re.sub(r"^# Next\n+(?:(?:- |  ).*\n)*", "", text, flags=re.MULTILINE)
        parts.append(f"# {name}\n\n" + readable(text, 1))
    # The sections below the list of pages.
    sections = re.search(r"^# .*", read(GUIDE / "README.md"), flags=re.MULTILINE | re.DOTALL)[0]
    parts.append(readable(re.sub(r"\]\((\w+)\)", r"](super::\1)", sections), 0))
    parts.append("# Keys of attributes")
    for name, documentation in attributes():
        parts.append(f"## {name}\n\n" + readable(tables(documentation), 2))
    return "\n\n".join(parts) + "\n"


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    stale = []
    for name, text in [("llms.txt", index()), ("llms-full.txt", full())]:
        path = ROOT / name
        if arguments:
            # `read` accepts the line ends of every platform.
            if not path.is_file() or read(path) != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
    if stale:
        sys.exit("\n".join(f"{name} is not up to date: run `python3 docs/llms.py`" for name in stale))


main()
