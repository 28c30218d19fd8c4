// The numbers of stacks (sim/stack_parameters.h): is each read from its key, checked by its range, scaled with its host, and
// described?
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "sim/stack_parameters.h"
#include "source_folder.h"

namespace stack_parameters_test {

using namespace treeline;
using sim::Stack;
using sim::StackParameter;

namespace {

std::string readme() {
    std::ifstream file(testing::source_folder() / "hardware/README.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Stack usable() {
    Stack stack;
    stack.name = stack.title = "a stack";
    return stack;
}

/// As a file would state it.
nlohmann::json stated(const StackParameter& parameter, double value) {
    nlohmann::json number = {{"value", value}, {"source", "a test"}, {"kind", "assumed"}};
    if (parameter.unit != sim::StackUnit::ratio) {
        number["unit"] = parameter.unit == sim::StackUnit::seconds ? "s" : "B";
    }
    return number;
}

}  // namespace

TEST_CASE("each number of a stack is described by one line of hardware/README.md, with what holds without it") {
    const std::string page = readme();
    for (const StackParameter& parameter : sim::stack_parameters()) {
        const std::string otherwise = parameter.is_required() ? "" : fmt::format(" {} |", parameter.otherwise);
        const std::string line = fmt::format("\n| `{}` | {} |{}\n", parameter.name, parameter.meaning, otherwise);
        INFO("hardware/README.md lacks this line:" << line);
        CHECK(page.find(line) != std::string::npos);
    }
}

TEST_CASE("numbers of a stack have names of their own, and follow those whose values they take") {
    std::set<std::string_view> before;
    for (const StackParameter& parameter : sim::stack_parameters()) {
        INFO(parameter.name);
        CHECK((parameter.as.empty() || before.count(parameter.as) == 1));
        CHECK(before.insert(parameter.name).second);
        CHECK(parameter.low < parameter.high);
        CHECK((!parameter.may_be_fitted() || (parameter.fit_low > 0.0 && parameter.fit_low >= parameter.low &&
                                              parameter.fit_low < parameter.fit_high && parameter.fit_high <= parameter.high)));
    }
    CHECK(before.size() > 50);
}

TEST_CASE("a number of a stack is what was set, and is refused beyond its range by name") {
    for (const StackParameter& parameter : sim::stack_parameters()) {
        INFO(parameter.name);
        Stack stack = usable();
        CHECK(problems_of(stack).empty());
        parameter.set(stack, parameter.high);
        CHECK(parameter.get(stack) == parameter.high);
        CHECK(problems_of(stack).empty());
        for (const double wrong : {2.0 * parameter.high, -1.0, std::nan(""), HUGE_VAL}) {
            parameter.set(stack, wrong);
            REQUIRE(problems_of(stack).size() == 1);
            CHECK(problems_of(stack).front().starts_with(std::string(parameter.name) + " must lie between "));
        }
    }
}

TEST_CASE("times of a host are longer on a slow one, and nothing else is") {
    for (const StackParameter& parameter : sim::stack_parameters()) {
        INFO(parameter.name);
        Stack stack = usable();
        stack.scales_with_host = true;
        parameter.set(stack, parameter.high / 4.0);
        const double slow = parameter.get(stack.on_host(0.5));
        CHECK(slow == (parameter.on_host ? parameter.high / 2.0 : parameter.high / 4.0));
        stack.scales_with_host = false;
        CHECK(parameter.get(stack.on_host(0.5)) == parameter.high / 4.0);
    }
}

TEST_CASE("a file of a stack states each number by its name") {
    const nlohmann::json ideal = nlohmann::json::parse(std::ifstream(testing::source_folder() / "hardware/stacks/ideal.json"));
    for (const StackParameter& parameter : sim::stack_parameters()) {
        INFO(parameter.name);
        nlohmann::json file = ideal;
        file[std::string(parameter.name)] = stated(parameter, parameter.high / 2.0);
        json::Document document = json::Document::parse(file.dump(), "in");
        json::Reader reader = document.root();
        const Stack stack = hardware::read_stack(reader, "mine");
        CHECK_NOTHROW(document.throw_if_problems());
        CHECK(parameter.get(stack) == Approx(parameter.high / 2.0));
    }
}

TEST_CASE("a number of a stack that may be missing says where it holds, and elsewhere is missing") {
    const nlohmann::json ideal = nlohmann::json::parse(std::ifstream(testing::source_folder() / "hardware/stacks/ideal.json"));
    const sim::Model dense = models::load_model(testing::source_folder() / "models", "llama-3.1-8b").value;
    sim::Device device;
    device.compute_capability = 10.3;
    for (const StackParameter& parameter : sim::stack_parameters()) {
        INFO(parameter.name);
        nlohmann::json file = ideal;
        nlohmann::json& number = file[std::string(parameter.name)] = stated(parameter, parameter.high / 2.0);
        number["where"] = {{"models", {"dense", "mixture"}}, {"not_on", {9, 12}}};
        json::Document document = json::Document::parse(file.dump(), "in");
        json::Reader reader = document.root();
        const Stack stack = hardware::read_stack(reader, "mine");
        CHECK(document.problems().empty() == parameter.may_be_missing());
        if (!parameter.may_be_missing()) {
            continue;
        }
        CHECK(problems_of(stack).empty());
        REQUIRE(stack.conditions.size() == 1);
        CHECK(parameter.get(stack.where(dense, sim::Precision{}, device)) == Approx(parameter.high / 2.0));
        device.compute_capability = 9.0;
        const Stack elsewhere = stack.where(dense, sim::Precision{}, device);
        CHECK(parameter.get(elsewhere) ==
              (parameter.as.empty() ? parameter.get(Stack{}) : sim::stack_parameter(parameter.as).get(elsewhere)));
        device.compute_capability = 10.3;
    }
}

TEST_CASE("conditions and curves of a stack are checked") {
    const nlohmann::json ideal = nlohmann::json::parse(std::ifstream(testing::source_folder() / "hardware/stacks/ideal.json"));
    const auto problem = [&](const char* key, const char* value) {
        nlohmann::json file = ideal;
        file[key] = nlohmann::json::parse(value);
        json::Document document = json::Document::parse(file.dump(), "in");
        json::Reader reader = document.root();
        static_cast<void>(hardware::read_stack(reader, "mine"));
        REQUIRE(document.problems().size() == 1);
        return document.problems().front();
    };
    using Catch::Contains;
    CHECK_THAT(problem("host_per_tree", R"({"value": 1, "unit": "us", "source": "s", "kind": "assumed",
                                           "where": {"models": ["moe"]}})"),
               Contains("kinds of models are dense, mixture, hybrid and hybrid mixture"));
    CHECK_THAT(problem("host_per_tree", R"({"value": 1, "unit": "us", "source": "s", "kind": "assumed",
                                           "where": {"model": ["mixture"]}})"),
               Contains("host_per_tree.where.model"));
    CHECK_THAT(problem("row_curves", R"([{"of": "attention"}])"), Contains("row_curves[0].of"));
    CHECK_THAT(problem("row_curves", R"([{"of": "linear", "tile": {"value": 2000, "source": "s", "kind": "assumed"}}])"),
               Contains("row_curves[0].tile"));
    CHECK_THAT(problem("row_curves", R"([{"of": "linear", "rows": 8}])"), Contains("row_curves[0].rows"));
    CHECK_THAT(problem("format_needs",
                       R"([{"weights": "fp9", "least_capability": {"value": 8, "source": "s", "kind": "published"}}])"),
               Contains("format_needs[0].weights") && Contains("fp8"));
    CHECK_THAT(problem("format_needs", R"([{"weights": "fp8", "capability": 8,
                                           "least_capability": {"value": 8, "source": "s", "kind": "published"}}])"),
               Contains("format_needs[0].capability"));
    CHECK_THAT(problem("format_needs", R"([{"weights": "fp8", "least_capability": 8.9}])"),
               Contains("format_needs[0].least_capability"));
}

