#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on an include or a link that the architecture forbids.

check_layering.py SOURCE_DIR [LINK_GRAPH]   LINK_GRAPH: lines "target: dependency dependency …", written by CMake.
"""
import pathlib
import re
import sys

# Room -> the rooms of ours whose headers it may include (itself always). docs/architecture.md draws the same graph.
MAY_INCLUDE = {
    "engine": set(),
    "storage": set(),
    "profiler": {"engine", "storage"},
    "profiler/cupti": {"storage"},
    "profiler/record": {"storage", "profiler/cupti"},
    "plugins/api": {"engine", "storage"},
    "plugins/models": {"plugins/api", "engine"},
    "viewers/models": {"storage", "profiler"},
    "viewers": {"viewers/models", "storage", "profiler"},
    "app/runner": {"engine", "storage", "profiler", "profiler/cupti", "plugins/api", "plugins/models"},
    "app/adapter": {"app/runner", "engine", "storage", "profiler", "plugins/api", "plugins/models"},
    "app/cli": {"app/adapter", "app/runner", "engine", "storage", "profiler", "profiler/cupti", "profiler/record",
                "plugins/api", "plugins/models"},
    # The window talks to models over DAP and to tapes: never to the engine.
    "app/workbench": {"viewers", "viewers/models", "storage", "profiler"},
}
NO_QT = {"engine", "storage", "profiler", "profiler/cupti", "profiler/record", "plugins/api", "plugins/models", "app/runner", "app/adapter", "app/cli"}
ONLY_QT_CORE = {"viewers/models"}
QT_CORE_HEADERS = re.compile(
    r"Q(AbstractItemModel|AbstractListModel|AbstractTableModel|SortFilterProxyModel|Object|String|StringList|ByteArray|List|"
    r"Vector|Hash|Map|Set|Variant|Pointer|Timer|Thread|Mutex|WaitCondition|Semaphore|ElapsedTimer|DateTime|File|FileInfo|Dir|"
    r"FileSystemWatcher|Locale|MetaType|MetaObject|ModelIndex|Event|CoreApplication|Settings|StandardPaths|Debug|Deadline|"
    r"DeadlineTimer|SharedPointer|Url|Uuid|Json\w*|Regular\w*|Signal\w*|Point|PointF|Rect|RectF|Size|SizeF|tGlobal|tCore|"
    r"IODevice|TextStream|Collator|Promise|Future|FutureWatcher|ItemSelectionModel|IdentityProxyModel|MetaEnum|Flags|Flag)$")

# Target -> the targets and libraries it may link.
MAY_LINK = {
    "tapescope_engine": {"Threads::Threads", "OpenMP::OpenMP_CXX", "ZLIB::ZLIB", "DNNL::dnnl", "TapescopeLapack"},
    "tapescope_storage": {"Threads::Threads", "SQLite::SQLite3", "PkgConfig::ZSTD"},
    # Goes into other people's processes: the tape and nothing else.
    "tapescope_cupti": {"tapescope_storage", "Threads::Threads", "dl"},
    "tapescope_gpu_analysis": {"tapescope_storage"},
    "tapescope_profiler": {"tapescope_engine", "tapescope_storage", "tapescope_gpu_analysis"},
    "tapescope_plugin_api": {"tapescope_engine", "tapescope_storage"},
    "tapescope_models": {"tapescope_plugin_api"},
    "tapescope_viewer_models": {"tapescope_storage", "tapescope_profiler", "tapescope_gpu_analysis", "Qt6::Core"},
    "tapescope_viewers": {"tapescope_viewer_models", "Qt6::Widgets", "Qt6::Concurrent", "Qt6::Svg", "Qt6::PrintSupport",
                          "QCustomPlotQt6::QCustomPlotQt6"},
    "tapescope_runner": {"tapescope_profiler", "tapescope_models", "DNNL::dnnl", "SQLite::SQLite3", "ZLIB::ZLIB"},
    "tapescope_adapter": {"tapescope_runner", "nlohmann_json::nlohmann_json"},
    "tapescope_record": {"tapescope_storage", "dl"},
    "tapescope_cli": {"tapescope_adapter", "tapescope_runner", "tapescope_record", "tapescope_cupti",
                      "nlohmann_json::nlohmann_json", "dl"},
    "tapescope_workbench_lib": {"tapescope_viewers", "Qt6::Network", "Qt6::Svg", "Qt6::Widgets", "Qt6::Concurrent"},
}
# Copies of other people's headers: for our sources only, so that no installed header needs them.
VENDORED = re.compile(r"(engine/third_party|pocketfft)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """The longest known room that a path lies in, or None."""
    parts = path.split("/")
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in MAY_INCLUDE:
            return name
    return None


def include_violations(root):
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".cpp", ".h", ".cu", ".cuh"):
            continue
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        if room is None or "/third_party/" in name:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            bracket, header = match.groups()
            where = f"{name}:{number}: "
            if VENDORED.match(header) and path.suffix != ".cpp":
                yield f"{where}a header must not include vendored ones ({header})"
            if bracket == "<":
                if re.match(r"Q[A-Zt]", header) or header == "qcustomplot.h":
                    if room in NO_QT:
                        yield f"{where}{room} must not include Qt ({header})"
                    elif room in ONLY_QT_CORE and not QT_CORE_HEADERS.match(header):
                        yield f"{where}{room} may include Qt Core only ({header})"
                continue
            other = room_of(header)
            if other and other != room and other not in MAY_INCLUDE[room]:
                yield f"{where}{room} must not include {other} ({header})"


def link_violations(graph_text):
    for line in graph_text.splitlines():
        target, _, rest = line.partition(": ")
        if target not in MAY_LINK:
            continue
        for library in rest.split():
            # $<LINK_ONLY:x> is a private dependency of a static library.
            library = re.sub(r"\$<LINK_ONLY:(.*)>", r"\1", library)
            if library not in MAY_LINK[target] | {"tapescope_warnings", target}:
                yield f"{target} must not link {library}"


def main(arguments):
    problems = list(include_violations(pathlib.Path(arguments[0])))
    if len(arguments) > 1:
        problems += link_violations(pathlib.Path(arguments[1]).read_text())
    for problem in problems:
        print(problem)
    print(f"{len(problems)} violations of the layering" if problems else "layering holds")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
