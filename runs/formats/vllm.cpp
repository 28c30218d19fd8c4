// vLLM: the result of `vllm bench serve`, and the acceptance of single requests, which TensorRT-LLM and aiperf write alike.
// vllm/benchmarks/serve.py and docs/features/speculative_decoding/acceptance_metrics.md of vllm-project/vllm; aiperf's
// SpecDecodeAcceptanceRecord.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "runs/formats/benchmarks.h"
#include "runs/formats/time_units.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

bool is_vllm_bench(const RunJson& json) {
    return json.contains("total_output_tokens") && json.contains("completed") &&
           (json.contains("model_id") || json.contains("tokenizer_id") || json.contains("spec_decode_num_drafts"));
}

/// The mean of a time ("tpot") in seconds, or else its median; nothing where neither is given.
std::optional<double> mean_or_median(const RunJson& json, const std::string& name) {
    const auto mean = seconds_under(json, "mean_" + name);
    return mean ? mean : seconds_under(json, "median_" + name);
}

/// From the request to its last token, in seconds; 0 where nothing gives it.
double latency_of(const RunJson& json) {
    if (const auto whole = mean_or_median(json, "e2el")) {
        return *whole;
    }
    const auto first = mean_or_median(json, "ttft"), each = mean_or_median(json, "tpot"),
               tokens = number_at(json, "total_output_tokens"), completed = number_at(json, "completed");
    return first && each && tokens && completed && *completed > 0.0 ? *first + std::max(0.0, *tokens / *completed - 1.0) * *each
                                                                    : 0.0;
}

/// Requests in flight by Little's law from their latencies; 0 where nothing gives these.
double concurrency_by_times(const RunJson& json) {
    const auto completed = number_at(json, "completed"), duration = number_at(json, "duration");
    const double latency = latency_of(json);
    return completed && duration && *duration > 0.0 && latency > 0.0
               ? std::max(1.0, std::round(*completed * latency / *duration))
               : 0.0;
}

/// Requests that decode at once in the mean, by Little's law from tokens/s and the time per token, of figures that were copied
/// without more; 0 where these are not given.
double decoding_by_rate(const RunJson& json, RunBuilder& run) {
    const auto rate = number_at(json, "output_throughput"), each = mean_or_median(json, "tpot");
    if (!rate || !each || !json.contains(without_header) || run.batch_or(0.0) >= 1.0) {
        return 0.0;
    }
    const double decoding = std::max(1.0, std::round(*rate * *each));
    run.remark(fmt::format("{}: states no requests in flight; by its tokens/s and its time per token {:g} decode at once",
                           run.file(), decoding));
    return decoding;
}

/// What clients kept in flight: stated, or by the requests' times.
double concurrency_of(const RunJson& json, RunBuilder& run) {
    const double stated = number_at(json, "max_concurrency").value_or(0.0), measured = concurrency_by_times(json);
    const double ended = number_at(json, "completed").value_or(0.0) + number_at(json, "failed").value_or(0.0);
    if (stated > 0.0) {
        return in_flight_of(stated, number_at(json, "num_prompts").value_or(ended), measured, run);
    }
    return measured > 0.0 ? measured : decoding_by_rate(json, run);
}

/// The median of all gaps between messages, one of which is a round.
std::optional<double> median_gap(const RunJson& json) {
    const RunJson* lists = node_at(json, "itls");
    std::vector<double> gaps;
    if (lists != nullptr && lists->is_array()) {
        for (const RunJson& list : *lists) {
            for (const RunJson& gap : list.is_array() ? list : RunJson::array()) {
                if (gap.is_number() && gap.get<double>() > 0.0) {
                    gaps.push_back(gap.get<double>());
                }
            }
        }
    }
    if (!gaps.empty()) {
        return numerics::quantile(gaps, 0.5);
    }
    return seconds_under(json, "median_itl");
}

/// Whether a result without counters, as people copy it, keeps what its drafts yielded.
bool states_acceptance(const RunJson& json) {
    return number_at(json, "spec_decode_acceptance_rate").value_or(0.0) > 0.0 ||
           number_at(json, "spec_decode_acceptance_length").value_or(0.0) > 1.0;
}

