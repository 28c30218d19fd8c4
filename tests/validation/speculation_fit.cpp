// Fits what a round of speculation adds in vLLM 0.10 (hardware/stacks/vllm-0.10.json: host_per_round, host_per_draft_pass and
// host_per_verified_token) to measured speed-ups, and says how far predictions are from the model that was not fitted.
//
// Reads ../shared/data/speculation/measured.json: SpecDecode-Bench (arXiv 2601.11580), vLLM 0.10.1 on one H100, chains of 3 and
// 5 drafts of EAGLE, EAGLE-3, an n-gram look-up and Qwen3-0.6B, batch 1 to 512. Accept lengths come from the authors' traces
// where they published them (Llama, EAGLE-3 and n-gram), and are elsewhere set so that the smallest batch of a series is met,
// which is then not scored. Lengths of prompts and answers are not published; those below are the data sets' usual ones.
// host_per_sequence shrinks by what host_per_verified_token adds, so that plain decoding stays as it was fitted.
//
// Exits with 77 without the data and with 1 when calibrated mode, the default on this platform, misses the goal below. Roofline
// mode is printed beside it: it misses the goal on one of the two models.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/stack_fit_parts.h"
#include "numerics/quantile.h"
#include "numerics/student_t.h"
#include "setups.h"
#include "shared_measurements.h"
#include "text/input_file.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

/// Of each model by a fit to the other one. Roofline misses the goal of calibrated mode: n-gram is 20 % low.
constexpr double goal_median = 0.08, stated_roofline = 0.09;
constexpr int linearisations = 4;

struct Row {
    std::string series, model, drafter, data_set;
    bool thinks = false;
    int draft_tokens = 0;
    double batch = 0.0, speedup = 0.0;
    std::optional<double> accept_length;  ///< of the authors' traces
};

struct Lengths {
    double prompt, answer;
};
const std::map<std::string, Lengths> lengths = {
    {"GSM8K", {94, 165}}, {"CNN/DailyMail", {838, 322}}, {"ShareGPT", {355, 740}}, {"InstructCoder", {171, 250}}};
const std::map<std::string, double> thinking_answers = {
    {"GSM8K", 1500}, {"CNN/DailyMail", 1000}, {"ShareGPT", 1500}, {"InstructCoder", 2000}};

std::vector<Row> read_rows(const std::filesystem::path& path) {
    std::vector<Row> rows;
    const auto json = nlohmann::json::parse(text::read_file(path));
    for (const auto& entry : json.is_array() ? json : json.at("rows")) {
        const std::string series = entry.at("series");
        if (!series.starts_with("sdbench-vllm") || entry.at("speedup").is_null()) {
            continue;
        }
        const std::string data_set = entry.at("dataset");
        const bool known = lengths.contains(data_set);
        if (!known) {
            continue;
        }
        Row row;
        row.series = series;
        row.model = entry.at("target_model");
        row.drafter = entry.at("drafter_type");
        row.data_set = data_set;
        row.thinks = series.starts_with("sdbench-vllm-reasoning");
        row.draft_tokens = entry.at("draft_tokens");
        row.batch = entry.at("batch_or_concurrency");
        row.speedup = entry.at("speedup");
        const auto length = entry.find("accept_length_derived");
        if (length != entry.end() && !length->is_null()) {
            row.accept_length = length->get<double>();
        }
        rows.push_back(row);
    }
    return rows;
}

sim::Drafter drafter_of(const Row& row) {
    if (row.drafter == "ngram") {
        return sim::NgramDrafter{};
    }
    if (row.drafter == "draft model") {
        const sim::Model small = model("qwen3-0.6b");
        return sim::IndependentDrafter{small, small.precision};
    }
    return row.drafter == "eagle" ? sim::OneLayerDrafter{0, 2, sim::OneLayerKind::eagle}
                                  : sim::OneLayerDrafter::published_eagle3();
}

/// A free number of the stack, in seconds.
struct Number {
    const char* key;
    Seconds sim::Stack::*field;
    double start, high;
};
const Number numbers[] = {{"host_per_round", &sim::Stack::host_per_round, 500e-6, 3e-3},
                          {"host_per_draft_pass", &sim::Stack::host_per_draft_pass, 200e-6, 2e-3},
                          {"host_per_verified_token", &sim::Stack::host_per_verified_token, 5e-6, 40e-6}};
