// SPDX-License-Identifier: GPL-3.0-or-later
// `tapescope-workbench --shot` as a script runs it: exit status, stderr and the picture.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>

#include <array>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <vector>

namespace tapescope::app {
namespace {

class ShotProgram : public ::testing::Test {
protected:
    // Far longer than any picture takes, and far below the program's own limit of five minutes.
    static constexpr int kPatienceMs = 120'000;

    struct Outcome {
        int status = -1;
        QString err;
    };
    static Outcome run(const QString& program, const QStringList& words) {
        QProcess process;
        process.start(program, words);
        if (!process.waitForFinished(kPatienceMs)) {
            process.kill();
            process.waitForFinished();
            return {-1, QStringLiteral("it did not end")};
        }
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
                QString::fromLocal8Bit(process.readAllStandardError())};
    }
    static Outcome workbench(const QStringList& words) {
        return run(QStringLiteral(TAPESCOPE_WORKBENCH_BINARY), words);
    }
    QString path(const QString& name) const { return folder.filePath(name); }
    QString tape() const {
        const Outcome made = run(
            QStringLiteral(TAPESCOPE_BINARY),
            {"run", "digits-mlp", "--steps", "3", "--quiet", "--force", "--tape", path("a.tape")});
        EXPECT_EQ(made.status, 0) << made.err.toStdString();
        return path("a.tape");
    }
    void tamper(const char* sql) const {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(path("a.tape").toUtf8().constData(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
        sqlite3_close(db);
    }

    QTemporaryDir folder;
};

TEST_F(ShotProgram, DrawsEachViewAsPngAndSvg) {
    const QString file = tape();
    for (const char* view : {"debug", "curves", "timeline"}) {
        const Outcome made =
            workbench({"--shot", view, file, "-o", path("a.png"), "--size", "1000x700"});
        ASSERT_EQ(made.status, 0) << made.err.toStdString();
        EXPECT_EQ(QImage(path("a.png")).size(), QSize(1000, 700));
        EXPECT_EQ(workbench({"--shot", view, file, "-o", path("a.svg")}).status, 0);
        EXPECT_TRUE(QFile::exists(path("a.svg")));
        QFile::remove(path("a.png"));
        QFile::remove(path("a.svg"));
    }
}

TEST_F(ShotProgram, DamagedGraphsAreNamedNotWaitedFor) {
    for (const char* sql : {"DELETE FROM graph", "DELETE FROM graph_node WHERE seq = 3",
                            "UPDATE graph_edge SET from_seq = 100000"}) {
        const QString file = tape();
        tamper(sql);
        const Outcome outcome = workbench({"--shot", "debug", file, "-o", path("a.png")});
        EXPECT_EQ(outcome.status, 1) << sql;
        EXPECT_TRUE(outcome.err.contains(QStringLiteral("a.tape"))) << outcome.err.toStdString();
        EXPECT_FALSE(QFile::exists(path("a.png")));
    }
}

TEST_F(ShotProgram, CutAndOverwrittenTapesEndWithAPictureOrAReason) {
    QFile whole(tape());
    ASSERT_TRUE(whole.open(QIODevice::ReadOnly));
    const QByteArray bytes = whole.readAll();
    std::vector<QByteArray> damaged;
    for (const int share : {1, 10, 50, 90, 99})
        damaged.push_back(bytes.left(bytes.size() * share / 100));
    for (const int share : {1, 20, 50, 80}) {
        QByteArray zeroed = bytes;
        const qsizetype at = bytes.size() * share / 100 / 4096 * 4096;
        zeroed.replace(at, 4096, QByteArray(4096, '\0'));
        damaged.push_back(zeroed);
    }
    for (const QByteArray& content : damaged) {
        QFile file(path("b.tape"));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(content);
        file.close();
        for (const char* view : {"debug", "curves"}) {
            const Outcome outcome =
                workbench({"--shot", view, path("b.tape"), "-o", path("b.png")});
            EXPECT_TRUE(outcome.status == 0 || outcome.status == 1)
                << outcome.status << " " << outcome.err.toStdString();
            if (outcome.status == 1) {
                EXPECT_FALSE(outcome.err.isEmpty());
            }
        }
    }
}

TEST_F(ShotProgram, ASizeTheWindowCannotHaveIsRefused) {
    const Outcome outcome =
        workbench({"--shot", "debug", tape(), "-o", path("a.png"), "--size", "400x300"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(outcome.err.contains(QStringLiteral("needs at least")))
        << outcome.err.toStdString();
    EXPECT_FALSE(QFile::exists(path("a.png")));
}

TEST_F(ShotProgram, AFolderWithoutTapesIsSaid) {
    const Outcome outcome = workbench({"--shot", "debug", folder.path(), "-o", path("a.png")});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(outcome.err.contains(QStringLiteral("no tapes"))) << outcome.err.toStdString();
}

TEST_F(ShotProgram, AFullDiskIsSaidForBothFormats) {
    const QString file = tape();
    for (const char* name : {"full.png", "full.svg"}) {
        ASSERT_TRUE(QFile::link(QStringLiteral("/dev/full"), path(name)));
        const Outcome outcome = workbench({"--shot", "curves", file, "-o", path(name)});
        EXPECT_EQ(outcome.status, 1) << name;
        EXPECT_TRUE(outcome.err.contains(QLatin1String(name))) << outcome.err.toStdString();
    }
}

TEST_F(ShotProgram, UsageErrorsSayWhatTheOptionTakes) {
    const std::array<std::pair<QStringList, const char*>, 6> cases{{
        {{"--size", "foo"}, "some 800x620"},
        {{"--theme", "blue"}, "dark or light"},
        {{"--seed", "-1"}, "0 or more"},
        {{"--steps", "0"}, "1 or more"},
        {{"--break", "conv2d@0"}, "NAME@N"},
        {{"--connect", "here"}, "HOST:PORT"},
    }};
    for (const auto& [words, part] : cases) {
        const Outcome outcome = workbench(words);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_TRUE(outcome.err.contains(QLatin1String(part))) << outcome.err.toStdString();
    }
}

}  // namespace
}  // namespace tapescope::app