std::optional<AcceptanceCounts> counters_of(const RunJson& json, RunBuilder& run) {
    const auto drafts = number_at(json, "spec_decode_num_drafts"), drafted = number_at(json, "spec_decode_draft_tokens"),
               accepted = number_at(json, "spec_decode_accepted_tokens");
    if (!drafts && !drafted && !accepted) {
        return std::nullopt;
    }
    if ((!drafts || !drafted || !accepted) && states_acceptance(json)) {
        return std::nullopt;  // copied in part
    }
    if (!drafts || !drafted || !accepted) {
        run.problem(
            "must hold all of spec_decode_num_drafts, spec_decode_draft_tokens and spec_decode_accepted_tokens, as numbers");
        return std::nullopt;
    }
    AcceptanceCounts counts;
    counts.drafts = *drafts;
    counts.drafted = *drafted;
    counts.accepted = *accepted;
    if (const auto rates = numbers_at(json, "spec_decode_per_position_acceptance_rates")) {
        counts.drafts_with_positions = *drafts;
        for (const double rate : *rates) {
            if (!(rate >= 0.0 && rate <= 1.0)) {
                run.problem("spec_decode_per_position_acceptance_rates must lie between 0 and 1");
                return std::nullopt;
            }
            counts.reached.push_back(std::round(rate * *drafts));  // they were counts before they were rates
        }
    }
    return counts;
}

/// Tokens a round of such a result, which prints its rate in percent; 0 where it states neither.
double stated_length(const RunJson& json, int drafts, RunBuilder& run) {
    const double length = number_at(json, "spec_decode_acceptance_length").value_or(0.0),
                 rate = number_at(json, "spec_decode_acceptance_rate").value_or(0.0);
    if (length > drafts + 1.0 || (length < 1.0 && length != 0.0)) {
        run.problem(fmt::format("gives an accept length of {:.2f} of {} draft tokens, which is {} than can be", length, drafts,
                                length < 1.0 ? "less" : "more"));
        return 0.0;
    }
    return length > 1.0 ? length : rate > 0.0 ? run.length_of_rate(rate / 100.0, drafts) : 0.0;
}

void add_times(const RunJson& json, RunBuilder& run, RunCell& cell) {
    const double tokens = number_at(json, "total_output_tokens").value_or(0.0),
                 completed = number_at(json, "completed").value_or(0.0);
    if (const auto gap = median_gap(json)) {
        run.time(cell.round, "a time between messages", *gap, tokens / std::max(1.0, cell.accept_length()));
    }
    if (const auto tpot = mean_or_median(json, "tpot")) {
        run.time(cell.tpot, "a TPOT", *tpot, tokens);
        if (!seconds_under(json, "mean_tpot")) {
            run.remark(run.file() + ": gives no mean time per token; its median was taken");
        }
    }
    if (const auto ttft = mean_or_median(json, "ttft")) {
        run.time(cell.ttft, "a TTFT", *ttft, completed);
    }
    if (const auto throughput = number_at(json, "output_throughput"); throughput && *throughput > 0.0) {
        cell.tokens_per_second.add(*throughput, tokens);
    }
}

/// Gaps between messages as a multiple of the time per token: the tokens that a message brings, of which plain decoding has
/// one; 0 where the result does not give both.
double tokens_of_message(const RunJson& json) {
    const auto gap = seconds_under(json, "mean_itl"), each = seconds_under(json, "mean_tpot");
    return gap && each && *gap > 0.0 && *each > 0.0 ? *gap / *each : 0.0;
}

/// Adds the rounds that drafted nothing, by the tokens that were generated. A message of a stream is a round, so that gaps over
/// the time per token are the tokens of all rounds: they tell whether the counters are of all requests, as those of one server
/// behind a balancer are not.
void add_undrafted_rounds(const RunJson& json, AcceptanceCounts& counts, RunBuilder& run) {
    const double generated = number_at(json, "total_output_tokens").value_or(0.0) - number_at(json, "completed").value_or(0.0);
    const double rounds = generated - counts.accepted, of_message = tokens_of_message(json);
    if (!counts.known() || !(rounds > counts.drafts)) {
        return run.add_undrafted_rounds(counts, generated);
    }
    const auto apart = [&](double length) { return std::abs(std::log(of_message / length)); };
    const bool told = of_message > 0.0, elsewhere = told && apart(generated / rounds) > apart(counts.accept_length());
    if (elsewhere && generated > 2.0 * (counts.drafts + counts.accepted)) {
        return run.counted_elsewhere();
    }
    run.add_undrafted_rounds(counts, generated, told && !elsewhere);
}

