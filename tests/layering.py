#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the tree's architecture by its includes and headers: layering.py ROOT.

Prints what breaks a rule and exits with 1; prints the known exceptions. An exception that is no longer one fails, too, so
that the lists below only get shorter. `layering.py --self-test` breaks each rule in a small tree and expects the finding.
"""
import pathlib
import re
import sys
import tempfile

# Exceptions by rule. An entry is the subject of a finding, as it is printed before the colon; of a cycle also more folders.
KNOWN = {
    "cycles": set(),
    "folders": set(),
    "classes": set(),
}

# A file may include files of its own rank and of lower ones.
RANKS = {
    "app": 15, "app/window": 14,
    "widgets": 13,
    "app/lab": 12, "app/serve": 12, "widgets/figures": 11, "app/cli": 11,
    "core/claims": 10, "core/preflight": 10, "core/gallery": 10, "core/stories": 10, "core/sweep": 9, "core/run": 8,
    "core/findings": 7, "core/interchange": 7, "core/session": 6, "core/probe": 5, "core/theory": 5,
    "core/train": 4, "core/model": 3, "core/backend": 2, "core/recipe": 1, "core/stack": 0, "core/base": -1,
}
# Of Qt Core, as far as they are used where there is no widget and no painter. A header of Qt Core that is missing here may be
# added; one of another module may not.
QT_CORE = set("""
    QByteArray QByteArrayView QCoreApplication QDateTime QDebug QDir QElapsedTimer QEvent QEventLoop QFile QFileInfo QHash QJsonArray
    QJsonDocument QJsonObject QList QLocale QMap QMetaObject QMetaType QMutex QObject QPoint QPointF QPointer QProcess QRect QRectF QRegularExpression
    QSaveFile QScopeGuard QSet QSettings QSize QSizeF QStandardPaths QString QStringList QStringView QTemporaryDir QTemporaryFile
    QTextStream QThread QTimer QUrl QUuid QVariant QVector QtGlobal QtMath
