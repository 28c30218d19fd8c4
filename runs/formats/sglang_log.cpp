// SGLang's log: a line every few decoding steps (scheduler metrics), the server's arguments at its start, and with
// --log-requests the counts of each answer (pull request 11441). Ranks of data parallelism decode batches of their own and say
// so in their stamp ("[date time DP1 TP1]").
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/sglang_counts.h"
#include "runs/log_lines.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Decoding steps between two lines, unless --decode-log-interval says otherwise.
constexpr double steps_of_line = 40.0;
/// Lines that wait for one that tells the draft length.
constexpr std::size_t most_waiting = 200'000;
constexpr std::size_t most_streams_of_sglang = 10'000;

std::string none_is_empty(const std::string& word) { return word == "None" || word == "auto" ? std::string() : word; }

/// What a decoding line says.
struct DecodeLine {
    long number = 0;
    double running = 0.0, throughput = 0.0, tokens = 0.0;
    std::optional<double> length;
    bool steady = false;
    std::optional<bool> captured;
};

class SglangLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool decode =
            line.find("Decode batch") != std::string_view::npos && line.find("#running-req:") != std::string_view::npos;
        const bool prefill =
            line.find("Prefill batch") != std::string_view::npos && line.find("#new-token:") != std::string_view::npos;
        const bool arguments = line.find("server_args=ServerArgs(") != std::string_view::npos;
        const bool finished =
            line.find("Finish: ") != std::string_view::npos && line.find("'spec_verify_ct':") != std::string_view::npos;
        if (decode || prefill || arguments || finished) {
            run.format("a log of SGLang");
            run.engine("sglang");
        }
        ++number_;
        if (arguments) {
            take_arguments(line, run);
        } else if (prefill) {
            stream(line).prompts_between = true;
        } else if (decode) {
            take_decode(line, run);
        } else if (finished) {
            count_sglang_answer(line, run);
        }
        return decode || prefill || arguments || finished;
    }

    void finish(RunBuilder& run) override {
        const int drafts = !lengths_.told() ? 0 : lengths_.draft_tokens();
        if (!waiting_.empty() && drafts <= 0) {
            run.at_line(waiting_.front().number);
            return run.problem(
                "gives an accept length, but neither the log nor --draft-tokens K says how many tokens were drafted");
        }
        for (const DecodeLine& each : waiting_) {
            run.at_line(each.number);
            add(each, drafts, run);
        }
        run.at_line(0);
        if (!waiting_.empty()) {
            run.remark(fmt::format("The log's accept rates and accept lengths belong to {} draft tokens.", drafts));
        }
        if (drafting_lines_ > 0 && timed_lines_ == 0) {
            run.remark(fmt::format(
                "{}: {} line{} of decoding gave acceptance, but no time of a round: no line before {} is of as many "
                "requests, or prompts were read between them",
                run.file(), drafting_lines_, drafting_lines_ == 1 ? "" : "s", drafting_lines_ == 1 ? "it" : "them"));
        }
        if (ranks_.size() > 1) {
            RunSettings settings;
            settings.data_parallel = static_cast<double>(ranks_.size());
            run.settings(settings);
            run.remark(fmt::format("{} ranks of data parallelism wrote this log; each load is of one of them.", ranks_.size()));
        }
    }

