// SPDX-License-Identifier: Apache-2.0
#include "test_client.h"

#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/optim/sgd.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

namespace tapescope::app {
namespace {

using namespace engine;

struct TinyNet : nn::Module {
    TinyNet() : Module("TinyNet") {
        conv = register_module<nn::Conv2d>("conv", 1, 2, 3, nn::Conv2dOptions{.padding = 1});
        fc = register_module<nn::Linear>("fc", 32, 2);
    }
    Tensor forward(const Tensor& x) override {
        Tensor h = conv(x);
        h = relu(h);
        h = flatten(h, 1);
        return fc(h);
    }
    nn::ModuleRef<nn::Conv2d> conv;
    nn::ModuleRef<nn::Linear> fc;
};

class TinyProgram final : public plugins::Program {
public:
    enum class Fault { None, Shape, Foreign };
    TinyProgram(const plugins::ProgramOptions& options, Fault fault)
        : m_optimizer(m_net.parameters(), {.lr = options.settings.real("lr")}), m_fault(fault) {}

    nn::Module& model() override { return m_net; }
    void trainStep(std::int64_t step, plugins::RunLog& log) override {
        std::vector<float> pixels(32);
        std::iota(pixels.begin(), pixels.end(), static_cast<float>(step));
        const Tensor x = Tensor::from<float>(std::span<const float>(pixels), {2, 1, 4, 4});
        m_optimizer.zero_grad();
        const Tensor y = m_net(x);
        if (m_fault == Fault::Shape && step == 1) add(y, x);
        if (m_fault == Fault::Foreign && step == 1) throw std::runtime_error("the disk is on fire");
        const Tensor loss = cross_entropy(y, Tensor::from<std::int64_t>({0, 1}, {2}));
        loss.backward();
        m_optimizer.step();
        log.scalar("train/loss", step, loss.item());
    }
    bool validationDue(std::int64_t) const override { return false; }
    void validate(std::int64_t step, plugins::RunLog& log) override {
        log.scalar("val/loss", step, 0.5);
    }
    std::int64_t samplesPerStep() const override { return 2; }

private:
    TinyNet m_net;
    optim::SGD m_optimizer;
    Fault m_fault;
};

plugins::ModelEntry entry(const std::string& name, TinyProgram::Fault fault) {
    plugins::ModelEntry model;
    model.name = name;
    model.summary = "a test";
    model.settings = {{.name = "lr", .defaultValue = 1e-3, .help = "learning rate"}};
    model.defaultSteps = 3;
    model.sources = {{Site().file, "// the text of test_client.cpp\n"}};
    model.create = [fault](const plugins::ProgramOptions& options) {
        return std::make_unique<TinyProgram>(options, fault);
    };
    return model;
}

}  // namespace

const plugins::ModelRegistry& testModels() {
    static const plugins::ModelRegistry registry = [] {
        plugins::ModelRegistry models;
        models.add(entry("tiny", TinyProgram::Fault::None));
        models.add(entry("broken", TinyProgram::Fault::Shape));
        models.add(entry("thrower", TinyProgram::Fault::Foreign));
        return models;
    }();
    return registry;
}

TestClient::TestClient()
    : m_session(testModels(), m_transport), m_thread([this] { m_session.serve(); }) {}

TestClient::~TestClient() { finish(); }

void TestClient::finish() {
    m_transport.endInput();
    if (m_thread.joinable()) m_thread.join();
}

Json TestClient::nextMessage() {
    while (true) {
        if (auto item = m_reader.next()) {
            if (item->isFault)
                throw std::runtime_error("the adapter wrote no frame: " + item->text);
            return Json::parse(item->text);
        }
        const std::string bytes = m_transport.take();
        if (bytes.empty()) throw std::runtime_error("the adapter said nothing for a minute");
        m_reader.feed(bytes);
    }
}

Json TestClient::nextResponse() {
    while (m_responses.empty()) {
        Json message = nextMessage();
        (message["type"] == "event" ? m_events : m_responses).push_back(std::move(message));
    }
    Json response = std::move(m_responses.front());
    m_responses.pop_front();
    return response;
}

Json TestClient::event(const std::string& name) {
    const auto named = [&](const Json& message) { return message["event"] == name; };
    auto at = std::find_if(m_events.begin(), m_events.end(), named);
    while (at == m_events.end()) {
        Json message = nextMessage();
        (message["type"] == "event" ? m_events : m_responses).push_back(std::move(message));
        at = std::find_if(m_events.begin(), m_events.end(), named);
    }
    Json body = at->value("body", Json::object());
    m_events.erase(at);
    return body;
}

bool TestClient::hasEvent(const std::string& name) const {
    return std::any_of(m_events.begin(), m_events.end(),
                       [&](const Json& e) { return e["event"] == name; });
}

Json TestClient::request(const std::string& command, const Json& arguments) {
    const std::int64_t seq = ++m_seq;
    sendBody(Json{{"seq", seq}, {"type", "request"}, {"command", command}, {"arguments", arguments}}
                 .dump());
    Json response = nextResponse();
    EXPECT_EQ(response["request_seq"], seq);
    EXPECT_EQ(response["command"], command);
    return response;
}

Json TestClient::ask(const std::string& command, const Json& arguments) {
    Json response = request(command, arguments);
    EXPECT_TRUE(response["success"].get<bool>()) << response.dump(2);
    return response.value("body", Json::object());
}

std::string TestClient::refusal(const std::string& command, const Json& arguments) {
    const Json response = request(command, arguments);
    EXPECT_FALSE(response["success"].get<bool>()) << response.dump(2);
    return response.value("message", "");
}

void TestClient::initialize() {
    ask("initialize", {{"adapterID", "tapescope"}});
    event("initialized");
}

Json TestClient::startTiny(const std::vector<std::string>& functionBreakpoints, Json launch) {
    initialize();
    Json list = Json::array();
    for (const std::string& name : functionBreakpoints) list.push_back({{"name", name}});
    launch.emplace("model", "tiny");
    ask("launch", launch);
    ask("setFunctionBreakpoints", {{"breakpoints", list}});
    ask("configurationDone");
    return event("stopped");
}

Json TestClient::go(const std::string& command, const Json& arguments) {
    ask(command, arguments);
    return event("stopped");
}

std::vector<Json> TestClient::frames() {
    return ask("stackTrace", {{"threadId", 1}})["stackFrames"];
}

Json TestClient::scope(const std::string& name, std::size_t frame) {
    const Json list = ask("scopes", {{"frameId", frames().at(frame)["id"]}})["scopes"];
    for (const Json& each : list) {
        if (each["name"] == name) {
            return ask("variables",
                       {{"variablesReference", each["variablesReference"]}})["variables"];
        }
    }
    return Json::array();
}

Json TestClient::variable(const std::string& scopeName, const std::string& name) {
    for (const Json& each : scope(scopeName)) {
        if (each["name"] == name) return each;
    }
    ADD_FAILURE() << "no variable " << name << " in " << scopeName;
    return Json::object();
}

std::vector<std::byte> decodeBase64(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::byte> out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6U | static_cast<std::uint32_t>(digits.find(c));
        count += 6;
        if (count >= 8)
            out.push_back(static_cast<std::byte>(bits >> static_cast<unsigned>(count -= 8) & 255U));
    }
    return out;
}

std::string nameAt(const Json& stop) {
    const std::string module = stop["tapescope"]["module"];
    const std::string op = stop["tapescope"]["operator"];
    return module.empty() ? op : op.empty() ? module : module + ": " + op;
}

}  // namespace tapescope::app
