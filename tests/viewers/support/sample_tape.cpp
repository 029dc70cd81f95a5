// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/sample_tape.h"

#include <QDir>
#include <QPixmap>
#include <QTest>
#include <QWidget>

#include <cmath>

namespace tapescope::viewers::test {
namespace {

using storage::MemoryEvent;
using storage::MemoryKind;
using storage::OpEvent;
using storage::Phase;

double uniform(std::uint32_t& state) {  // xorshift: the same numbers everywhere
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    return state / 4294967296.0;
}

struct Call {
    const char* op;
    storage::ModuleId module;
    storage::SiteId site;
    double micros;
    double mflop;
};
constexpr Call kForward[] = {
    {"conv2d", 2, 1, 420, 36.9},  {"relu", 3, 2, 35, 0.13},   {"max_pool2d", 4, 2, 60, 0.1},
    {"conv2d", 5, 3, 780, 151.0}, {"relu", 3, 4, 30, 0.06},   {"max_pool2d", 4, 4, 48, 0.05},
    {"reshape", 1, 5, 2, 0},      {"linear", 6, 6, 110, 8.2}, {"cross_entropy", 0, 7, 55, 0.01}};

}  // namespace

std::vector<std::string> sampleNames() {
    return {"",
            "step",
            "forward",
            "backward",
            "optimizer",
            "data",
            "conv2d",
            "relu",
            "max_pool2d",
            "reshape",
            "linear",
            "cross_entropy",
            "log_softmax",
            "nll_loss",
            "conv2d_backward",
            "relu_backward",
            "max_pool2d_backward",
            "linear_backward",
            "nll_loss_backward",
            "adam_update",
            "copy_"};
}

std::vector<storage::ModuleRow> sampleModules() {
    return {{1, 0, "", "DigitsCnn", 0, ""},
            {2, 1, "conv1", "Conv2d", 320, "1→32, 3×3, padding 1"},
            {3, 1, "relu", "ReLU", 0, ""},
            {4, 1, "pool", "MaxPool2d", 0, "2×2"},
            {5, 1, "conv2", "Conv2d", 18496, "32→64, 3×3, padding 1"},
            {6, 1, "fc", "Linear", 2570, "256→10"}};
}

std::vector<storage::SiteRow> sampleSites() {
    std::vector<storage::SiteRow> sites;
    for (std::uint32_t i = 1; i <= 8; ++i)
        sites.push_back({i, "plugins/models/digits_cnn.cpp", 20 + i, "forward"});
    return sites;
}

std::int64_t appendStepEvents(std::vector<OpEvent>& events, std::vector<MemoryEvent>& memory,
                              std::int64_t step, std::int64_t startNs, std::uint32_t& random) {
    const auto names = sampleNames();
    const auto id = [&names](const std::string& name) {
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == name) return static_cast<storage::NameId>(i);
        return storage::NameId{0};
    };
    std::int64_t now = startNs;
    std::uint32_t seq = 0;
    std::int64_t allocated = 1'200'000;
    const auto op = [&](const std::string& name, storage::ModuleId module, storage::SiteId site,
                        double micros, double mflop, Phase phase, std::uint8_t depth) {
        OpEvent e;
        e.startNs = now;
        e.durationNs = static_cast<std::int64_t>(micros * (0.85 + 0.3 * uniform(random)) * 1000);
        e.opId = static_cast<std::uint64_t>(step) * 1000 + seq + 1;
        e.step = step;
        e.flops = mflop * 1e6;
        e.bytes = static_cast<std::int64_t>(micros * 1000);
        e.name = id(name);
        e.module = module;
        e.site = site;
        e.lane = 1;
        e.seq = seq++;
        e.phase = phase;
        e.depth = depth;
        now += e.durationNs + 1500 + static_cast<std::int64_t>(2000 * uniform(random));
        events.push_back(e);
        allocated += phase == Phase::Forward ? 180'000 : phase == Phase::Backward ? -120'000 : 0;
        memory.push_back({e.startNs,
                          0x1000 + e.opId,
                          180'000,
                          allocated,
                          8'000'000,
                          e.opId,
                          step,
                          MemoryKind::Alloc,
                          {}});
        return e;
    };
    const auto span = [&](OpEvent::Kind kind, std::int64_t from, const std::string& name,
                          storage::ModuleId module, Phase phase, std::uint8_t depth) {
        OpEvent e;
        e.startNs = from;
        e.durationNs = now - from;
        e.step = step;
        e.name = id(name);
        e.module = module;
        e.lane = 1;
        e.kind = kind;
        e.phase = phase;
        e.depth = depth;
        events.push_back(e);
    };
    std::int64_t from = now;
    op("copy_", 0, 8, 40, 0, Phase::Data, 2);
    span(OpEvent::Kind::Phase, from, "data", 0, Phase::Data, 1);
    from = now;
    const std::int64_t root = now;
    for (const Call& call : kForward) {
        if (call.module == 0) span(OpEvent::Kind::Module, root, "", 1, Phase::Forward, 2);
        const std::int64_t begin = now;
        if (std::string(call.op) == "cross_entropy") {
            // A composite operator: its own event encloses the two it calls.
            const std::uint32_t mine = seq++;
            op("log_softmax", 0, 7, 25, 0.01, Phase::Forward, 3);
            op("nll_loss", 0, 7, 20, 0.01, Phase::Forward, 3);
            OpEvent e;
            e.startNs = begin;
            e.durationNs = now - begin;
            e.opId = static_cast<std::uint64_t>(step) * 1000 + mine + 1;
            e.step = step;
            e.name = id(call.op);
            e.site = call.site;
            e.lane = 1;
            e.seq = mine;
            e.phase = Phase::Forward;
            e.depth = 2;
            events.push_back(e);
            continue;
        }
        op(call.op, call.module, call.site, call.micros, call.mflop, Phase::Forward,
           call.module == 1 ? 3 : 4);
        if (call.module > 1) span(OpEvent::Kind::Module, begin, "", call.module, Phase::Forward, 3);
    }
    span(OpEvent::Kind::Phase, from, "forward", 0, Phase::Forward, 1);
    from = now;
    for (const char* name :
         {"nll_loss_backward", "linear_backward", "max_pool2d_backward", "relu_backward",
          "conv2d_backward", "max_pool2d_backward", "relu_backward", "conv2d_backward"}) {
        const std::int64_t begin = now;
        const bool conv = std::string(name) == "conv2d_backward";
        op(name, conv ? 5 : 3, conv ? 3 : 2, conv ? 1100 : 60, conv ? 300 : 0.1, Phase::Backward,
           3);
        span(OpEvent::Kind::BackwardNode, begin, name, conv ? 5 : 3, Phase::Backward, 2);
    }
    span(OpEvent::Kind::Phase, from, "backward", 0, Phase::Backward, 1);
    from = now;
    for (int i = 0; i < 6; ++i) op("adam_update", 0, 8, 30, 0.2, Phase::Optimizer, 2);
    span(OpEvent::Kind::Phase, from, "optimizer", 0, Phase::Optimizer, 1);
    span(OpEvent::Kind::Step, startNs, "step", 0, Phase::Other, 0);
    memory.push_back({now, 0x1000, 180'000, 1'200'000, 8'000'000, 0, step, MemoryKind::Free, {}});
    return now + 40'000;
}

std::unique_ptr<storage::TapeWriter> writeSampleTape(const QString& path,
                                                     const SampleOptions& options) {
    storage::RunInfo info;
    info.name = options.name.toStdString();
    info.command = "tapescope run " + info.name;
    info.startWall = 1.78e9;
    auto created = storage::TapeWriter::create(path.toStdString(), info, {.overwrite = true});
    if (!created.ok()) {
        qWarning("%s", created.status().message().c_str());
        return nullptr;
    }
    auto writer = std::move(created).value();
    std::uint32_t random = options.seed * 7919 + 13;
    // Interned in order, so that ids are indices of sampleNames().
    std::vector<storage::NameId> ids{0};
    for (const std::string& name : sampleNames())
        if (!name.empty()) ids.push_back(writer->name(name));
    for (const storage::ModuleRow& module : sampleModules()) writer->module(module);
    for (const storage::SiteRow& site : sampleSites()) writer->site(site);
    writer->lane({1, storage::LaneKind::Thread, "main"});
    const auto trainLoss = writer->tag("train/loss", storage::TagKind::Scalar);
    const auto trainAccuracy = writer->tag("train/accuracy", storage::TagKind::Scalar);
    const auto valLoss = writer->tag("val/loss", storage::TagKind::Scalar);
    const auto valAccuracy = writer->tag("val/accuracy", storage::TagKind::Scalar);
    const auto lr = writer->tag("lr", storage::TagKind::Scalar);
    std::int64_t now = 1'000'000;
    for (int step = 0; step < options.steps; ++step) {
        const double t = static_cast<double>(step) / 18;
        const double wall = info.startWall + step * 0.012;
        const double loss = options.finalLoss +
                            2.25 * std::exp(-t) * (0.9 + 0.3 * uniform(random)) +
                            0.03 * uniform(random);
        const bool nan = options.nanAtEnd && step >= options.steps - 4;
        writer->scalar(trainLoss, {step, wall, nan ? std::nan("") : loss});
        writer->scalar(trainAccuracy,
                       {step, wall, 1 - 0.88 * std::exp(-t) - 0.03 * uniform(random)});
        writer->scalar(lr,
                       {step, wall, 1e-3 * 0.5 * (1 + std::cos(3.14159 * step / options.steps))});
        if (step % 10 == 9) {
            writer->scalar(valLoss, {step, wall, options.finalLoss * 1.6 + 2.1 * std::exp(-t)});
            writer->scalar(valAccuracy, {step, wall, 0.975 - 0.8 * std::exp(-t)});
        }
        if (options.histograms && step % 2 == 0) {
            for (const char* name : {"conv1.weight", "fc.weight.grad"}) {
                storage::Histogram h;
                h.step = step;
                h.wall = wall;
                const double width = 0.08 + 0.002 * step, mean = 0.001 * step;
                h.min = -0.6;
                h.max = 0.6;
                for (int b = 0; b <= 48; ++b) h.edges.push_back(-0.6 + 1.2 * b / 48);
                for (int b = 0; b < 48; ++b) {
                    const double x = (h.edges[static_cast<std::size_t>(b)] + 0.0125 - mean) / width;
                    const double count =
                        std::round(2000 * std::exp(-0.5 * x * x) * (0.9 + 0.2 * uniform(random)));
                    h.counts.push_back(count);
                    h.sum += count * (h.edges[static_cast<std::size_t>(b)] + 0.0125);
                    h.sumSquares += count * (width * width + mean * mean);
                }
                writer->histogram(writer->tag(name, storage::TagKind::Histogram), h);
            }
        }
        const std::int64_t start = now;
        if (options.events) {
            std::vector<OpEvent> events;
            std::vector<MemoryEvent> memory;
            now = appendStepEvents(events, memory, step, now, random);
            for (OpEvent& e : events) e.name = ids[e.name];
            writer->opEvents(std::move(events));
            writer->memoryEvents(std::move(memory));
        } else {
            now += 5'000'000;
        }
        if (step == 0) {
            storage::Graph graph;
            graph.id = 1;
            graph.signature = 77;
            storage::GraphNode node;
            node.op = "conv2d";
            node.module = 2;
            node.site = 1;
            node.phase = Phase::Forward;
            node.outputs = "f32[64,32,8,8]";
            graph.nodes.push_back(node);
            writer->graph(graph);
        }
        writer->step({step, start, now, 1, 3'000'000});
    }
    if (options.seal) {
        if (const auto status = writer->seal(storage::RunOutcome::Finished); !status.ok())
            qWarning("%s", status.message().c_str());
    }
    return writer;
}

bool waitUntil(const std::function<bool()>& condition) {
    return QTest::qWaitFor(condition, 10'000);
}

void keepShot(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("TAPESCOPE_SHOTS");
    if (folder.isEmpty()) return;
    QDir().mkpath(folder);
    widget.grab().save(folder + u'/' + name + QStringLiteral(".png"));
}

}  // namespace tapescope::viewers::test
