// Fits what engines add to kernels (hardware/stacks, kind "fitted") to serving runs without speculation, and says how far the
// result is from runs that it did not see.
//
// Reads ../shared/data/serving/silicon_tpot.csv: dense models, all answer lengths, queued rows left out. Free are, for each
// engine at a version, host_per_pass, host_per_sequence and per_layer (and prompt_wait of SGLang), which both cost modes share;
// and for each cost mode and number format the speed of linear layers, which all engines share. Both modes are fitted at once,
// by robust least squares of relative errors (calibrate/stack_fit_parts.h). Times are nearly linear in these numbers; they are
// linearised around the last result until that no longer changes.
//
// Prints the numbers with 90 % intervals, and errors of families (engine, device, model, format and ranks), devices and models
// left out whole. With --stacks it prints the numbers as lines "stack<TAB>key<TAB>value<TAB>low<TAB>high" for scripts.
// With --document it prints the table of docs/cost-model.md, section 2.4, to put between its marks.
// Exits with 77 without the data and with 1 when families left out miss a goal below or that table is stale.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "document_block.h"
#include "serving_rows.h"
#include "shared_measurements.h"
#include "stack_numbers.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr Goals goals = {0.05, 0.13, 0.02};
constexpr std::array fitted_formats = {sim::NumberFormat::bf16, sim::NumberFormat::fp8, sim::NumberFormat::fp4};

sim::LinearSpeed& speed_in(sim::Stack& stack, sim::CostMode mode, sim::NumberFormat format) {
    sim::LinearSpeeds& speeds = mode == sim::CostMode::calibrated ? stack.calibrated.value().linear_speed : stack.linear_speed;
    return speeds[static_cast<std::size_t>(format)];
}

/// Times are nearly linear in the time that a byte or FLOP takes, 1 / speed.
Number speed_number(sim::CostMode mode, sim::NumberFormat format, bool memory) {
    const double least = mode == sim::CostMode::calibrated ? 0.85 : 0.92;  // nothing runs faster than the data sheet
    Number number{
        "",
        fmt::format("{} linear_speed.{}.{}", name_of(mode), name_of(format), memory ? "memory" : "compute"),
        1.0,
        memory ? least : 0.7,
        2.5,
        0.02,
        0.2,
        [mode, format](const sim::RoundSetup& setup) { return setup.platform.mode == mode && setup.precision.math == format; },
        [mode, format, memory](sim::Stack& stack, double value) {
            sim::LinearSpeed& speed = speed_in(stack, mode, format);
            (memory ? speed.memory : speed.compute) = 1.0 / value;
        }};
    number.is_speed = true;
    return number;
}

std::vector<Number> numbers_for(const std::vector<ServingRow>& rows) {
    std::set<std::string> stacks;
    for (const ServingRow& row : rows) {
        stacks.insert(stack_of(row));
    }
    std::vector<Number> numbers;
    for (const std::string& stack : stacks) {
        if (stack == "tensorrt-llm-1.2") {
            continue;  // three runs; treeline_mixture_fit has more
        }
        numbers.push_back(host_number(stack, "per_layer", &sim::Stack::per_layer, 10e-6, 60e-6, 15e-6));
        numbers.push_back(host_number(stack, "host_per_pass", &sim::Stack::host_per_pass, 300e-6, 3e-3, 400e-6));
        numbers.push_back(host_number(stack, "host_per_sequence", &sim::Stack::host_per_sequence, 10e-6, 100e-6, 8e-6));
        if (stack.starts_with("sglang")) {
            numbers.push_back({stack, "prompt_wait", 0.8, 0.3, 1.0, 0.02, 0.3,
                               [stack](const sim::RoundSetup& setup) { return setup.platform.stack.name == stack; },
                               [](sim::Stack& of, double value) { of.prompt_wait = value; }});
        }
    }
    for (const sim::CostMode mode : fitted_modes) {
        for (const sim::NumberFormat format : fitted_formats) {
            numbers.push_back(speed_number(mode, format, true));
            numbers.push_back(speed_number(mode, format, false));
        }
    }
    return numbers;
}

