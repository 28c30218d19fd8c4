// llama.cpp: timings of a response, llama-bench, llama-batched-bench; its log. tools/server, tools/llama-bench,
// tools/batched-bench and common/speculative.cpp of ggml-org/llama.cpp; pull requests 12603 and 24536.
#include <algorithm>
#include <cmath>
#include <memory>

#include "runs/builder.h"
#include "runs/formats/llama_generation.h"

namespace treeline::runs::run_formats_of {
namespace {

constexpr double to_seconds = 1e-3;  // of milliseconds

bool is_timings(const RunJson& json) { return node_at(json, "timings.predicted_n") != nullptr || json.contains("predicted_n"); }

void read_timings(const RunJson& json, RunBuilder& run) {
    run.engine("llama.cpp");
    run.model(text_at(json, "model"));
    const RunJson& timings = json.contains("predicted_n") ? json : *node_at(json, "timings");
    const auto predicted = number_at(timings, "predicted_n"), milliseconds = number_at(timings, "predicted_ms");
    if (!predicted || !milliseconds) {
        return run.problem("must give predicted_n and predicted_ms as numbers");
    }
    const double drafted = number_at(timings, "draft_n").value_or(0.0),
                 accepted = number_at(timings, "draft_n_accepted").value_or(0.0);
    const double read = number_at(timings, "prompt_n").value_or(0.0), cached = number_at(timings, "cache_n").value_or(0.0);
    const double prompt = read < 0.0 || cached < 0.0 ? -*predicted : read + cached;
    // mlx-vlm counts the rounds, and drafts beyond the end of the answer with them (pull request 2324 of Blaizzy/mlx-vlm).
    const double rounds = number_at(timings, "draft_rounds").value_or(0.0);
    add_llama_generation(run, {*predicted, *milliseconds, drafted, accepted, prompt + 0.5 * *predicted, 0.0, {}, rounds});
}

bool is_llama_bench(const RunJson& json) {
    return json.contains("model_type") && json.contains("n_gen") && json.contains("avg_ns");
}

void read_llama_bench(const RunJson& json, RunBuilder& run) {
    run.engine("llama.cpp", text_at(json, "build_commit"));
    const std::string file = text_at(json, "model_filename");
    run.model(file.empty() ? text_at(json, "model_type") : file);
    const auto time = number_at(json, "avg_ns"), read = number_at(json, "n_prompt"), generated = number_at(json, "n_gen");
    const double depth = number_at(json, "n_depth").value_or(0.0), scatter = number_at(json, "stddev_ns").value_or(0.0) * 1e-9;
    if (!time || !read || !generated || !(*time > 0.0)) {
        return run.problem("must give n_prompt, n_gen and avg_ns as numbers above 0");
    }
    const RunJson* samples = node_at(json, "samples_ns");
    const double times = samples != nullptr && samples->is_array() ? std::max(1.0, static_cast<double>(samples->size())) : 1.0;
    const double seconds = *time * 1e-9;
    if (*generated > 0.0 && *read == 0.0) {
        const double step = seconds / *generated;
        run.cell(1.0, 0, depth + 0.5 * *generated)
            .round.add(MeasuredMean::of(step, scatter / *generated / std::sqrt(times), times * *generated, times));
    } else if (*read > 0.0 && *generated == 0.0) {
        run.pass({1.0, *read, depth, MeasuredMean::of(seconds, scatter / std::sqrt(times), times, times)});
    } else {
        run.remark("Rows of llama-bench that read and generate at once were left out.");
    }
}

bool is_batched_bench(const RunJson& json) { return json.contains("pl") && json.contains("t_tg") && json.contains("tg"); }

void read_batched_bench(const RunJson& json, RunBuilder& run) {
    run.engine("llama.cpp");
    const auto sequences = number_at(json, "pl"), tokens = number_at(json, "tg"), time = number_at(json, "t_tg"),
               prompt = number_at(json, "pp");
    if (!sequences || !tokens || !time || !prompt || !(*sequences >= 1.0) || *tokens < 0.0) {
        return run.problem("must give pp, tg, pl and t_tg as numbers");
    }
    if (*tokens > 0.0) {
        run.time(run.cell(*sequences, 0, *prompt + 0.5 * *tokens).round, "a step", *time / *tokens, *tokens);
    }
}

class LlamaCppLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool reads = line.find("prompt eval time =") != std::string_view::npos;
        const bool decodes = !reads && line.find("eval time =") != std::string_view::npos;
        const bool ends =
            line.find("release: id") != std::string_view::npos || line.find("total time =") != std::string_view::npos;
        const bool accepts =
            line.find("draft acceptance") != std::string_view::npos && line.find("accepted /") != std::string_view::npos;
        const bool sums = line.find("#calls(b,g,a)") != std::string_view::npos;
        if (reads || decodes || accepts || sums) {
            run.format("a log of llama.cpp");
            run.engine("llama.cpp");
        }
        if (const std::size_t named = line.find("general.name str "); named != std::string_view::npos) {
            run.model(word_after(line, "= "));
        }
        if (reads) {
            flush(run);
            prompt_ = number_after(line.substr(line.find("eval time")), "/").value_or(0.0);
        } else if (decodes) {
            flush(run);
            milliseconds_ = number_after(line, "eval time");
            predicted_ = number_after(line.substr(line.find("eval time")), "/");
            if (predicted_ && line.find(" runs ", line.find("eval time")) != std::string_view::npos) {
                *predicted_ += 1.0;  // llama-cli counts its steps, without the token that the prompt gave
            }
            if (!milliseconds_ || !predicted_) {
                milliseconds_.reset();
                run.problem("lacks the time or the tokens that lines on eval time give");
            }
        } else if (accepts) {
            take_acceptance(line, run);
        } else if (sums) {
            take_sums(line);
        } else if (ends && line.find("release") != std::string_view::npos) {
            flush(run);
        }
        return reads || decodes || accepts || sums;
    }