/// What a result without counters drafted: as it is stated, or as its gaps tell; nothing, with a problem, where they tell that
/// it drafted and nothing says how many.
std::optional<int> uncounted_drafts(const RunJson& json, const StatedDrafts& stated, RunBuilder& run) {
    constexpr double sure = 1.3, likely = 1.15;
    const double tokens = tokens_of_message(json);
    const int told = stated.tokens >= 0 ? stated.tokens : run.stated_draft_tokens(), hinted = run.draft_tokens_or(told);
    if (told == 0 && tokens <= sure) {
        return 0;
    }
    if (hinted == 0 || (told > 0 && hinted > 0) || (hinted > 0 && (stated.drafting || tokens > likely))) {
        return hinted;
    }
    if (stated.drafting && hinted < 0) {
        run.problem("was measured with drafts, but nothing says how many tokens were drafted; --draft-tokens K says it");
        return std::nullopt;
    }
    if (hinted <= 0 && tokens > sure) {
        run.problem(
            fmt::format("has gaps between tokens (ITL) of {:.2f} times the time per token (TPOT), so that a message brings "
                        "several tokens, as drafts do; --draft-tokens K says how many were drafted, --draft-tokens 0 that none",
                        tokens));
        return std::nullopt;
    }
    return 0;
}

}  // namespace

std::string impossible_result(const RunJson& json) {
    if (const auto completed = number_at(json, "completed"); completed && *completed < 1.0) {
        return "says that no request succeeded, so that it measured nothing";
    }
    if (const auto duration = number_at(json, "duration"); duration && !(*duration > 0.0)) {
        return fmt::format("says that it took {} s; that must lie above 0", text::short_text(*duration));
    }
    if (const auto most = number_at(json, "max_concurrency"); most && *most < 0.0) {
        return fmt::format("says that at most {} requests ran at once", text::short_text(*most));
    }
    for (const char* name : {"mean_tpot", "median_tpot", "mean_ttft", "median_ttft", "mean_itl", "median_itl", "mean_e2el"}) {
        if (std::string unit = unknown_unit_under(json, name); !unit.empty()) {
            return unit;
        }
    }
    return {};
}

double in_flight_of(double most, double prompts, double measured, RunBuilder& run) {
    if (prompts < 1.0 || most <= prompts) {
        return most;
    }
    const double at_once = measured >= 1.0 ? std::min(prompts, measured) : prompts;
    run.remark(fmt::format("{}: {:g} requests may be in flight at once, but {:g} were sent; {:g} are taken as in flight{}",
                           run.file(), most, prompts, at_once, at_once < prompts ? ", as their times say" : ""));
    return at_once;
}

double tokens_of_request(const RunJson& json, const std::string& side) {
    const double completed = number_at(json, "completed").value_or(0.0),
                 all = number_at(json, "total_" + side + "_tokens").value_or(0.0);
    return number_at(json, side + "_tokens_of_each").value_or(completed >= 1.0 ? all / completed : 0.0);
}