TEST_CASE("host time of a round is counted by the drivers that its numbers name") {
    Stack stack = usable();
    std::size_t named = 0;
    for (const StackParameter& parameter : sim::stack_parameters()) {
        for (std::size_t i = 0; i < sim::host_driver_count; ++i) {
            Stack of_one;
            const auto driver = static_cast<sim::HostDriver>(i);
            of_one.host[driver] = Seconds(1.0);
            if (parameter.get(of_one) == 1.0 && parameter.get(Stack{}) == 0.0) {
                INFO(parameter.name);
                CHECK(parameter.unit == sim::StackUnit::seconds);
                parameter.set(stack, 1e-6 * static_cast<double>(1 + i));
                ++named;
            }
        }
    }
    CHECK(named == sim::host_driver_count - 1);  // all but draft_state, which launches make
    stack.launching.eager_launch = Seconds(2e-6);
    stack.launching.calls_per_draft_layer = 3.0;
    const sim::HostTimes times = sim::host_times(stack);
    sim::HostCounts counts;
    double fixed = 0.0, per_sequence = 0.0;
    for (std::size_t i = 0; i < sim::host_driver_count; ++i) {
        const auto driver = static_cast<sim::HostDriver>(i);
        const double us = driver == sim::HostDriver::draft_state ? 6.0 : 1.0 + static_cast<double>(i);
        CHECK(times[driver].value() == Approx(1e-6 * us));
        counts[driver] = static_cast<double>(i % 3);
        double& sum = driver < sim::first_of_sequences ? fixed : per_sequence;
        sum += driver < sim::HostDriver::sequence ? us * counts[driver] : 0.0;
    }
    const sim::HostLine line = sim::line_of_round(times, counts);
    CHECK(line.fixed.value() == Approx(1e-6 * fixed));
    CHECK(line.per_sequence.value() == Approx(1e-6 * per_sequence));
    CHECK(line.at(4.0).value() == Approx(1e-6 * (fixed + 4.0 * per_sequence)));
    CHECK(sim::step_of_sequence(times, 5.0).value() == Approx(1e-6 * (17.0 + 5.0 * 18.0)));
    CHECK(sim::step_of_emitted_token(times, 3.0).value() == Approx(1e-6 * (19.0 + 3.0 * 20.0)));
}

}  // namespace stack_parameters_test
