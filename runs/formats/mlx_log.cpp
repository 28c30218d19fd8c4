// Logs of servers on MLX: oMLX prints what it accepted in each request, and then the request's speed (jundot/omlx, issues 1496,
// 2748 and 3704, and pull request 1839 of models with vision); vMLX prints acceptance by depth on a line of its own.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {
namespace {

/// "depth[d1=155/200,d2=115/150,d3=82/104]": accepted and drafted at each depth.
std::vector<std::pair<double, double>> depths_of(std::string_view line) {
    std::vector<std::pair<double, double>> depths;
    const std::size_t open = line.find("depth[d1=");
    const std::string_view inside =
        open == std::string_view::npos ? std::string_view() : line.substr(open, line.find(']', open) - open);
    for (int depth = 1; depth <= 64; ++depth) {
        const std::string name = "d" + std::to_string(depth);
        const auto accepted = number_after(inside, name + "=");
        const auto drafted = accepted ? number_after(inside.substr(inside.find(name + "=")), "/") : std::nullopt;
        if (!drafted || *drafted <= 0.0) {
            break;
        }
        depths.emplace_back(*accepted, *drafted);
    }
    return depths;
}

class MlxLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool of_cycles = line.find("MTP[") != std::string_view::npos && line.find("cycles=") != std::string_view::npos,
                   of_rounds =
                       line.find("mtp stats:") != std::string_view::npos && line.find("rounds=") != std::string_view::npos;
        const bool counts = (of_cycles || of_rounds) && line.find("accept") != std::string_view::npos;
        const bool depths = !counts && line.find("accept_by_depth[") != std::string_view::npos;
        const bool speed = line.find("ompletion: ") != std::string_view::npos && line.find(" tok/s)") != std::string_view::npos;
        if (!counts && !depths && !speed) {
            return false;
        }
        run.format("a log of a server on MLX");
        run.engine("mlx");
        if (counts) {
            flush(run, 0.0);
            take_counts(line, run);
        } else if (depths && waiting_ && waiting_->depths.empty()) {
            waiting_->depths = depths_of(line);
        } else if (speed) {
            take_speed(line, run);
        }
        return true;
    }

    void finish(RunBuilder& run) override { flush(run, 0.0); }

private:
    struct Request {
        double rounds = 0.0, accepted = 0.0, drafted = 0.0, parked = 0.0, milliseconds = 0.0;
        std::vector<std::pair<double, double>> depths;
    };

    void take_counts(std::string_view line, RunBuilder& run) {
        const auto cycles = number_after(line, "cycles="), rounds = cycles ? cycles : number_after(line, " rounds="),
                   old = number_after(line, " accept="), accepted = old ? old : number_after(line, " accepted=");
        const std::size_t at = std::min(line.find(" accept="), line.find(" accepted="));
        const auto drafted = at == std::string_view::npos ? std::nullopt : number_after(line.substr(at), "/");
        if (!rounds || !accepted || !drafted) {
            return run.problem("lacks the cycles or rounds, or the accepted and drafted tokens that lines on MTP give");
        }
        Request request{*rounds, *accepted, *drafted, number_after(line, " d0=").value_or(0.0), 0.0, depths_of(line)};
        for (const char* part : {"backbone=", " mtp=", "sample=", "cache="}) {
            request.milliseconds += number_after(line, part).value_or(0.0);
        }
        waiting_ = request;
    }

    void take_speed(std::string_view line, RunBuilder& run) {
        run.model(word_after(line, "model="));
        const std::size_t unit = line.find(" tokens in ");
        if (unit == std::string_view::npos) {
            return;
        }
        const std::size_t before = line.substr(0, unit).find_last_of(" :");
        const double tokens = number_after(line.substr(before == std::string_view::npos ? 0 : before), " ").value_or(0.0);
        const double rate = number_after(line.substr(unit), "s (").value_or(0.0);
        const double context = number_after(line, "prompt: ").value_or(0.0) + 0.5 * tokens;
        if (waiting_) {
            return flush(run, context, rate, tokens);
        }
        if (rate > 0.0 && tokens > 1.0) {
            RunCell& cell = run.cell_of_request(1.0, std::max(0, run.draft_tokens_or(0)), context, tokens);
            run.time(cell.tpot, "a time per token", 1.0 / rate, tokens);
        }
    }

    /// `rate` in tokens/s of an answer of so many tokens; 0 where it is not known.
    void flush(RunBuilder& run, double context, double rate = 0.0, double tokens = 0.0) {
        if (!waiting_) {
            return;
        }
        const Request of = *waiting_;
        waiting_.reset();
        AcceptanceCounts counts;
        // Cycles that the depth controller parked at depth 0 are plain steps.
        counts.drafts = of.depths.empty() ? of.rounds - of.parked : of.depths.front().second;
        counts.drafted = of.drafted;
        counts.accepted = of.accepted;
        if (!(counts.drafts > 0.0) || !(counts.drafted > 0.0)) {
            return;
        }
        for (const auto& [accepted, drafted] : of.depths) {
            counts.reached.push_back(accepted);
            counts.drafts_with_positions = counts.drafts;
        }
        const double mean = std::clamp(counts.draft_length(), 1.0, 1e6);
        const int drafts =
            run.draft_tokens_or(of.depths.empty() ? static_cast<int>(std::lround(mean)) : static_cast<int>(of.depths.size()));
        RunCell& cell = run.cell_of_request(1.0, drafts, context, counts.drafts);
        run.count(cell, counts);
        if (of.milliseconds <= 0.0) {
            return rate > 0.0 && tokens > 1.0 ? run.time(cell.tpot, "a time per token", 1.0 / rate, tokens) : void();
        }
        if (of.parked > 0.0) {
            return run.remark(
                "Times of requests in which some steps drafted nothing were left out: they are of rounds and plain "
                "steps together.");
        }
        run.time(cell.round, "a round", of.milliseconds * 1e-3 / of.rounds, of.rounds);
    }

    std::optional<Request> waiting_;
};

}  // namespace

std::unique_ptr<LineReader> mlx_log() { return std::make_unique<MlxLog>(); }

}  // namespace treeline::runs::run_formats_of