void read_vllm_bench(const RunJson& json, RunBuilder& run, const StatedDrafts& stated) {
    const std::string backend = text_at(json, "backend");
    // TensorRT-LLM's copy of the benchmark prints the mean tokens of a round, without counts.
    const auto length = number_at(json, "avg_decoded_tokens_per_iter");
    if (backend != any_engine) {
        run.engine(length || json.contains("user_throughput") || backend == "tensorrt-llm" ? "tensorrt-llm"
                   : backend == "sglang"                                                   ? backend
                                                                                           : "vllm");
    }
    run.model(text_at(json, "model_id"));
    if (const std::string wrong = impossible_result(json); !wrong.empty()) {
        return run.problem(wrong);
    }
    const double prompt = tokens_of_request(json, "input"), output = tokens_of_request(json, "output"),
                 tokens = number_at(json, "total_output_tokens").value_or(0.0);
    if (const auto completed = number_at(json, "completed"), failed = number_at(json, "failed");
        completed && failed && *failed > 0.05 * *completed) {
        run.remark(run.file() + ": more than 5 % of its requests failed.");
    }
    std::optional<AcceptanceCounts> counts = counters_of(json, run);
    int drafts = 0;
    if (length && *length > 1.0) {
        drafts = run.draft_tokens_or(0);
        if (drafts <= 0 || *length > drafts + 1.0) {
            return run.problem(drafts <= 0
                                   ? "gives the tokens of a round, but not how many were drafted; --draft-tokens K says it"
                                   : "gives more tokens of a round than were drafted, and one");
        }
    } else if (counts && counts->drafts > 0.0) {
        const auto by_position = static_cast<int>(counts->reached.size());
        run.agree_with_hint({0, 1, by_position + 1});
        drafts = run.draft_tokens_or(by_position > 0
                                         ? by_position
                                         : static_cast<int>(std::lround(std::min(1e6, std::max(1.0, counts->draft_length())))));
    } else if (!counts) {
        const auto rates = numbers_at(json, "spec_decode_per_position_acceptance_rates");
        const int positions = rates ? static_cast<int>(rates->size()) : 0;
        run.agree_with_hint({0, 1, positions + 1});
        const std::optional<int> uncounted = uncounted_drafts(
            json, {positions > 0 ? positions : stated.tokens, stated.drafting || states_acceptance(json)}, run);
        if (!uncounted) {
            return;
        }
        drafts = *uncounted;
    }
    RunCell& cell = run.cell(concurrency_of(json, run), drafts, prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (drafts > 0 && length && tokens > 0.0) {
        run.count(cell, counts_of_mean(*length, tokens, drafts));
    } else if (counts) {
        add_undrafted_rounds(json, *counts, run);
        run.count(cell, *counts);
    } else if (drafts > 0 && states_acceptance(json)) {
        run.state_length(cell, stated_length(json, drafts, run), std::max(1.0, tokens));
    } else if (const double of_message = tokens_of_message(json);
               drafts > 0 && of_message > 1.0 && of_message <= cell.most_accepted() + 1.0) {
        run.remark(
            fmt::format("{}: counts no drafts; the accept length is taken from the gaps between tokens (ITL) over the "
                        "time per token (TPOT)",
                        run.file()));
        run.state_length(cell, of_message, std::max(1.0, tokens));
    }
    add_times(json, run, cell);
}

namespace {

constexpr const char* histogram_by_length = "acceptance_histogram_by_draft_length";

/// Rounds by accepted drafts, under the name that the engine gives them.
std::optional<std::vector<double>> histogram_of(const RunJson& record) {
    const auto histogram = numbers_at(record, "acceptance_histogram");
    return histogram ? histogram : numbers_at(record, "acceptance_length_histogram");
}

bool holds_acceptance(const RunJson& json) {
    return json.is_object() && (json.contains("num_spec_steps") || json.contains("acceptance_histogram") ||
                                json.contains("acceptance_length_histogram") || json.contains(histogram_by_length));
}

/// The object that holds a request's acceptance: by itself, or where engines and clients put it in a response.
const RunJson* request_record(const RunJson& json) {
    for (const char* path : {"metrics.speculative_decoding", "speculative_decoding", "spec_decode_acceptance", "spec_decode",
                             "metrics.spec_decode", "metrics"}) {
        if (const RunJson* node = node_at(json, path); node != nullptr && holds_acceptance(*node)) {
            return node;
        }
    }
    return holds_acceptance(json) ? &json : nullptr;
}

bool is_request_record(const RunJson& json) { return request_record(json) != nullptr; }

/// Element j of `histogram` counts the rounds that accepted exactly j of `length` drafts.
void count_histogram(const std::vector<double>& histogram, int length, RunBuilder& run) {
    AcceptanceCounts counts;
    for (std::size_t j = 0; j < histogram.size(); ++j) {
        if (histogram[j] < 0.0) {
            return run.problem("a histogram must count rounds by accepted drafts, and none below zero times");
        }
        if (static_cast<int>(j) > length && histogram[j] > 0.0) {
            return run.problem(fmt::format("{} of {} drafts cannot be accepted, as its histogram says", j, length));
        }
        counts.drafts += histogram[j];
        counts.accepted += histogram[j] * static_cast<double>(j);
    }
    if (counts.drafts <= 0.0 || length <= 0) {
        return;
    }
    counts.drafted = counts.drafts * length;
    counts.drafts_with_positions = counts.drafts;
    counts.reached = reached_of_histogram(histogram);
    counts.reached.resize(static_cast<std::size_t>(length), 0.0);
    run.count(run.cell(0.0, length), counts);
}

/// Records of a histogram alone, or of one for each draft length.
void read_histograms(const RunJson& record, RunBuilder& run) {
    if (const RunJson* by_length = node_at(record, histogram_by_length); by_length != nullptr && by_length->is_object()) {
        for (const auto& [length, _] : by_length->items()) {
            const auto drafts = text::parse_number<int>(length);
            const auto histogram = numbers_at(*by_length, length);
            if (!drafts || *drafts < 0 || *drafts > 1'000'000 || !histogram) {
                return run.problem(fmt::format("{} must give a histogram for each number of drafts", histogram_by_length));
            }
            count_histogram(*histogram, *drafts, run);
        }
        return;
    }
    const auto histogram = histogram_of(record);
    if (!histogram) {
        return run.problem("a histogram must count rounds by accepted drafts, as numbers");
    }
    auto stated = number_at(record, "num_spec_tokens");
    stated = stated ? stated : number_at(record, "num_speculative_tokens");
    const int counted = stated ? static_cast<int>(std::clamp(*stated, 0.0, 1e6)) : static_cast<int>(histogram->size()) - 1;
    run.agree_with_hint({0, 1, (stated ? counted : 0) + 1});
    count_histogram(*histogram, std::max(0, run.draft_tokens_or(counted)), run);
}

void read_request_record(const RunJson& json, RunBuilder& run) {
    const RunJson& record = *request_record(json);
    if (const std::string engine = text_at(record, "engine"); !engine.empty()) {
        run.engine(engine == "trtllm" ? "tensorrt-llm" : engine);
    }
    run.model(text_at(json, "model"));
    if (const RunJson* lengths = node_at(record, histogram_by_length);
        !record.contains("num_spec_steps") || (lengths != nullptr && lengths->is_object() && lengths->size() > 1)) {
        return read_histograms(record, run);
    }
    const auto first = [&](const char* a, const char* b) {
        const auto value = number_at(record, a);
        return value ? value : number_at(record, b);
    };
    const auto steps = number_at(record, "num_spec_steps");
    const auto accepted = first("num_accepted_draft_tokens", "total_accepted_draft_tokens");
    const auto drafted = first("num_draft_tokens", "total_draft_tokens");
    if (!steps || !accepted || !drafted) {
        return run.problem(
            "must give num_spec_steps, and the accepted and the proposed draft tokens of the request, as numbers");
    }
    if (*steps <= 0.0) {
        return;
    }
    AcceptanceCounts counts;
    counts.drafts = *steps;
    counts.drafted = *drafted;
    counts.accepted = *accepted;
    if (const auto histogram = histogram_of(record)) {
        counts.reached = reached_of_histogram(*histogram);
        for (const double rounds : *histogram) {
            counts.drafts_with_positions += rounds;
        }
    }
    if (const auto generated = number_at(json, "usage.completion_tokens")) {
        const RunJson* answers = node_at(json, "choices");
        const bool one = answers == nullptr || !answers->is_array() || answers->size() == 1;
        run.add_undrafted_rounds(counts, one ? *generated - 1.0 : 0.0);
    }
    const auto stated = number_at(record, "num_spec_tokens");
    const int length = stated ? static_cast<int>(std::clamp(*stated, 0.0, 1e6))
                              : static_cast<int>(std::ceil(std::clamp(*drafted / *steps, 0.0, 1e6)));
    run.agree_with_hint({0, 1, (stated ? length : 0) + 1});
    run.count(run.cell(0.0, run.draft_tokens_or(length)), counts);
}

}  // namespace

std::vector<JsonFormat> vllm() {
    return {{"a result of vllm bench serve", is_vllm_bench,
             [](const RunJson& json, RunBuilder& run) { read_vllm_bench(json, run); }},
            {"acceptance of single requests (vLLM, TensorRT-LLM, aiperf)", is_request_record, read_request_record}};
}

}  // namespace treeline::runs::run_formats_of