using Values = std::vector<double>;

sim::Stack with(sim::Stack stack, const Values& values) {
    for (std::size_t j = 0; j < std::size(numbers); ++j) {
        stack.*numbers[j].field = Seconds(values[j]);
    }
    const Seconds left = stack.host_per_sequence - stack.host_per_verified_token;
    stack.host_per_sequence = left > Seconds(0.0) ? left : Seconds(0.0);
    return stack;
}

double speedup(const Row& row, double batch, double accept_length, const Values& values, sim::CostMode mode) {
    static std::map<std::string, sim::Model> models;
    const bool llama = row.model.starts_with("Llama");
    const auto [place, is_new] = models.try_emplace(llama ? "llama-3.1-8b" : "qwen3-8b");
    if (is_new) {
        place->second = model(place->first);
    }
    static const sim::Platform base = platform("h100-sxm", "vllm-0.10");
    sim::RoundSetup setup;
    setup.target = place->second;
    setup.precision = sim::uniform_precision(sim::NumberFormat::bf16);
    setup.platform = base;
    setup.platform.mode = mode;
    setup.platform.stack = with(base.stack, values);
    setup.drafter = drafter_of(row);
    setup.acceptance = sim::Acceptance::mean_length(accept_length, row.draft_tokens);
    setup.speculations = {sim::chains_up_to(0).front(), sim::chains_up_to(row.draft_tokens).back()};
    setup.prompt_tokens = lengths.at(row.data_set).prompt;
    setup.output_tokens = row.thinks ? thinking_answers.at(row.data_set) : lengths.at(row.data_set).answer;
    const sim::CompiledRound round = sim::compile_round(setup);
    const double context = setup.prompt_tokens + 0.5 * setup.output_tokens;
    return sim::evaluate(round, {1, batch, context}).tokens_per_second_device /
           sim::evaluate(round, {0, batch, context}).tokens_per_second_device;
}

/// A scored row, and the row of its series from which its accept length follows, if it was not traced.
struct Case {
    Row row;
    std::optional<Row> first;
};

std::vector<Case> cases_of(const std::vector<Row>& rows) {
    std::map<std::string, Row> first;
    for (const Row& row : rows) {
        const auto [place, is_new] = first.emplace(row.series, row);
        if (!is_new && row.batch < place->second.batch) {
            place->second = row;
        }
    }
    std::vector<Case> cases;
    for (const Row& row : rows) {
        if (row.accept_length) {
            cases.push_back({row, {}});
        } else if (row.batch > first.at(row.series).batch) {
            cases.push_back({row, first.at(row.series)});
        }
    }
    return cases;
}

double predicted(const Case& at, const Values& values, sim::CostMode mode) {
    double length = at.row.accept_length.value_or(1.0);
    if (at.first) {
        double low = 1.0, high = at.row.draft_tokens + 1.0;
        for (int i = 0; i < 24; ++i) {
            length = 0.5 * (low + high);
            (speedup(*at.first, at.first->batch, length, values, mode) < at.first->speedup ? low : high) = length;
        }
    }
    return speedup(at.row, at.row.batch, length, values, mode);
}

calibrate::stack_fit::Solution fit(const std::vector<Case>& cases, sim::CostMode mode) {
    calibrate::stack_fit::Solution solution;
    for (const Number& number : numbers) {
        solution.values.push_back(number.start);
    }
    for (int i = 0; i < linearisations; ++i) {
        calibrate::stack_fit::Problem problem;
        for (std::size_t j = 0; j < std::size(numbers); ++j) {
            problem.candidates.push_back({solution.values[j], 0.0, numbers[j].high});
        }
        for (const Case& at : cases) {
            calibrate::stack_fit::LinearStep step{at.row.speedup, predicted(at, solution.values, mode), {}, 0};
            for (std::size_t j = 0; j < std::size(numbers); ++j) {
                Values moved = solution.values;
                const double change = 0.02 * numbers[j].high;
                moved[j] += change;
                step.slopes.push_back((predicted(at, moved, mode) - step.before) / change);
            }
            problem.steps.push_back(std::move(step));
        }
        for (std::size_t j = 0; j < std::size(numbers); ++j) {  // numbers that few rows tell apart stay near their start
            calibrate::stack_fit::LinearStep prior{1.0, 1.0, Values(std::size(numbers), 0.0), 0};
            prior.slopes[j] = 0.1 / (0.5 * numbers[j].high);
            prior.before += prior.slopes[j] * (solution.values[j] - numbers[j].start);
            problem.steps.push_back(std::move(prior));
        }
        solution = calibrate::stack_fit::fit(problem, problem.steps, {0, 1, 2}).value();
    }
    return solution;
}

