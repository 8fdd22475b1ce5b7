#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test `docs`: what the program has is in the generated pages, and every link of the documentation resolves.

check.py CLI WINDOW   generates the reference with these programs and checks it, docs/ and the Markdown at the top level.
check.py --external   lists the external links.
check.py --html DIR   checks the links of pages that Sphinx has built.
Python's standard library alone; the layout of session files is checked where h5py is installed.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
problems = []


def require(condition, message):
    if not condition:
        problems.append(message)


def output_of(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True)
    if code is not None and done.returncode != code:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


# --- Markdown ---------------------------------------------------------------------------------------------------------
def without_code(text):
    """Without fenced and indented blocks and code spans, whose text is no markup."""
    text = re.sub(r"^(```|~~~)(?!\{(toctree|image|figure))[^\n]*\n.*?^\1[ \t]*$", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"(`+)(?!\{).*?\1", "", text)


def slug(heading):
    """The anchor of a heading, as GitHub and MyST form it."""
    text = re.sub(r"[`*\\]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors_of(text):
    text = re.sub(r"^(```|~~~).*?^\1[ \t]*$", "", text, flags=re.M | re.S)
    found = {slug(h) for h in re.findall(r"^#{1,3} (.*)$", text, flags=re.M)}
    return found | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.M))


def links_of(text):
    """Targets of [text](target), ![text](target), {doc}`target`, image and figure directives."""
    bare = without_code(re.sub(r"(\{doc\})`([^`]*)`", r"[doc](doc:\2)", text))
    targets = re.findall(r"(?<!\\)\]\(([^)\s]+)\)", bare)
    targets += re.findall(r"^```\{(?:image|figure)\} (\S+)", text, flags=re.M)
    return targets