Case case_of(const ServingRow& row, sim::CostMode mode) {
    return {fmt::format("{} {} {} {} {}", row.backend, row.system, row.model, row.precision, row.ranks),
            row.system,
            row.model.substr(row.model.find('/') + 1, 12),
            1e-3 * row.tpot_ms,
            row.osl,
            setup_of(row, mode),
            point_of(row)};
}

std::string batch_class(const Case& at) {
    return at.point.batch < 5    ? "batch 1 to 4"
           : at.point.batch < 17 ? "batch 5 to 16"
           : at.point.batch < 64 ? "batch 17 to 63"
                                 : "batch 64 up";
}
std::string answer_class(const Case& at) {
    return at.answer_tokens < 150 ? "answers below 150" : at.answer_tokens < 1024 ? "answers 150 to 1,023" : "answers 1,024 up";
}
const Key device = [](const Case& at) { return at.device; };
const Key model_name = [](const Case& at) { return at.model; };

DocumentBlock document(const std::vector<Case>& cases, const AllErrors& errors) {
    const auto everything = [](const Case&) { return true; };
    const auto row = [&](const char* name, const Errors& of, const std::function<bool(const Case&)>& belongs) {
        return fmt::format("| {} | {} | {} |\n", name, cell_of(of_cases(cases, of, sim::CostMode::calibrated, belongs)),
                           cell_of(of_cases(cases, of, sim::CostMode::roofline, belongs)));
    };
    return {"cost-model.md", "engines", "treeline_engine_fit",
            "| left out whole | calibrated: median, p90, bias | roofline |\n|---|---|---|\n" +
                row("nothing", errors.seen, everything) +
                row("families (engine, device, model, format, ranks)", errors.by_family, everything) +
                row("… with 8 ranks", errors.by_family, [](const Case& at) { return at.setup.platform.ranks == 8.0; }) +
                row("… at batch 64 and above", errors.by_family, [](const Case& at) { return at.point.batch >= 64.0; }) +
                row("devices", errors.by_device, everything) + row("models", errors.by_model, everything)};
}

void print_errors(const std::vector<Case>& cases, const AllErrors& all) {
    const auto& [seen, errors, by_device, by_model] = all;
    for (const sim::CostMode mode : fitted_modes) {
        fmt::print("\n{} mode\n", name_of(mode));
        print("fitted", of_mode(cases, seen, mode));
        print("families left out", of_mode(cases, errors, mode));
        for (const Key& key :
             {Key([](const Case& at) { return fmt::format("  {} ranks", at.setup.platform.ranks); }), Key(batch_class),
              Key(answer_class), Key([](const Case& at) { return at.setup.platform.stack.name; }), device}) {
            print_by(cases, errors, mode, key);
        }
        print("devices left out", of_mode(cases, by_device, mode));
        print_by(cases, by_device, mode, device);
        print("models left out", of_mode(cases, by_model, mode));
        print_by(cases, by_model, mode, model_name);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const bool for_scripts = count > 1 && std::strcmp(arguments[1], "--stacks") == 0;
    const bool for_document = count > 1 && std::strcmp(arguments[1], "--document") == 0;
    const auto measured = shared_measurements("data/serving/silicon_tpot.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<ServingRow> rows = read_serving_rows(*measured);
    std::erase_if(rows, [](const ServingRow& row) { return !usable(row); });
    const std::vector<Number> numbers = numbers_for(rows);
    std::vector<Case> cases;
    for (const sim::CostMode mode : fitted_modes) {
        for (const ServingRow& row : rows) {
            cases.push_back(case_of(row, mode));
        }
    }
    const FittedNumbers fitted = fit_numbers(cases, numbers);
    if (for_scripts) {
        print_numbers(numbers, fitted.solution, true);
        return 0;
    }
    const AllErrors errors = all_errors(fitted, numbers, cases);
    const DocumentBlock block = document(cases, errors);
    if (for_document) {
        fmt::print("{}", text_of(block));
        return 0;
    }
    fmt::print("{} numbers fitted to {} runs in two cost modes\n", numbers.size(), rows.size());
    print_numbers(numbers, fitted.solution, false);
    print_errors(cases, errors);
    const bool good = std::all_of(fitted_modes.begin(), fitted_modes.end(),
                                  [&](sim::CostMode mode) { return meets(of_mode(cases, errors.by_family, mode), goals); });
    return good && is_fresh(block) ? 0 : 1;
}
