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

}  // namespace stack_parameters_test