def toctree_of(text):
    pages = []
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.M | re.S):
        pages += [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
    return pages


def check_links(folder, files):
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    for path, text in texts.items():
        name = path.relative_to(folder)
        for target in links_of(text):
            if re.match(r"https?://|mailto:", target):
                continue
            where, _, anchor = target.partition("#")
            is_document = where.startswith("doc:")
            where = where.removeprefix("doc:")
            if is_document:
                match = re.match(r".*<(.*)>$", where)
                where = (match[1] if match else where) + ".md"
            to = (path.parent / where).resolve() if where else path
            require(to.exists(), f"{name}: the link {target} leads nowhere")
            if anchor and to.suffix == ".md" and to.exists():
                require(anchor in anchors_of(to.read_text(encoding="utf-8")), f"{name}: {target}: there is no such heading")


def check_index(site):
    """Every entry of a toctree exists, and every page is an entry of one."""
    listed = {site / "index.md"}
    for path in site.rglob("*.md"):
        for entry in toctree_of(path.read_text(encoding="utf-8")):
            page = (path.parent / (entry + ".md")).resolve()
            require(page.exists(), f"{path.relative_to(site)}: the page {entry} does not exist")
            require(page not in listed, f"{entry}: is in two lists of pages")
            listed.add(page)
    for path in site.rglob("*.md"):
        require(path in listed, f"{path.relative_to(site)}: is in no list of pages")


# --- the sources ---------------------------------------------------------------------------------------------------------
FOLDERS = "app|core|docs|packaging|resources|tests|widgets"


def check_paths(folder, files):
    """A code span that names a file or a folder of the tree names one that exists; the ending may be absent."""
    for path in files:
        text = re.sub(r"^(```|~~~).*?^\1[ \t]*$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for span in re.findall(r"`((?:%s)/[\w./*-]+)`" % FOLDERS, text):
            exists = any(ROOT.glob(span.rstrip("/"))) or any(ROOT.glob(span + ".*"))
            new = re.search(r"NAME|SUBJECT|/ID\b", span) or span.startswith("docs/reference")
            require(exists or new, f"{path.relative_to(folder)}: {span} does not exist")


def check_diffs(folder, files):
    """The lines that a diff keeps or removes are in the file, one after the other; a new file does not exist yet."""
    for path in files:
        name = path.relative_to(folder)
        for block in re.findall(r"^```diff\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.M | re.S):
            for part in re.split(r"^diff --git .*\n", block, flags=re.M)[1:]:
                before = re.search(r"^--- (?:a/)?(\S+)", part, flags=re.M)[1]
                if before == "/dev/null":
                    after = re.search(r"^\+\+\+ b/(\S+)", part, flags=re.M)[1]
                    require(not (ROOT / after).exists(), f"{name}: {after} exists already")
                    continue
                if not (ROOT / before).exists():
                    problems.append(f"{name}: {before} does not exist")
                    continue
                source = (ROOT / before).read_text(encoding="utf-8")
                for hunk in re.split(r"^@@.*\n", part, flags=re.M)[1:]:
                    kept = "".join(line[1:] for line in hunk.splitlines(True) if line[:1] in (" ", "-"))
                    require(kept in source, f"{name}: the diff of {before} does not fit it any more:\n{kept}")


# --- what the program has -----------------------------------------------------------------------------------------------
def keys_of(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from keys_of(value[0], path)
    else:
        yield path


def page(site, name):
    return (site / "reference" / f"{name}.md").read_text(encoding="utf-8")


def require_all(names, text, where, least):
    """Each name is a code span, a heading or the text of a link of the page."""
    names = sorted(set(names))
    require(len(names) >= least, f"{where}: only {len(names)} names were found, {least} are expected: the check is wrong")
    spans = set(re.findall(r"`([^`\n]+)`", text)) | set(re.findall(r"^#+ (.*)$", text, flags=re.M))
    for name in names:
        require(name in spans, f"{where}: {name} is not documented")


def check_recipe_keys(site, cli):
    """The keys that the program writes, and those of the lists, which it writes where they are not empty."""
    recipe = json.loads(output_of(cli, "presets", "pre-ln"))
    entries = pathlib.Path(site / "entries.json")
    recipe["stack"]["depth"] = 2
    recipe["stack"]["layers"] = [{"index": 0, "attn": {"in": False, "a": 1, "b": 1, "out": True, "post": False},
                                  "ffn": {"in": False, "a": 1, "b": 1, "out": True, "post": False}}]
    recipe["probes"] = [{"id": "gradients", "every": "auto", "steps": "0", "only": "blocks.0"}]
    recipe["watch"] = [{"quantity": "loss", "is": ">", "value": 9}]
    entries.write_text(json.dumps(recipe))
    output_of(cli, "train", str(entries), "--steps", "1", "--out", str(site / "entries.h5"))
    entries.unlink()
    for key in ("format", "version", "title", "description"):
        recipe.pop(key, None)
    text = page(site, "recipe-keys")
    require_all(list(keys_of(recipe)) + ["data.path"], text, "recipe keys", 80)
    for line in text.splitlines():
        if line.startswith("| `"):
            require(not re.search(r"\|\s*\|", line), f"recipe keys: a cell is empty: {line}")


def check_probes(site, cli):
    text = page(site, "probes")
    lines = output_of(cli, "probes").splitlines()
    require_all([line.split(":")[0] for line in lines if not line.startswith(" ")], text, "probes", 17)
    arrays = [re.match(r"  (\w+) \[", line)[1] for line in lines if re.match(r"  \w+ \[", line)]
    require_all(arrays, text, "arrays of probes", 90)
    require("Formula: ." not in text and "Source: ." not in text, "probes: a formula or a source is empty")


def options_of(help_text):
    return re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(
        line for line in help_text.splitlines() if line.startswith("  ") and line.lstrip().startswith("-")))


def check_commands(site, cli):
    text = page(site, "commands")
    listing = output_of(cli, "--help").split("Subcommands:")[1]
    commands = re.findall(r"^  ([a-z]+) ", listing, flags=re.M)
    require_all(commands, text, "commands", 19)
    for command in commands:
        section = text.split(f"\n## {command}\n")[-1].split("\n## ")[0]
        require_all(options_of(output_of(cli, command, "--help")), section, f"options of {command}", 1)


def check_window_program(site, window):
    text = page(site, "window-program")
    for command in ("normscope", "normscope figure", "normscope preflight"):
        section = text.split(f"\n## {command}\n")[-1].split("\n## ")[0]
        require_all(options_of(output_of(window, *command.split()[1:], "--help")), section, command, 3)


def check_panels(site):
    """Ids of the sources, not of the registry that the page is made from."""
    ids = set()
    for source in (ROOT / "widgets/figures/panels").glob("*.cpp"):
        text = source.read_text(encoding="utf-8")
        ids |= set(re.findall(r'return \{\s*"(\w+)",\s*"[^"]+",\s*\{', text))
        ids |= set(re.findall(r'panelOf\(\s*"(\w+)"', text))
    require_all(ids, page(site, "panels"), "panels", 19)


def check_resources(site):
    for name, folder, least in (("presets", "presets", 14), ("gallery", "gallery", 39)):
        require_all([p.stem for p in (ROOT / "resources" / folder).glob("*.json")], page(site, name), name, least)
    stories = page(site, "stories")
    for story in (ROOT / "resources/stories").glob("*.json"):
        require(f"resources/stories/{story.name}" in stories, f"stories: {story.name} is not documented")
    words = re.findall(r'\{Scheme::\w+, "(\w+)"', (ROOT / "core/stack/scheme_rows.h").read_text(encoding="utf-8"))
    require_all(words, page(site, "schemes"), "schemes", 10)
    ids = set()
    for source in (ROOT / "core/claims").glob("*.cpp"):
        ids |= set(re.findall(r'\{"([ENGBK]\d\d)"', source.read_text(encoding="utf-8")))
    require_all(ids, page(site, "claims"), "claims", 100)
    guide = (site / "guide/claims.md").read_text(encoding="utf-8")
    require(f"each of {len(ids)} statements" in guide, f"guide/claims.md: the program has {len(ids)} statements")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    require(len(readme.splitlines()) <= 150, "README.md: has more than 150 lines")


def check_session(site):
    """Every object of a recorded file is a row of the page."""
    try:
        import h5py
    except ImportError:
        print("session files: not compared with a recording, python3-h5py is missing")
        return
    rows = re.findall(r"^\| `(/[^`]*)`", page(site, "session"), flags=re.M)
    patterns = [re.compile(re.sub(r"\\\{\w+\\\}", "[^/@]+", re.escape(row).replace("\\\\", "\\")) + "$") for row in rows]
    documented = lambda name: any(p.match(name) for p in patterns)
    inside = re.compile(r".*/(steps_overview|params|moment1|moment2|probes/flight)/.*|.*/(scalars|integers)@names|"
                        r".*/probes/[^/@]+@.*")
    seen = 0
    with h5py.File(site / "entries.h5") as file:
        def visit(name, item):
            nonlocal seen
            for one in ([] if name == "/" else [name]) + [f"{name}@{attribute}" for attribute in item.attrs]:
                seen += 1
                require(documented(one) or inside.match(one), f"session files: {one} is not documented")
        visit("/", file["/"])
        file.visititems(lambda name, item: visit("/" + name, item))
    require(seen > 50, f"session files: only {seen} objects were compared")


def site_of(cli, folder):
    """docs/ with the generated reference, as docs/build makes it."""
    site = folder / "docs"
    shutil.copytree(ROOT / "docs", site, ignore=shutil.ignore_patterns("reference", "build"))
    output_of(cli, "docs", "--out", str(site / "reference"))
    return site


def top_level():
    return sorted(ROOT.glob("*.md"))


def check_html(folder):
    """Every link and every image of the built pages, with its anchor."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    anchors = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in texts.items()}
    links = 0
    for path, text in texts.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            target = html.unescape(target)
            if re.match(r"https?:|mailto:|data:|javascript:", target):
                continue
            links += 1
            where, _, anchor = target.partition("#")
            to = (path.parent / where.partition("?")[0]).resolve() if where else path
            name = path.relative_to(folder)
            require(to.exists(), f"{name}: the link {target} leads nowhere")
            require(not anchor or to not in anchors or anchor in anchors[to], f"{name}: {target}: there is no such anchor")
    require(links > 500, f"only {links} links were found: the check is wrong")
    return links


def main():
    if sys.argv[1:] == ["--external"]:
        found = {}
        for path in top_level() + sorted((ROOT / "docs").rglob("*.md")):
            for target in re.findall(r"https?://[^\s)>`\"]+", path.read_text(encoding="utf-8")):
                found.setdefault(target.rstrip(".,;"), path.relative_to(ROOT))
        for target, path in sorted(found.items()):
            print(f"{target}  ({path})")
        return 0
    if sys.argv[1] == "--html":
        links = check_html(pathlib.Path(sys.argv[2]).resolve())
        print("\n".join(problems + [f"{links} links, {len(problems)} problems"]))
        return 1 if problems else 0
    cli, window = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        site = site_of(cli, folder)
        check_recipe_keys(site, cli)
        check_probes(site, cli)
        check_commands(site, cli)
        check_window_program(site, window)
        check_panels(site)
        check_resources(site)
        check_session(site)
        pages = sorted(site.rglob("*.md"))
        check_links(site, pages)
        check_index(site)
        check_paths(site, [p for p in pages if "reference" not in p.parts])
        check_diffs(site, pages)
    check_links(ROOT, top_level())
    check_paths(ROOT, top_level())
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
