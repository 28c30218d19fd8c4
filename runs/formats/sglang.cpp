// SGLang: results of bench_serving and bench_speculative, single responses, /server_info. python/sglang/bench_serving.py,
// benchmark/…/bench_speculative.py, docs/advanced_features/server_arguments.md of sgl-project/sglang.
#include <algorithm>
#include <cmath>

#include "runs/formats/benchmarks.h"
#include "runs/formats/sglang_counts.h"
#include "runs/formats/time_units.h"

namespace treeline::runs::run_formats_of {
namespace {

/// What the server was started with; no tokens if it does not say.
SglangDraft draft_of(const RunJson& json) {
    return sglang_draft(number_at(json, "speculative_num_steps"), number_at(json, "speculative_eagle_topk"),
                        number_at(json, "speculative_num_draft_tokens"));
}

void identify(const RunJson& server, RunBuilder& run) {
    run.model(text_at(server, "model_path"));
    run.drafter(text_at(server, "speculative_draft_model_path"));
    run.method(text_at(server, "speculative_algorithm"));
    run.engine("sglang", text_at(server, "version"));
    run.ranks(number_at(server, "tp_size").value_or(0.0));
    if (const SglangDraft draft = draft_of(server); draft.draft_tokens() > 0) {
        run.agree_with_hint(draft);
        run.draft(draft);
    }
}

bool is_bench_serving(const RunJson& json) {
    return json.contains("accept_length") && json.contains("completed") && json.contains("total_output_tokens");
}

}  // namespace

void read_sglang_bench(const RunJson& json, RunBuilder& run, int uncounted) {
    run.engine("sglang");
    if (const RunJson* server = node_at(json, "server_info"); server != nullptr && server->is_object()) {
        identify(*server, run);
    }
    if (const std::string wrong = impossible_result(json); !wrong.empty()) {
        return run.problem(wrong);
    }
    const double prompt = tokens_of_request(json, "input"), output = tokens_of_request(json, "output"),
                 tokens = number_at(json, "total_output_tokens").value_or(0.0);
    const auto length = number_at(json, "accept_length");
    int drafts = uncounted;
    if (length) {
        drafts = run.draft_tokens_or(0);
        if (drafts <= 0) {
            return run.problem(
                "gives an accept_length, but not how many tokens were drafted; --draft-tokens K says it (SGLang's draft tokens "
                "less one)");
        }
        if (!(*length >= 1.0) || *length > drafts + 1.0) {
            return run.problem("accept_length must lie between 1 and the draft tokens plus one");
        }
    }
    const double stated = number_at(json, "max_concurrency").value_or(0.0);
    const double measured = std::round(number_at(json, "concurrency").value_or(0.0));
    const double prompts = number_at(json, "completed").value_or(0.0) + number_at(json, "failed").value_or(0.0);
    RunCell& cell = run.cell(stated > 0.0 ? in_flight_of(stated, prompts, measured, run) : std::max(measured, 0.0), drafts,
                             prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (length && tokens > 0.0) {
        run.count(cell, counts_of_mean(*length, tokens, drafts));
    } else if (length) {
        run.state_length(cell, *length);
    }
    const auto add = [&](MeasuredMean& mean, const char* name, const char* what, double weight) {
        if (const auto value = seconds_under(json, name); value && *value > 0.0) {
            run.time(mean, what, *value, weight);
        }
    };
    // The gap between messages is divided by the tokens that a message brings, so that the ITL here is of a token.
    add(cell.tpot, "mean_tpot", "a TPOT", tokens);
    add(cell.ttft, "mean_ttft", "a TTFT", number_at(json, "completed").value_or(0.0));
    if (drafts == 0) {
        add(cell.round, "median_itl", "a time between tokens", tokens);
    }
    if (const auto throughput = number_at(json, "output_throughput"); throughput && *throughput > 0.0) {
        cell.tokens_per_second.add(*throughput, tokens);
    }
}

namespace {

bool is_bench_speculative(const RunJson& json) { return json.contains("acc_length") && json.contains("step_time"); }

void read_bench_speculative(const RunJson& json, RunBuilder& run) {
    run.engine("sglang");
    const auto batch = number_at(json, "batch_size"), length = number_at(json, "acc_length"),
               step = number_at(json, "step_time");
    const double steps = number_at(json, "steps").value_or(0.0), width = number_at(json, "topk").value_or(0.0),
                 nodes = number_at(json, "num_draft_tokens").value_or(0.0);
    if (!batch || !length || !step || !(*batch >= 1.0)) {
        return run.problem("must give batch_size, acc_length and step_time as numbers");
    }
    const SglangDraft draft = steps > 0.0 ? sglang_draft(steps, width, nodes) : SglangDraft();
    const int drafts = std::max(0, draft.draft_tokens());
    if (drafts > 0) {
        run.draft(draft);
    }
    RunCell& cell = run.cell(*batch, drafts);
    const double tokens = number_at(json, "completion_tokens").value_or(0.0);
    if (drafts > 0 && (*length < 1.0 || *length > cell.most_accepted() + 1.0)) {
        return run.problem("acc_length must lie between 1 and the steps plus one");
    }
    if (drafts > 0 && tokens > 0.0) {
        run.count(cell, counts_of_mean(*length, tokens, drafts));
    } else if (drafts > 0) {
        run.state_length(cell, *length);
    }
    run.time(cell.round, "a step", *step, tokens / std::max(1.0, *length));
}

/// bench_one_batch_server measures a server from outside, bench_one_batch a step of the engine alone.
bool is_one_batch(const RunJson& json) {
    return json.contains("batch_size") && json.contains("input_len") && json.contains("output_len") &&
           (json.contains("output_throughput") || json.contains("median_decode_latency"));
}

void read_one_batch(const RunJson& json, RunBuilder& run) {
    run.engine("sglang");
    const double batch = number_at(json, "batch_size").value_or(0.0), prompt = number_at(json, "input_len").value_or(0.0),
                 output = number_at(json, "output_len").value_or(0.0), length = number_at(json, "acc_length").value_or(0.0);
    const double rate = number_at(json, "output_throughput").value_or(0.0),
                 step = number_at(json, "median_decode_latency").value_or(0.0);
    if (!(batch >= 1.0) || (!(rate > 0.0) && !(step > 0.0))) {
        return run.problem("must give batch_size, and output_throughput or median_decode_latency, as numbers above 0");
    }
    const int drafts = length > 1.0 ? run.draft_tokens_or(0) : 0;
    if (length > 1.0 && (drafts <= 0 || length > drafts + 1.0)) {
        return run.problem(drafts <= 0 ? "gives an acc_length, but not how many tokens were drafted; --draft-tokens K says it"
                                       : "acc_length must lie between 1 and the draft tokens plus one");
    }
    RunCell& cell = run.cell(batch, drafts, prompt + 0.5 * output);
    run.state_length(cell, length > 1.0 ? length : 0.0);
    if (step > 0.0) {
        return run.time(cell.round, "a step", step);
    }
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    run.time(cell.tpot, "a time per token", batch / rate);
    if (const double first = number_at(json, "last_ttft").value_or(0.0); first > 0.0) {
        run.time(cell.ttft, "a TTFT", first);
    }
    cell.tokens_per_second.add(rate);
}

bool is_server_info(const RunJson& json) {
    return json.contains("internal_states") || (json.contains("model_path") && json.contains("tp_size")) ||
           node_at(json, "server_args.model_path") != nullptr;
}

/// The arguments stand at the top, under `server_args`, or in each state.
void read_server_info(const RunJson& json, RunBuilder& run) {
    identify(json, run);
    if (const RunJson* arguments = node_at(json, "server_args"); arguments != nullptr && arguments->is_object()) {
        identify(*arguments, run);
    }
    const RunJson* states = node_at(json, "internal_states");
    for (const RunJson& state : states != nullptr && states->is_array() ? *states : RunJson::array()) {
        if (!state.is_object()) {
            continue;
        }
        identify(state, run);
        auto length = number_at(state, "avg_spec_accept_length");
        length = length ? length : number_at(state, "spec_accept_length");
        if (length && *length >= 1.0) {
            const int drafts = run.draft_tokens_or(0);
            if (drafts <= 0) {
                run.problem("gives an accept length, but not how many tokens were drafted; --draft-tokens K says it");
                continue;
            }
            run.cell(0.0, drafts).stated_length = *length;
            run.remark("/server_info gives the mean accept length since the start and no counts, so it has no sampling error.");
        }
    }
}

/// Where an answer keeps its counts: `meta_info` of /generate, `sglext` of the OpenAI endpoints (pull request 33518), or the
/// object itself; for each of its choices where there are several.
void find_answers(const RunJson& json, int depth, std::vector<const RunJson*>& found) {
    if (json.is_object() && json.contains("spec_verify_ct")) {
        found.push_back(&json);
    } else if (json.is_structured() && depth > 0) {
        for (const RunJson& inside : json) {
            find_answers(inside, depth - 1, found);
        }
    }
}

std::vector<const RunJson*> answers_of(const RunJson& json) {
    std::vector<const RunJson*> found;
    find_answers(json, 4, found);
    return found;
}

bool is_response(const RunJson& json) { return !answers_of(json).empty(); }

void read_response(const RunJson& json, RunBuilder& run) {
    run.engine("sglang");
    for (const RunJson* meta : answers_of(json)) {
        const auto first = [&](std::initializer_list<const char*> names) -> std::optional<double> {
            for (const char* name : names) {
                if (const auto value = number_at(*meta, name)) {
                    return value;
                }
            }
            return std::nullopt;
        };
        SglangAnswer answer;
        answer.rounds = first({"spec_verify_ct"});
        answer.accepted = first({"spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"});
        answer.drafted = first({"spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"});
        answer.tokens = first({"completion_tokens"});
        answer.length = first({"spec_accept_length"});
        answer.rate = first({"spec_accept_rate"});
        auto histogram = numbers_at(*meta, "spec_correct_drafts_histogram");
        histogram = histogram ? histogram : numbers_at(*meta, "spec_accept_histogram");
        answer.histogram = histogram.value_or(std::vector<double>{});
        count_sglang_answer(answer, run);
    }
}

}  // namespace

std::vector<JsonFormat> sglang() {
    return {{"a result of SGLang's bench_speculative", is_bench_speculative, read_bench_speculative},
            {"a result of SGLang's bench_serving", is_bench_serving,
             [](const RunJson& json, RunBuilder& run) { read_sglang_bench(json, run); }},
            {"a result of SGLang's bench_one_batch", is_one_batch, read_one_batch},
            {"a response of SGLang", is_response, read_response},
            {"/server_info of SGLang", is_server_info, read_server_info}};
}

}  // namespace treeline::runs::run_formats_of