""".split())
UNDO = {"QUndoStack", "QUndoCommand"}
MOST_FILES, MOST_FUNCTIONS, MOST_LINES = 40, 30, 7000
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
HEADERS = {".h", ".cuh"}
WIDGET_BASES = r"Q(?:Widget|Frame|Dialog|MainWindow|Label|AbstractButton|PushButton|ToolButton|ListWidget|TableWidget|" \
               r"TextBrowser|GraphicsView|StackedWidget|StyledItemDelegate)"


def layer_of(path):
    """The folder whose rank a file has: "core/run", "widgets/figures", "widgets", …"""
    parts = path.split("/")[:-1]
    for length in (2, 1):
        name = "/".join(parts[:length])
        if name in RANKS:
            return name
    return None


def within(path, folder):
    return path.startswith(folder + "/")


def with_operations(file):
    """The functions that a class has from a list of operations (core/backend/layer_operations.inc)."""
    names = re.findall(r"^NORMSCOPE_OPERATION\((\w+)", file.read_text(encoding="utf-8"), re.M)
    return "\n".join(f"    void {name}();" for name in names)


class Tree:
    def __init__(self, root):
        self.text = {}
        for top in ("app", "core", "widgets"):
            for file in sorted((root / top).rglob("*")):
                if file.suffix in SOURCES and file.is_file():
                    text = file.read_text(encoding="utf-8")
                    self.text[file.relative_to(root).as_posix()] = re.sub(
                        r'#include "(\S+\.inc)"', lambda list_of: with_operations(root / list_of[1]), text)
        self.includes = {path: re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text, re.M)
                         for path, text in self.text.items()}
        self.headers = [path for path in self.text if pathlib.PurePosixPath(path).suffix in HEADERS]


def is_qt(header):
    return re.match(r"Q[A-Z]|Qt", header) is not None


def check_qt(tree):
    """app/cli and core include no Qt; widgets/figures and app/lab only Qt Core; app/lab also the undo stack."""
    for path, includes in tree.includes.items():
        for header in filter(is_qt, includes):
            if within(path, "core") or within(path, "app/cli"):
                yield path, f"includes {header}: core and app/cli have no Qt"
            elif within(path, "widgets/figures") or within(path, "app/lab"):
                allowed = QT_CORE | (UNDO if within(path, "app/lab") else set())
                if header not in allowed:
                    yield path, f"includes {header}: no widget and no painter here (Qt Core: list it in QT_CORE)"


def check_ranks(tree):
    """No include runs upward, none leads into a folder without a rank, and no view knows app/."""
    for path, includes in tree.includes.items():
        own = layer_of(path)
        if own is None:
            yield path, "lies in a folder that has no rank"
            continue
        for header in includes:
            if not re.match(r"(app|core|widgets)/", header):
                continue
            other = layer_of(header)
            if other is None:
                yield path, f"includes {header}, of a folder that has no rank"
            elif RANKS[other] > RANKS[own]:
                yield path, f"({own}) includes {header} of the higher layer {other}"
            elif own.startswith("widgets") and other.startswith("app"):
                yield path, f"includes {header}: a view takes values and emits intentions"
            elif own == "app/cli" and other != own and not other.startswith("core"):
                yield path, f"includes {header}: app/cli is of core only"


def check_cycles(tree):
    """No cycle between folders (Tarjan's strongly connected components)."""
    edges, example = {}, {}
    for path, includes in tree.includes.items():
        own = path.rsplit("/", 1)[0]
        edges.setdefault(own, set())
        for header in includes:
            other = header.rsplit("/", 1)[0]
            if header in tree.text and other != own:
                edges[own].add(other)
                example.setdefault((own, other), f"{path} includes {header}")
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = []
            while True:
                component.append(stack.pop())
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    for component in found:
        arrows = [text for (a, b), text in sorted(example.items()) if a in component and b in component]
        yield " ".join(component), "a cycle of folders:\n    " + "\n    ".join(arrows)


def check_window(tree):
    """app/window has at most MOST_LINES lines and no view."""
    files = [path for path in tree.text if within(path, "app/window")]
    lines = sum(tree.text[path].count("\n") for path in files)
    if lines > MOST_LINES:
        yield "app/window", f"has {lines} lines, {MOST_LINES} are allowed"
    for path in files:
        if path.startswith("app/window/main_window."):
            continue
        text = without_comments(tree.text[path])
        if re.search(r"\bpaintEvent\s*\(", text):
            yield path, "overrides paintEvent: views are under widgets/"
        for name, base in re.findall(rf"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+({WIDGET_BASES})\b", text):
            yield path, f"{name} is a {base}: views are under widgets/"


def check_folders(tree):
    """No folder has more than MOST_FILES sources and headers."""
    count = {}
    for path in tree.text:
        folder = path.rsplit("/", 1)[0]
        count[folder] = count.get(folder, 0) + 1
    for folder, files in sorted(count.items()):
        if files > MOST_FILES:
            yield folder, f"has {files} files, {MOST_FILES} are allowed"


def without_comments(text):
    pattern = r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    text = re.sub(pattern, lambda m: " " if m.group()[0] == "/" else '""', text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    return re.sub(r"\bQ_(OBJECT|GADGET|NAMESPACE)\b|\bQ_(PROPERTY|ENUM|FLAG|DISABLE_COPY\w*)\s*\([^)]*\)", "", text)


def public_functions(text):
    """(class, its number of public functions) for every class and struct that a header defines. Qt's signals are not counted:
    nobody outside calls them."""
    tokens = re.findall(r"\w+|::|->|[^\s\w]", without_comments(text))
    result, position = [], 0

    def skip(opening, closing):
        """From an opening bracket to the token after its partner."""
        nonlocal position
        depth = 0
        while position < len(tokens):
            depth += (tokens[position] == opening) - (tokens[position] == closing)
            position += 1
            if depth == 0:
                return

    def members(name, public):
        """After the opening brace of a class; `public` by default."""
        nonlocal position
        functions, statement = set(), []
        number = 0
        while position < len(tokens):
            token = tokens[position]
            if token == "}":
                position += 1
                break
            following = tokens[position + 1] if position + 1 < len(tokens) else ""
            if not statement and token in ("public", "protected", "private", "Q_SIGNALS") and \
                    following in (":", "Q_SLOTS"):
                public = token == "public"
                position += 2 if following == ":" else 3
                continue
            if token == ";":
                number += public and is_function(statement)
                statement = []
                position += 1
            elif token == "{":
                if opens_class(statement):
                    nested, outer = class_name(statement), name
                    position += 1
                    members(f"{outer}::{nested}", statement[0] != "class")
                    statement = ["=", "class"]  # a member of it may follow
                elif is_function(statement):
                    number += public
                    skip("{", "}")
                    if position < len(tokens) and tokens[position] == ",":  # of an initializer list: x{1}, y{2} {}
                        statement = ["=", "list"]
                        continue
                    while position < len(tokens) and tokens[position] == "{":
                        skip("{", "}")
                    statement = []
                else:  # an enumeration, or an initial value
                    skip("{", "}")
                    statement.append("{}")
                    if statement[0] == "=" and statement[-2:] == ["list", "{}"]:
                        statement = []
            elif token == "(":
                skip("(", ")")
                statement += ["(", ")"]
            else:
                statement.append(token)
                position += 1
        result.append((name, number))

    def is_function(statement):
        words = statement
        if not words or "(" not in words or words[0] in ("using", "friend", "typedef", "static_assert", "enum", "="):
            return False
        before = words[:words.index("(")]
        return "=" not in before and bool(before) and before[-1] not in ("decltype", "alignas")

    def opens_class(statement):
        words = strip_template(statement)
        return bool(words) and words[0] in ("class", "struct") and "(" not in words

    def strip_template(statement):
        words = list(statement)
        while words and words[0] == "template":
            depth, end = 0, 1
            while end < len(words):
                depth += (words[end] == "<") - (words[end] == ">")
                end += 1
                if depth == 0:
                    break
            words = words[end:]
        return words

    def class_name(statement):
        words = [word for word in strip_template(statement)[1:] if word not in ("final", "alignas")]
        return words[0] if words else "(unnamed)"

    statement = []
    while position < len(tokens):
        token = tokens[position]
        if token == "{" and opens_class(statement):
            position += 1
            words = strip_template(statement)
            members(class_name(statement), words[0] == "struct")
            statement = []
        elif token == "{" and ("namespace" in statement or statement[:1] == ["extern"]):
            position += 1
            statement = []
        elif token == "{":
            skip("{", "}")
            statement = []
        elif token in ";}":
            statement = []
            position += 1
        else:
            statement.append(token)
            position += 1
    return result


def check_classes(tree):
    """No class has more than MOST_FUNCTIONS public functions."""
    for path in tree.headers:
        for name, number in public_functions(tree.text[path]):
            if number > MOST_FUNCTIONS:
                yield f"{path} {name}", f"has {number} public functions, {MOST_FUNCTIONS} are allowed"


RULES = {"qt": check_qt, "ranks": check_ranks, "cycles": check_cycles, "window": check_window, "folders": check_folders,
         "classes": check_classes}


def findings(tree):
    return {rule: list(check(tree)) for rule, check in RULES.items()}


def self_test():
    """Breaks each rule in a tree that has none broken."""
    sound = {
        "core/base/a.h": "#include <string>\nstruct A { A(); int x() const { return 1; } int y = 0; };\n",
        "core/run/b.cpp": '#include "core/base/a.h"\n',
        "app/cli/c.cpp": '#include "core/run/b.h"\n',
        "app/lab/lab.h": "#include <QUndoStack>\n",
        "app/window/main_window.cpp": '#include "app/lab/lab.h"\nvoid MainWindow::paintEvent(QPaintEvent*) {}\n',
        "widgets/figures/f.h": '#include <QString>\n#include "core/base/a.h"\n',
        "widgets/knobs/k.h": '#include <QPainter>\n#include "widgets/figures/f.h"\n',
    }
    many = "class Big {\n  public:\n" + "".join(
        f"    void f{i}(int a = g(1)) const;\n" for i in range(MOST_FUNCTIONS + 1)) + "};\n"
    breaks = [
        ("qt", "core/base/q.h", "#include <QString>\n"),
        ("qt", "app/cli/q.cpp", "#include <QCoreApplication>\n"),
        ("qt", "widgets/figures/q.h", "#include <QPainter>\n"),
        ("qt", "widgets/figures/u.h", "#include <QUndoStack>\n"),
        ("qt", "app/lab/w.h", "#include <QtWidgets/QLabel>\n"),
        ("ranks", "core/base/up.h", '#include "core/run/b.h"\n'),
        ("ranks", "app/lab/up.h", '#include "app/window/main_window.h"\n'),
        ("ranks", "app/lab/view.h", '#include "widgets/knobs/k.h"\n'),
        ("ranks", "widgets/knobs/up.h", '#include "app/lab/lab.h"\n'),
        ("ranks", "app/cli/up.cpp", '#include "widgets/figures/f.h"\n'),
        ("ranks", "core/new/n.h", "\n"),
        ("cycles", "core/base/run.h", '#include "core/run/b.cpp"\n'),
        ("window", "app/window/v.cpp", "void V::paintEvent(QPaintEvent*) {}\n"),
        ("window", "app/window/w.h", "class W : public QWidget {};\n"),
        ("window", "app/window/long.cpp", "\n" * (MOST_LINES + 1)),
        ("folders", "core/stack/{}.h", "\n"),
        ("classes", "core/base/big.h", many),
    ]
    with tempfile.TemporaryDirectory() as folder:
        def tree_of(files, name):
            root = pathlib.Path(folder) / name
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return Tree(root)

        found = findings(tree_of(sound, "sound"))
        if any(found.values()):
            sys.exit(f"layering.py: findings in a sound tree: {found}")
        for i, (rule, path, text) in enumerate(breaks):
            added = {path.format(n): text for n in range(MOST_FILES + 1)} if "{}" in path else {path: text}
            if not findings(tree_of({**sound, **added}, str(i)))[rule]:
                sys.exit(f"layering.py: the rule '{rule}' does not see {path}: {text[:60]!r}")
    print(f"{len(breaks)} broken rules, each found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit("usage: layering.py ROOT | --self-test")
    tree = Tree(pathlib.Path(sys.argv[1]))
    if len(tree.text) < 100:
        sys.exit(f"layering.py: only {len(tree.text)} sources under {sys.argv[1]}")
    failed, exceptions = False, 0
    for rule, found in findings(tree).items():
        known, met = KNOWN.get(rule, set()), set()
        for subject, what in found:
            entries = {entry for entry in known if entry == subject or
                       (rule == "cycles" and set(subject.split()) <= set(entry.split()))}
            met |= entries
            if entries:
                exceptions += 1
                print(f"known exception ({rule}): {subject}: {what}")
            else:
                failed = True
                print(f"{rule}: {subject}: {what}")
        for subject in sorted(known - met):
            failed = True
            print(f"{rule}: {subject}: is no longer an exception: remove it from KNOWN")
    if failed:
        sys.exit(1)
    print(f"{len(tree.text)} files in their layers, {exceptions} known exceptions")


if __name__ == "__main__":
    main()
