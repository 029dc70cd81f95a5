#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering check must catch what it is there for: violations planted in a scratch tree."""
import pathlib
import tempfile
import unittest

import check_layering


class Layering(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_layering.include_violations(root))

    def test_qt_in_the_engine_is_caught(self):
        found = self.violations({"engine/ops/a.cpp": '#include <vector>\n#include <QString>\n'})
        self.assertEqual(found, ["engine/ops/a.cpp:2: engine must not include Qt (QString)"])

    def test_the_engine_knows_nobody(self):
        found = self.violations({"engine/a.h": '#include "storage/tape/reader.h"\n'})
        self.assertEqual(len(found), 1)

    def test_viewers_never_talk_to_the_engine(self):
        found = self.violations({"viewers/graph/a.cpp": '#include "engine/tensor/tensor.h"\n',
                                 "app/workbench/b.cpp": '#include "engine/nn/module.h"\n'})
        self.assertEqual(len(found), 2)

    def test_models_use_qt_core_only(self):
        found = self.violations({"viewers/models/a.h": "#include <QObject>\n#include <QColor>\n"})
        self.assertEqual(found, ["viewers/models/a.h:2: viewers/models may include Qt Core only (QColor)"])

    def test_vendored_headers_stay_inside(self):
        found = self.violations({"engine/cpu/a.h": "#include <pocketfft/pocketfft_hdronly.h>\n",
                                 "engine/cpu/a.cpp": "#include <pocketfft/pocketfft_hdronly.h>\n",
                                 "engine/third_party/x/x.h": "#include <QString>\n"})
        self.assertEqual(found, ["engine/cpu/a.h:1: a header must not include vendored ones (pocketfft/pocketfft_hdronly.h)"])

    def test_allowed_includes_pass(self):
        found = self.violations({"app/cli/a.cpp": '#include "app/runner/training_run.h"\n#include <nlohmann/json.hpp>\n',
                                 "profiler/recorder/r.cpp": '#include "engine/observe/observer.h"\n',
                                 "viewers/curves/c.cpp": '#include <qcustomplot.h>\n#include "viewers/models/selection.h"\n'})
        self.assertEqual(found, [])

    def test_a_forbidden_link_is_caught(self):
        graph = "tapescope_engine: Threads::Threads Qt6::Core\ntapescope_storage: $<LINK_ONLY:SQLite::SQLite3>\n"
        self.assertEqual(list(check_layering.link_violations(graph)), ["tapescope_engine must not link Qt6::Core"])


if __name__ == "__main__":
    unittest.main()
