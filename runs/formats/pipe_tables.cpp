// Tables of columns between "|", as llama-bench, llama-batched-bench, llama-sweep-bench and llama-spec-bench (ik_llama.cpp),
// llama-benchy and SGLang's bench_one_batch_server print them and threads quote them. A table is told by the names of its
// columns, in any order.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/pipe_cells.h"

namespace treeline::runs::run_formats_of {

std::string with_plain_bars(std::string_view line) {
    std::string plain(line);
    for (const std::string_view stroke : {"\u2502", "\u2503", "\u2551"}) {
        for (std::size_t at = plain.find(stroke); at != std::string::npos; at = plain.find(stroke, at)) {
            plain.replace(at, stroke.size(), "|");
        }
    }
    return plain;
}

std::vector<std::string> cells_of_row(std::string_view line) {
    std::vector<std::string> cells;
    line = line.substr(1, line.find_last_not_of(" \t"));
    while (!line.empty()) {
        const std::size_t bar = std::min(line.find('|'), line.size());
        std::string_view cell = line.substr(0, bar);
        const std::size_t first = cell.find_first_not_of(" \t*`");
        cell = first == std::string_view::npos ? std::string_view() : cell.substr(first);
        cells.emplace_back(cell.substr(0, cell.find_last_not_of(" \t*`") + 1));
        line.remove_prefix(std::min(bar + 1, line.size()));
    }
    return cells;
}

bool is_ruler(const std::vector<std::string>& cells) {
    return cells.size() > 1 && std::all_of(cells.begin() + 1, cells.end(), [](const std::string& cell) {
               return cell.find_first_not_of("-: ") == std::string::npos;
           });
}

bool only_draws(std::string_view line) {
    return std::none_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c) != 0 && c < 0x80; });
}

namespace {

/// What a test of llama-bench or llama-benchy did: "pp512", "tg128 @ d4096", "tg 128", "tg32 (c4)", "ctx_tg @ d4096".
struct Test {
    double prompt = 0.0, generated = 0.0, depth = 0.0, concurrency = 1.0;
};

Test test_of(std::string_view text) {
    Test test;
    test.prompt = number_after(text, "pp").value_or(0.0);
    test.generated = number_after(text, "tg").value_or(0.0);
    test.depth = number_after(text, "@ d").value_or(0.0);
    test.concurrency = std::max(1.0, number_after(text, "(c").value_or(1.0));
    return test;
}

class PipeTables : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        // A launcher's prefix may hold a bar, too.
        for (std::size_t bar = line.find('|'); bar != std::string_view::npos; bar = line.find('|', bar + 1)) {
            std::vector<std::string> cells = cells_of_row(line.substr(bar));
            if (read_ == nullptr || cells.size() != width_) {
                if (take_header(cells)) {
                    return true;
                }
                continue;
            }
            if (!is_ruler(cells)) {
                row_ = std::move(cells);
                (this->*read_)(run);
            }
            return true;
        }
        return false;
    }
    void finish(RunBuilder&) override {}