    void finish(RunBuilder& run) override {
        flush(run);
        run.at_line(0);
        count_sums(run);
        if (drafting_calls_ > 0.0 && last_draft_length_ > 0) {
            run.time(run.cell(1.0, last_draft_length_).drafting, "a draft", drafting_ms_ * to_seconds / drafting_calls_,
                     drafting_calls_);
        }
    }

private:
    void take_acceptance(std::string_view line, RunBuilder& run) {
        const std::size_t open = line.find('(', line.find("draft acceptance"));
        const auto accepted = number_after(line.substr(open == std::string_view::npos ? line.size() : open), "("),
                   drafted = number_after(line, "accepted /");
        if (!accepted || !drafted) {
            return run.problem("lacks the accepted or the generated drafts that lines on draft acceptance give");
        }
        if (!milliseconds_) {
            return;  // its request's time is not in the log
        }
        LlamaGeneration of{*predicted_, *milliseconds_, *drafted, *accepted, 0.0, 0.0, {}, 0.0};
        milliseconds_.reset();
        of.mean_length =
            number_after(line, "mean acceptance length =").value_or(number_after(line, "mean len =").value_or(0.0));
        of.rates = numbers_after(line, "acceptance rate per position =");
        add_llama_generation(run, of);
        counted_ = true;
        const double rounds = std::max(1.0, rounds_of(of));
        last_draft_length_ =
            run.draft_tokens_or(of.rates.empty() ? static_cast<int>(std::max(1L, std::lround(of.drafted / rounds)))
                                                 : static_cast<int>(of.rates.size()));
    }

    /// Sums since the start: the last line has them all.
    void take_sums(std::string_view line) {
        const std::vector<double> times = numbers_after(line, "dur(b,g,a)");
        const auto drafts = number_after(line, "#gen drafts"), drafted = number_after(line, "#gen tokens"),
                   accepted = number_after(line, "#acc tokens");
        if (times.size() == 3 && drafts && *drafts > 0.0) {
            drafting_ms_ = times[1];
            drafting_calls_ = *drafts;
        }
        if (drafts && drafted && accepted) {
            sums_.drafts = *drafts;
            sums_.drafted = *drafted;
            sums_.accepted = *accepted;
            sums_.reached.clear();
            for (const double rate : numbers_after(line, "#acc rate/pos")) {
                sums_.reached.push_back(std::round(rate * *drafts));
            }
            sums_.drafts_with_positions = sums_.reached.empty() ? 0.0 : *drafts;
        }
    }

    /// Where no line of a request told its acceptance.
    void count_sums(RunBuilder& run) {
        if (counted_ || sums_.drafts <= 0.0 || sums_.drafted <= 0.0) {
            return;
        }
        const auto length = static_cast<int>(sums_.reached.empty() ? std::lround(std::clamp(sums_.draft_length(), 1.0, 1e6))
                                                                   : std::ssize(sums_.reached));
        last_draft_length_ = run.draft_tokens_or(length);
        run.count(run.cell(0.0, last_draft_length_), sums_);
        run.remark("Acceptance is from llama.cpp's sums over the whole log, which tell no time of a round.");
    }

    void flush(RunBuilder& run) {
        if (milliseconds_) {
            const double milliseconds = *milliseconds_;
            milliseconds_.reset();
            if (*predicted_ > 1.0) {
                add_llama_generation(run, {*predicted_, milliseconds, 0.0, 0.0, 0.0, 0.0, {}, 0.0});
            }
        }
    }

    std::optional<double> milliseconds_, predicted_;
    double prompt_ = 0.0, drafting_ms_ = 0.0, drafting_calls_ = 0.0;
    int last_draft_length_ = 0;
    AcceptanceCounts sums_;
    bool counted_ = false;
};

}  // namespace

std::vector<JsonFormat> llama_cpp() {
    return {{"a response of llama.cpp", is_timings, read_timings},
            {"a result of llama-bench", is_llama_bench, read_llama_bench},
            {"a result of llama-batched-bench", is_batched_bench, read_batched_bench}};
}

std::unique_ptr<LineReader> llama_cpp_log() { return std::make_unique<LlamaCppLog>(); }

}  // namespace treeline::runs::run_formats_of