private:
    struct Stream {
        bool prompts_between = false;
        double last_running = -1.0;
    };

    Stream& stream(std::string_view line) {
        std::string name = stream_of(line);
        if (const std::size_t rank = name.find("/DP"); rank != std::string::npos && ranks_.size() < most_streams_of_sglang) {
            ranks_.insert(name.substr(rank));
        }
        return streams_[streams_.size() < most_streams_of_sglang ? std::move(name) : std::string()];
    }

    static void take_arguments(std::string_view line, RunBuilder& run) {
        run.model(word_after(line, "model_path="));
        run.method(none_is_empty(word_after(line, "speculative_algorithm=")));
        run.drafter(none_is_empty(word_after(line, "speculative_draft_model_path=")));
        const SglangDraft draft =
            sglang_draft(number_after(line, "speculative_num_steps="), number_after(line, "speculative_eagle_topk="),
                         number_after(line, "speculative_num_draft_tokens="));
        if (draft.draft_tokens() > 0) {
            run.agree_with_hint(draft);
            run.draft(draft);
        }
        run.ranks(number_after(line, "tp_size=").value_or(0.0) * std::max(1.0, number_after(line, "pp_size=").value_or(1.0)));
        RunSettings settings;
        settings.cache_format = none_is_empty(word_after(line, "kv_cache_dtype="));
        settings.attention = none_is_empty(word_after(line, " attention_backend="));
        settings.weights = none_is_empty(word_after(line, " quantization="));
        if (const std::string overlap = word_after(line, "disable_overlap_schedule="); !overlap.empty()) {
            settings.scheduling = overlap == "True" ? "synchronous" : "asynchronous";
        }
        if (word_after(line, "disable_cuda_graph=") == "True") {
            settings.graphs = GraphMode::none;
            settings.graphs_because = "disable_cuda_graph=True";
        }
        if (const double data = number_after(line, "dp_size=").value_or(1.0); data > 1.0) {
            settings.data_parallel = data;
        }
        run.settings(settings);
    }

    void take_decode(std::string_view line, RunBuilder& run) {
        const auto running = number_after(line, "#running-req:"), throughput = number_after(line, "gen throughput (token/s):");
        if (!running || !throughput) {
            return run.problem("lacks the running requests or the throughput that lines of SGLang's log give");
        }
        if (const auto stage = number_after(line.substr(0, line.find("Decode batch")), " PP"); stage && *stage > 0.0) {
            return run.remark(
                "Lines of later stages of the pipeline are about the same steps as those of the first and were "
                "left out.");
        }
        Stream& of = stream(line);
        DecodeLine read{number_, *running, *throughput, 0.0, number_after(line, "accept len:"), false, std::nullopt};
        read.steady = !std::exchange(of.prompts_between, false);
        read.steady = *running == std::exchange(of.last_running, *running) && read.steady;
        if (*running <= 0.0 || *throughput <= 0.0) {
            return;
        }
        read.tokens = number_after(line, "#token:").value_or(number_after(line, "#full token:").value_or(0.0));
        if (const std::string graph = word_after(line, "cuda graph: "); !graph.empty()) {
            read.captured = graph != "False" && graph != "NONE";
        }
        const int stated = run.draft_tokens_or(0);
        if (!read.length || stated > 0) {
            return add(read, stated, run);
        }
        if (const auto rate = number_after(line, "accept rate:")) {
            lengths_.add(*read.length, *rate);
        }
        if (waiting_.size() < most_waiting) {
            waiting_.push_back(read);
        }
    }

    void add(const DecodeLine& line, int draft_tokens, RunBuilder& run) {
        const int drafts = line.length ? draft_tokens : 0;
        if (line.length && (!(*line.length >= 1.0) || *line.length > drafts + 1.0)) {
            return run.problem("gives an accept length that is not between 1 and the draft tokens plus one");
        }
        RunCell& cell = run.cell_of_line(line.running, drafts, line.tokens / line.running);
        const double lines = cell.tokens_per_second.times();
        if (line.steady || lines == 0.0) {
            cell.context = (cell.context * lines + line.tokens / line.running) / (lines + 1.0);
        }
        if (line.length) {
            ++drafting_lines_;
            run.count(cell, counts_of_mean(*line.length, *line.length * line.running * steps_of_line, drafts));
        }
        if (line.steady) {  // else prompts, waiting or a changing batch are in the time
            ++timed_lines_;
            const double length = line.length.value_or(1.0), rounds = line.running * steps_of_line;
            cell.tokens_per_second.add(line.throughput, rounds * length);
            run.time(cell.round, "a step", line.running * length / line.throughput, rounds);
        }
        if (line.captured) {
            (*line.captured ? cell.captured_steps : cell.eager_steps) += steps_of_line;
        }
    }

    std::map<std::string, Stream> streams_;
    std::set<std::string> ranks_;
    DraftLengths lengths_;
    std::vector<DecodeLine> waiting_;
    long number_ = 0;
    long drafting_lines_ = 0, timed_lines_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> sglang_log() { return std::make_unique<SglangLog>(); }

}  // namespace treeline::runs::run_formats_of