private:
    using Read = void (PipeTables::*)(RunBuilder&);

    /// Another table's header; what is none changes nothing.
    bool take_header(const std::vector<std::string>& names) {
        std::map<std::string, std::size_t, std::less<>> columns;
        for (std::size_t i = 0; i < names.size(); ++i) {
            columns.emplace(names[i], i);
        }
        const auto has = [&](const char* column) { return columns.contains(column); };
        const Read read = has("T_TG s") && has("TG")                              ? &PipeTables::read_batches
                          : has("test") && (has("t/s") || has("t/s (total)"))     ? &PipeTables::read_test
                          : has("rounds") && has("accepted") && has("time(s)")    ? &PipeTables::read_spec_bench
                          : has("batch size") && has("output throughput (tok/s)") ? &PipeTables::read_one_batch
                                                                                  : nullptr;
        if (read == nullptr) {
            return false;
        }
        read_ = read;
        width_ = names.size();
        columns_ = std::move(columns);
        prompts_.clear();
        return true;
    }

    [[nodiscard]] bool has(const char* column) const { return columns_.contains(column); }
    [[nodiscard]] std::string cell(const char* column) const {
        const auto found = columns_.find(column);
        return found == columns_.end() ? std::string() : row_[found->second];
    }
    [[nodiscard]] double number(const char* column) const { return number_after(cell(column), "").value_or(0.0); }

    /// llama-bench, and llama-benchy, which measures a server from outside.
    void read_test(RunBuilder& run) {
        const bool of_server = has("t/s (total)") || has("peak t/s") || has("ttfr (ms)") || has("e2e_ttft (ms)");
        run.format(of_server ? "a table of llama-benchy" : "a table of llama-bench");
        run.model(cell("model"));
        const Test test = test_of(cell("test"));
        const double rate = number(has("t/s (total)") ? "t/s (total)" : "t/s");
        if (!(rate > 0.0) || test.depth < 0.0) {
            return run.problem("is a row of a table without a rate above 0");
        }
        if (of_server) {
            return add_served(test, rate, run);
        }
        run.engine("llama.cpp");
        if (test.prompt > 0.0 && test.generated > 0.0) {
            run.remark("Rows of llama-bench that read and generate at once were left out.");
        } else if (test.generated > 0.0) {
            run.time(run.cell(1.0, 0, test.depth + 0.5 * test.generated).round, "a step", 1.0 / rate, test.generated);
        } else if (test.prompt > 0.0) {
            MeasuredMean seconds;
            seconds.add(test.prompt / rate);
            run.pass({1.0, test.prompt, test.depth, seconds});
        }
    }

    void add_served(const Test& test, double rate, RunBuilder& run) {
        const auto key = std::pair{test.depth, test.concurrency};
        if (test.prompt > 0.0) {
            prompts_[key] = {test.prompt, number(has("e2e_ttft (ms)") ? "e2e_ttft (ms)" : "ttfr (ms)") * 1e-3};
        }
        if (!(test.generated > 0.0)) {
            return;
        }
        const auto [prompt, first] = prompts_[key];
        RunCell& cell =
            run.cell(test.concurrency, std::max(0, run.draft_tokens_or(0)), test.depth + prompt + 0.5 * test.generated);
        cell.concurrency = true;
        cell.prompt_tokens = test.depth + prompt;
        cell.output_tokens = test.generated;
        const double one = number("t/s (req)");
        run.time(cell.tpot, "a time per token", 1.0 / (one > 0.0 ? one : rate / test.concurrency), test.generated);
        if (first > 0.0) {
            run.time(cell.ttft, "a TTFT", first);
        }
        cell.tokens_per_second.add(rate);
        run.remark("llama-benchy says nothing about speculation: join its file with the server's log, or give --draft-tokens.");
    }

    /// llama-batched-bench has B sequences; llama-sweep-bench one, with N_KV tokens before it.
    void read_batches(RunBuilder& run) {
        run.format(has("B") ? "a table of llama-batched-bench" : "a table of llama-sweep-bench");
        run.engine("llama.cpp");
        const double sequences = has("B") ? number("B") : 1.0, tokens = number("TG"), seconds = number("T_TG s");
        if (!(sequences >= 1.0) || !(tokens > 0.0) || !(seconds > 0.0)) {
            return run.problem("is a row of a table that must give B, TG and T_TG above 0");
        }
        const double before = has("B") ? number("PP") : number("N_KV") + number("PP");
        run.time(run.cell(sequences, 0, before + 0.5 * tokens).round, "a step", seconds / tokens, sequences * tokens);
    }

    /// ik_llama.cpp's pull request 2156: a prompt a row, with its counts ("538/660") and rates by position ("90.5% 80.5%").
    void read_spec_bench(RunBuilder& run) {
        run.format("a table of llama-spec-bench");
        run.engine("llama.cpp");
        const double rounds = number("rounds"), tokens = number("tokens"), seconds = number("time(s)");
        if (!(tokens > 0.0) || !(seconds > 0.0)) {
            return run.problem("is a row of a table that must give tokens and time(s) above 0");
        }
        if (!(rounds > 0.0)) {
            return run.time(run.cell(1.0, 0).round, "a step", seconds / tokens, tokens);
        }
        AcceptanceCounts counts;
        counts.drafts = counts.drafts_with_positions = rounds;
        counts.accepted = number("accepted");
        const std::string both = cell("accepted"), rates = cell("pos accept");
        counts.drafted = number_after(both, "/").value_or(0.0);
        for (std::size_t at = 0; at < rates.size(); at = std::min(rates.find(' ', at), rates.size() - 1) + 1) {
            if (const auto rate = number_after(std::string_view(rates).substr(at), "")) {
                counts.reached.push_back(std::round(*rate / 100.0 * rounds));
            }
        }
        const auto positions = static_cast<int>(counts.reached.size());
        RunCell& cell_of_drafts =
            run.cell(1.0, run.draft_tokens_or(positions > 0 ? positions : static_cast<int>(std::ceil(counts.draft_length()))));
        run.count(cell_of_drafts, counts);
        run.time(cell_of_drafts.round, "a round", seconds / rounds, rounds);
    }

    void read_one_batch(RunBuilder& run) {
        run.format("a table of SGLang's bench_one_batch_server");
        run.engine("sglang");
        const double batch = number("batch size"), rate = number("output throughput (tok/s)"),
                     length = std::max(number("acc length"), number("accept length"));
        const bool drafts = length > 1.0;
        const int length_of_drafts = drafts ? run.draft_tokens_or(0) : 0;
        if (!(batch >= 1.0) || !(rate > 0.0)) {
            return run.problem("is a row of a table that must give a batch size and a throughput above 0");
        }
        if (drafts && length_of_drafts <= 0) {
            return run.lacks_draft_tokens(
                "gives an accept length, but not how many tokens were drafted; --draft-tokens K says it");
        }
        RunCell& cell = run.cell(batch, length_of_drafts, number("input len") + 0.5 * number("output len"));
        if (drafts) {
            run.state_length(cell, length);
        }
        run.time(cell.tpot, "a time per token", batch / rate);
        cell.tokens_per_second.add(rate);
    }

    std::map<std::string, std::size_t, std::less<>> columns_;
    std::size_t width_ = 0;
    std::vector<std::string> row_;
    Read read_ = nullptr;
    /// Tokens and TTFT of the prompts of a depth and concurrency, whose row stands before that of the answers.
    std::map<std::pair<double, double>, std::pair<double, double>> prompts_;
};

}  // namespace

std::unique_ptr<LineReader> pipe_tables() { return std::make_unique<PipeTables>(); }

}  // namespace treeline::runs::run_formats_of
