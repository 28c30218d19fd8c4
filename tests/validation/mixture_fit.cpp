// Fits what engines add for mixtures of experts (hardware/stacks, kind "fitted") to serving runs without speculation, and says
// how far the result is from runs that it did not see.
//
// Reads ../shared/data/serving/silicon_tpot_moe.csv as `treeline validate --serving` does, with its rules on what is left out.
// What treeline_engine_fit fitted to dense models stays. Free are
// - per_expert_layer of each engine; of TensorRT-LLM up to 1.1, whose experts ran as more kernels, apart;
// - host_per_pass and host_per_sequence of versions of which there are hardly any dense runs (vLLM 0.14, TensorRT-LLM 1.2);
//   mixtures of about the same depth cannot tell host_per_pass from per_layer, which stays that of the version before.
// Experts themselves are priced by the laws of measured kernels as they are.
// They are fitted in calibrated mode, which is the default for these stacks (stack_numbers.h).
//
// Prints the numbers with 90 % intervals, and errors of families (engine, device, model, format and cut), models and devices
// left out whole. With --stacks it prints the numbers as lines "stack<TAB>key<TAB>value<TAB>low<TAB>high" for scripts.
// With --document it prints the table of docs/cost-model.md, section 2.4, to put between its marks.
// Exits with 77 without the data and with 1 when families left out miss a goal below or that table is stale.
#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "document_block.h"
#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "stack_numbers.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"

using namespace treeline;
using namespace treeline::validation;
using namespace treeline::testing;

namespace {

constexpr Goals goals = {0.10, 0.25, 0.03};

/// Whose expert layers a stack has.
std::string engine_of(const std::string& stack) {
    const bool has_many_kernels = stack == "tensorrt-llm-1.0" || stack == "tensorrt-llm-1.1";
    return has_many_kernels ? "tensorrt-llm-1.0, 1.1" : stack.substr(0, stack.rfind('-'));
}

Number expert_layer(const std::string& engine) {
    Number number{engine,
                  "per_expert_layer",
                  25e-6,
                  0.0,
                  200e-6,
                  1e-6,
                  25e-6,
                  [engine](const sim::RoundSetup& setup) { return engine_of(setup.platform.stack.name) == engine; },
                  [](sim::Stack& stack, double value) { stack.per_expert_layer = Seconds(value); }};
    number.is_time = true;
    return number;
}

std::vector<Number> free_numbers() {
    std::vector<Number> numbers;
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "tensorrt-llm-1.0, 1.1"}) {
        numbers.push_back(expert_layer(engine));
    }
    for (const char* stack : {"vllm-0.14", "tensorrt-llm-1.2"}) {
        numbers.push_back(host_number(stack, "host_per_pass", &sim::Stack::host_per_pass, 300e-6, 3e-3, 300e-6));
        numbers.push_back(host_number(stack, "host_per_sequence", &sim::Stack::host_per_sequence, 10e-6, 100e-6, 8e-6));
    }
    return numbers;
}

/// The plain name of an engine is its newest version.
std::string version_of(const std::string& stack) {
    return stack == "vllm"           ? "vllm-0.14"
           : stack == "tensorrt-llm" ? "tensorrt-llm-1.2"
           : stack == "sglang"       ? "sglang-0.5.6"
                                     : stack;
}

Case case_of(const MeasuredPoint& point, const ServingParts& parts) {
    const auto group = [&](Grouping grouping) { return group_of(point, parts, grouping); };
    sim::RoundSetup setup = setup_of(point, parts, sim::CostMode::calibrated);
    setup.platform.stack.name = version_of(point.stack);
    // DeepSeek-R1 and -V3 are one model to an engine.
    const std::string model = point.model == "deepseek-r1" ? "deepseek-v3" : point.model;
    return {fmt::format("{} {} {} {} {}", group(Grouping::engine), point.device, model, group(Grouping::format),
                        text_of(point.cut.tensor, point.cut.parallel)),
            point.device,
            model,
            point.measured,
            point.output_tokens,
            std::move(setup),
            {0, point.batch, point.context}};
}

std::string cut_of(const Case& at) {
    const sim::Parallelism& parallel = at.setup.platform.parallel;
    return parallel.data > 1.0             ? "attention data parallel"
           : parallel.experts > 1.0        ? "experts dealt out"
           : at.setup.platform.ranks > 1.0 ? "tensor parallel"
                                           : "one device";
}

const Key device = [](const Case& at) { return at.device; };
const Key model_name = [](const Case& at) { return at.model; };
const Key stack_name = [](const Case& at) { return at.setup.platform.stack.name; };

DocumentBlock document(const std::vector<Case>& cases, const AllErrors& errors) {
    const auto row = [](const std::string& name, const Errors& of) { return fmt::format("| {} | {} |\n", name, cell_of(of)); };
    const auto cut = [&](const std::string& remark, const std::string& name) {
        const Errors of =
            of_cases(cases, errors.by_family, sim::CostMode::calibrated, [&](const Case& at) { return cut_of(at) == name; });
        return row(fmt::format("… {} ({} runs{})", name, of.size(), remark), of);
    };
    return {"cost-model.md", "mixtures", "treeline_mixture_fit",
            "| left out whole | median, p90, bias |\n|---|---|\n" + row("nothing", errors.seen) +
                row("families (engine, device, model, format, cut)", errors.by_family) + cut("", "tensor parallel") +
                cut("", "experts dealt out") + cut(", gpt-oss on B200", "one device") +
                cut(" of TensorRT-LLM", "attention data parallel") + row("models", errors.by_model) +
                row("devices", errors.by_device)};
}

void print_errors(const std::vector<Case>& cases, const AllErrors& all) {
    const auto& [seen, errors, by_device, by_model] = all;
    print("fitted", seen);
    print("families left out", errors);
    for (const Key& key : {Key(cut_of), stack_name, model_name, device}) {
        print_by(cases, errors, sim::CostMode::calibrated, key);
    }
    print("devices left out", by_device);
    print_by(cases, by_device, sim::CostMode::calibrated, device);
    print("models left out", by_model);
    print_by(cases, by_model, sim::CostMode::calibrated, model_name);
}

}  // namespace

int main(int count, char** arguments) {
    const bool for_scripts = count > 1 && std::strcmp(arguments[1], "--stacks") == 0;
    const bool for_document = count > 1 && std::strcmp(arguments[1], "--document") == 0;
    const auto measured = shared_measurements("data/serving/silicon_tpot_moe.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const std::vector<MeasuredPoint> points = points_of(requests::read_serving_rows(*measured, notes), parts).points;
    std::vector<Case> cases;
    for (const MeasuredPoint& point : points) {
        cases.push_back(case_of(point, parts));
    }
    const std::vector<Number> numbers = free_numbers();
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
    fmt::print("{} numbers fitted to {} runs\n", numbers.size(), points.size());
    print_numbers(numbers, fitted.solution, false);
    print_errors(cases, errors);
    return meets(errors.by_family, goals) && is_fresh(block) ? 0 : 1;
}
