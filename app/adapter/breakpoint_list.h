// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/protocol.h"
#include "engine/debug/debugger.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tapescope::app {

/// The client's breakpoints: function breakpoints and, by file, those of lines. Keeps the
/// Debugger's list in step and knows what each was last reported as. Requests come on the session's
/// thread, changes() also on the model's.
class BreakpointList final {
public:
    explicit BreakpointList(engine::debug::Debugger& debugger) : m_debugger(debugger) {}

    /// Arguments of setFunctionBreakpoints and setBreakpoints; return the response's body. Throw
    /// RequestError.
    Json setFunctions(const Json& arguments);
    Json setLines(const Json& arguments, std::int64_t firstLine);

    /// The model is there: names that only it can tell are looked up.
    void setModel(const engine::nn::Module* root);
    /// Breakpoint objects whose verification has changed since they were last reported: after
    /// setModel(), and of lines that have been hit since.
    std::vector<Json> changes();
    bool isLine(int id) const;
    std::vector<int> hits(const std::vector<int>& ids) const;

private:
    struct Item {
        engine::debug::Breakpoint breakpoint;
        std::string message;  ///< why it cannot stop, as reported
        bool verified = false;
        bool valid = true;  ///< false: the debugger does not get it
        std::int64_t shownLine = 0;
    };
    Item functionItem(const Json& given) const;
    void verify(Item& item) const;
    void publish();
    static Json describe(const Item& item);

    engine::debug::Debugger& m_debugger;
    mutable std::mutex m_mutex;  // guards all below
    const engine::nn::Module* m_root = nullptr;
    std::vector<Item> m_functions;
    std::map<std::string, std::vector<Item>> m_lines;
    std::vector<Json> m_changes;
};

}  // namespace tapescope::app
