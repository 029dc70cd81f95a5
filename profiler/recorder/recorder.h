// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/observe/observer.h"
#include "storage/tape/writer.h"

#include <memory>
#include <string>
#include <vector>

namespace tapescope::profiler {

struct RecorderOptions {
    bool opEvents = true;
    bool memoryEvents = true;
    bool graphs = true;
};

/// Turns what a Context's observers hear into tape records. Owns nothing of the model; the writer
/// must outlive it. Events are buffered per thread (4096) and handed over at step ends, when a
/// buffer is full, and by flush().
class Recorder final : public engine::Observer {
public:
    Recorder(storage::TapeWriter& writer, RecorderOptions options = {});
    ~Recorder() override;

    /// The module tree, parameter names (leaves of graphs) and sources. Before the first step.
    void describeModel(const engine::nn::Module& root);
    void describeSources(std::vector<storage::SourceRow> sources);
    /// At a debugger's stop, on the model's thread: writes the partial graph of the running step
    /// and commits, so that a viewer of the tape sees everything up to here.
    storage::Status flush();
    /// Summaries and the last buffers; call before TapeWriter::seal().
    void finish();

    void onOpBegin(const engine::OpCall& call) override;
    void onOpEnd(const engine::OpCall& call) override;
    void onOpError(const engine::OpCall& call, std::string_view message) override;
    void onModuleEnter(const engine::ModuleFrame& frame) override;
    void onModuleExit(const engine::ModuleFrame& frame) override;
    void onBackwardBegin(const engine::BackwardFrame& frame) override;
    void onBackwardEnd(const engine::BackwardFrame& frame,
                       std::span<const engine::Tensor> gradInputs) override;
    void onStepBegin(std::int64_t step) override;
    void onStepEnd(std::int64_t step) override;
    void onMemory(const engine::MemoryEvent& event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::profiler