void print_numbers(const char* what, const calibrate::stack_fit::Solution& solution) {
    fmt::print("  {}:", what);
    for (std::size_t j = 0; j < std::size(numbers); ++j) {
        const double half = numerics::student_t(0.9, solution.degrees_of_freedom) * solution.standard_errors[j];
        fmt::print("  {} {:.1f} us (90 %: {:.1f} to {:.1f})", numbers[j].key, 1e6 * solution.values[j],
                   1e6 * std::max(0.0, solution.values[j] - half), 1e6 * (solution.values[j] + half));
    }
    fmt::print("\n");
}

double print(const std::string& name, const std::vector<Case>& cases, const Values& values, sim::CostMode mode) {
    std::vector<double> errors, absolute;
    for (const Case& at : cases) {
        errors.push_back(predicted(at, values, mode) / at.row.speedup - 1.0);
        absolute.push_back(std::abs(errors.back()));
    }
    const double median = numerics::quantile(absolute, 0.5);
    fmt::print("  {:<44} {:>4} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+5.1f} %\n", name, cases.size(),
               100.0 * median, 100.0 * numerics::quantile(absolute, 0.9), 100.0 * numerics::quantile(errors, 0.5));
    return median;
}

template <class Keep>
std::vector<Case> chosen(std::vector<Case> cases, Keep keep) {
    std::erase_if(cases, [&](const Case& at) { return !keep(at); });
    return cases;
}

/// Errors of `cases` by numbers that were fitted elsewhere; returns the median.
double print_slices(const std::string& name, const std::vector<Case>& cases, const Values& values, sim::CostMode mode) {
    const double median = print(name, cases, values, mode);
    for (const bool traced : {true, false}) {
        const auto slice = chosen(cases, [&](const Case& at) { return at.row.accept_length.has_value() == traced; });
        if (!slice.empty()) {
            print(traced ? "  accept lengths of traces" : "  accept length from the smallest batch", slice, values, mode);
        }
    }
    for (const double least : {1.0, 16.0, 64.0, 128.0}) {
        const auto slice = chosen(cases, [&](const Case& at) { return at.row.batch == least; });
        if (!slice.empty()) {
            print(fmt::format("  batch {}", least), slice, values, mode);
        }
    }
    for (const char* drafter : {"eagle", "eagle3", "ngram", "draft model"}) {
        const auto slice = chosen(cases, [&](const Case& at) { return at.row.drafter == drafter; });
        if (!slice.empty()) {
            print(fmt::format("  {}", drafter), slice, values, mode);
        }
    }
    return median;
}

}  // namespace

int main() {
    const auto measured = shared_measurements("data/speculation/measured.json");
    if (!measured) {
        return skipped_exit_code;
    }
    const std::vector<Case> all = cases_of(read_rows(*measured));
    const auto llama = chosen(all, [](const Case& at) { return at.row.model.starts_with("Llama"); });
    const auto qwen = chosen(all, [](const Case& at) { return !at.row.model.starts_with("Llama"); });
    bool good = true;
    for (const sim::CostMode mode : {sim::CostMode::calibrated, sim::CostMode::roofline}) {
        fmt::print("{} mode\n", name_of(mode));
        const calibrate::stack_fit::Solution both = fit(all, mode), of_llama = fit(llama, mode), of_qwen = fit(qwen, mode);
        print_numbers("fitted to both models", both);
        print_numbers("fitted to Llama", of_llama);
        print_numbers("fitted to Qwen", of_qwen);
        print("both models, fitted", all, both.values, mode);
        const double most = mode == sim::CostMode::calibrated ? goal_median : stated_roofline;
        good = print_slices("Llama, fitted to Qwen", llama, of_qwen.values, mode) <= most && good;
        good = print_slices("Qwen, fitted to Llama", qwen, of_llama.values, mode) <= most && good;
    }
    return good ? 0 : 1;
}
