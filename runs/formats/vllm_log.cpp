// vLLM's log: a line on the engine every interval, and one on speculation after it. Formats of 2024 (V0), early and late V1:
// vllm/v1/spec_decode/metrics.py and vllm/v1/metrics/loggers.py; pull requests 15902, 24127, issues 7301 and 19254. Engines of
// data parallelism write lines of their own ("Engine 003"), or one for all ("4 Engines Aggregated").
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/vllm_settings.h"
#include "runs/log_lines.h"

namespace treeline::runs::run_formats_of {
namespace {

/// "Running" is a snapshot, and throughput a mean of the interval: they belong together only where the number did not change.
constexpr double steady = 0.1;
/// Of prompt tokens to generated ones: reading a token takes no longer than generating one, so that fewer make a round appear
/// longer by no more than that.
constexpr double few_prompts = 0.05;
/// Seconds between two lines on an engine (VLLM_LOG_STATS_INTERVAL), unless that is set.
constexpr double interval_seconds = 10.0;
/// Beyond this, prefixes are not those of processes.
constexpr std::size_t most_streams = 10'000;

class VllmLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool spec = line.find("SpecDecoding metrics:") != std::string_view::npos ||
                          line.find("Speculative metrics:") != std::string_view::npos;
        const bool engine = line.find("Avg generation throughput:") != std::string_view::npos;
        const bool config =
            line.find("non-default args:") != std::string_view::npos || line.find("Initializing a V") != std::string_view::npos;
        if (spec || engine || config) {
            run.format("a log of vLLM");
            run.engine("vllm");
        }
        if (spec) {
            take_counts(line, run);
        } else if (engine) {
            take_interval(line, run);
        }
        return spec || engine || take_vllm_settings(line, run);
    }

    void finish(RunBuilder& run) override {
        // Where drafts are made, a log that ends with a line on the engine may have lost the line on them.
        for (auto& [stream, waiting] : waiting_) {
            if (!drafting_.contains(stream)) {
                flush(waiting, run);
            }
        }
        take_silent(run);
        take_singles(run);
        run.at_line(0);
        if (engines_.size() > 1 || aggregated_ > 1.0) {
            const double count = std::max(aggregated_, static_cast<double>(engines_.size()));
            RunSettings settings;
            settings.data_parallel = count;
            run.settings(settings);
            run.remark(fmt::format(
                "{:g} engines of data parallelism wrote this log{}; each load is of one engine.", count,
                aggregated_ > 1.0 ? ", and some lines are sums over them, from which the mean engine's load follows" : ""));
        }
        if (alone_ > 0) {
            run.remark(
                fmt::format("{} of {} lines on drafts gave acceptance, but no time of a round: no line on their engine "
                            "(\"Avg generation throughput\") stands before them.",
                            alone_, drafting_intervals_));
        }
        if (const long lost = drafting_intervals_ - timed_intervals_ - alone_; lost > 0) {
            run.remark(
                fmt::format("{} of {} intervals with drafts gave acceptance, but no time of a round: requests came or went "
                            "in them, or prompts were read.",
                            lost, drafting_intervals_));
        }
    }

private:
    struct Interval {
        double throughput = 0.0, running = 0.0, prompts = 0.0;
        double engines = 1.0;  ///< over which the line is a sum, of which `throughput` and `running` are a mean
        bool steady = false, decodes_only = false;
        bool is_first = false;  ///< no line of its engine stands above, so that nothing says whether it is steady
        long line = 0;

        [[nodiscard]] bool may_be_steady() const { return is_first && running >= 1.0 && throughput > 0.0; }
    };

    /// An interval that may be steady, and what was counted in it.
    struct Single {
        Interval interval;
        AcceptanceCounts counts;
        int drafts = 0;
        long line = 0;  ///< that counts them

        /// Generated in the interval: a round yields its accepted drafts and one more.
        [[nodiscard]] double tokens() const {
            return drafts > 0 ? counts.accepted + counts.drafts : interval.throughput * interval_seconds;
        }
    };

    std::optional<Interval>& waiting_of(std::string_view line) {
        std::string stream = stream_of(line);
        return waiting_[waiting_.size() < most_streams ? std::move(stream) : std::string()];
    }

    void take_interval(std::string_view line, RunBuilder& run) {
        std::optional<Interval>& waiting = waiting_of(line);
        flush(waiting, run);
        const auto throughput = number_after(line, "Avg generation throughput:"), running = number_after(line, "Running:"),
                   prompts = number_after(line, "Avg prompt throughput:");
        if (!throughput || !running) {
            return run.problem("lacks the throughput or the running requests that lines of vLLM's log give");
        }
        double engines = 1.0;
        std::string engine;
        if (const std::size_t sum = line.find(" Engines Aggregated"); sum != std::string_view::npos) {
            const std::size_t before = line.substr(0, sum).find_last_not_of("0123456789") + 1;
            engines = std::max(1.0, number_after(line.substr(before), "").value_or(1.0));
            aggregated_ = std::max(aggregated_, engines);
        } else if (const auto index = number_after(line, "Engine "); index && engines_.size() < most_streams) {
            engine = fmt::format("{:g}", *index);
            engines_.insert(engine);
        }
        const std::string stream = stream_of(line) + "#" + engine;
        const bool is_first = !last_running_.contains(stream) && last_running_.size() < most_streams;
        double& last = last_running_[last_running_.size() < most_streams ? stream : std::string()];
        waiting = {*throughput / engines,
                   std::round(*running / engines),
                   prompts.value_or(0.0) / engines,
                   engines,
                   *running > 0.0 && std::abs(*running - last) <= steady * *running,
                   prompts.value_or(0.0) <= few_prompts * *throughput,
                   is_first,
                   run.line()};
        last = *running;
    }

    struct Counted {
        double accepted = 0.0, drafted = 0.0;
    };

    /// What was accepted and drafted since the line before. V1 prints that; V0 prints sums since its start, which fall only
    /// where a server starts anew. (Versions about 0.5 write "tokens tokens".)
    std::optional<Counted> counted_in(std::string_view line) {
        const auto sum = number_after(line, "Number of draft tokens:"),
                   same = number_after(line, "Number of draft tokens tokens:"), drafted = sum ? sum : same;
        if (!drafted) {
            const auto accepted_now = number_after(line, "Accepted:"), drafted_now = number_after(line, "Drafted:");
            return accepted_now && drafted_now ? std::optional(Counted{*accepted_now, *drafted_now}) : std::nullopt;
        }
        const auto accepted = number_after(line, "Number of accepted tokens:");
        if (!accepted) {
            return std::nullopt;
        }
        Counted& last = sums_[sums_.size() < most_streams ? stream_of(line) : std::string()];
        const Counted before = std::exchange(last, {*accepted, *drafted});
        const bool goes_on = *accepted >= before.accepted && *drafted >= before.drafted;
        return goes_on ? Counted{*accepted - before.accepted, *drafted - before.drafted} : last;
    }

    void take_counts(std::string_view line, RunBuilder& run) {
        const auto counted = counted_in(line);
        if (!counted) {
            return run.problem("gives rates of speculation, but not how many tokens were accepted and drafted");
        }
        if (counted->drafted <= 0.0) {
            return;
        }
        const std::vector<double> rates = numbers_after(line, "Per-position acceptance rate:");
        const auto mean = number_after(line, "Mean acceptance length:"),
                   stated = number_after(line, "Number of speculative tokens:");
        run.agree_with_hint({0, 1, static_cast<int>(rates.size()) + 1});
        const int length =
            run.draft_tokens_or(!rates.empty() ? static_cast<int>(rates.size()) : static_cast<int>(stated.value_or(0.0)));
        AcceptanceCounts counts;
        counts.drafted = counted->drafted;
        counts.accepted = counted->accepted;
        // Accepted and drafted tokens are counted. The drafts follow from the length where it is fixed, else (suffix decoding,
        // schedules) from the mean, which is printed in two decimals.
        const double fixed = length > 0 ? counts.drafted / length : 0.0;
        const bool is_fixed = std::abs(fixed - std::round(fixed)) < 1e-9 && fixed > 0.0 &&
                              (!mean || std::abs(1.0 + counts.accepted / fixed - *mean) < 0.006);
        if (is_fixed) {
            counts.drafts = fixed;
        } else if (mean && *mean > 1.0) {
            counts.drafts = std::round(counts.accepted / (*mean - 1.0));
        } else {
            run.remark(
                "Lines of speculation without a draft length or a mean acceptance length were left out; --draft-tokens K says "
                "the length.");
            return;
        }
        for (const double rate : rates) {
            counts.reached.push_back(std::round(rate * counts.drafts));
            counts.drafts_with_positions = counts.drafts;
        }
        const int drafts = length > 0 ? length : static_cast<int>(std::lround(counts.draft_length()));
        std::optional<Interval>& waiting = waiting_of(line);
        const bool loaded = waiting && waiting->steady;
        counts.derived = false;
        if (waiting) {
            const std::optional<double> printed = seconds_of(line, *counted, waiting->is_first);
            seconds_ = printed.value_or(seconds_);
            if ((printed && !waiting->is_first) || run.drafts_when() == DraftsWhen::found) {
                run.add_undrafted_rounds(counts, waiting->throughput * waiting->engines * seconds_);
            }
        }
        silent_before_ = 0;
        last_draft_ = {drafts, static_cast<int>(rates.size())};
        ++drafting_intervals_;
        alone_ += waiting ? 0 : 1;
        if (drafting_.size() < most_streams) {
            drafting_.insert(stream_of(line));
        }
        if (!loaded && waiting && waiting->may_be_steady()) {
            singles_.push_back({*waiting, counts, drafts, run.line()});
            return waiting.reset();
        }
        RunCell& cell = run.cell(loaded ? waiting->running : 0.0, drafts);
        run.count(cell, counts);
        if (loaded) {
            steady_drafting_ = true;
            timed_intervals_ += add_speed(*waiting, cell, counts.accept_length(), counts.drafts, run) ? 1 : 0;
        }
        waiting.reset();
    }

    /// How long the interval was that a line on drafts is of: what was drafted and accepted is printed as counts and as rates
    /// since the line before, which agree. Where intervals without drafts lie between both, they share that time; before the
    /// first line, a server waits. Nothing where the line does not print both.
    [[nodiscard]] std::optional<double> seconds_of(std::string_view line, const Counted& counted, bool is_first) const {
        constexpr double printed = 0.005, agrees = 0.05;
        const double drafted = number_after(line, "Drafted throughput:").value_or(0.0),
                     accepted = number_after(line, "Accepted throughput:").value_or(0.0);
        const double expected = drafted * counted.accepted / counted.drafted;
        if (!(drafted > 0.0) || std::abs(accepted - expected) > printed + agrees * expected) {
            return std::nullopt;
        }
        const double each = counted.drafted / drafted / (1.0 + static_cast<double>(silent_before_));
        return is_first ? std::min(each, interval_seconds) : each;
    }

    /// Intervals of a look-up without a line on drafts: it found nothing in them. Where no line of the log is on drafts, they
    /// are of plain decoding.
    void take_silent(RunBuilder& run) {
        for (const Interval& interval : std::exchange(silent_, {})) {
            run.at_line(interval.line);
            const double rounds = std::round(interval.throughput * interval.engines * seconds_);
            RunCell& cell = run.cell(interval.steady ? interval.running : 0.0, last_draft_.tokens);
            if (last_draft_.tokens > 0) {
                AcceptanceCounts counts;
                counts.drafts = counts.undrafted = rounds;
                counts.drafts_with_positions = last_draft_.positions > 0 ? rounds : 0.0;
                counts.reached.resize(static_cast<std::size_t>(last_draft_.positions), 0.0);
                run.count(cell, counts);
            }
            if (interval.steady) {
                steady_plain_ = steady_plain_ || last_draft_.tokens == 0;
                add_speed(interval, cell, 1.0, rounds, run);
            }
        }
    }

    /// Whether the interval gave the time of a step. `rounds` of single sequences lie in it, of `length` tokens each.
    static bool add_speed(const Interval& interval, RunCell& cell, double length, double rounds, RunBuilder& run) {
        if (interval.throughput <= 0.0) {
            return false;
        }
        cell.tokens_per_second.add(interval.throughput, rounds * length);
        if (interval.decodes_only) {
            run.time(cell.round, "a round", interval.running * length / interval.throughput, rounds);
        }
        return interval.decodes_only;
    }

    /// An interval that no line on speculation followed is of plain decoding.
    void flush(std::optional<Interval>& waiting, RunBuilder& run) {
        const long line = run.line();
        if (waiting && waiting->throughput > 0.0 && run.drafts_when() == DraftsWhen::found) {
            ++silent_before_;
            silent_.push_back(*waiting);
            if (last_draft_.tokens > 0 && silent_.size() >= most_streams) {
                take_silent(run);
            }
        } else if (waiting && waiting->steady && waiting->throughput > 0.0) {
            steady_plain_ = true;
            run.at_line(waiting->line);
            add_speed(*waiting, run.cell(waiting->running, 0), 1.0, waiting->throughput * interval_seconds, run);
        } else if (waiting && waiting->may_be_steady()) {
            singles_.push_back({*waiting, {}, 0, waiting->line});
        }
        run.at_line(line);
        waiting.reset();
    }

    /// Where people paste single lines, no interval is known to be steady: their rates are then taken as they are.
    void take_singles(RunBuilder& run) {
        double prompts = 0.0;
        long taken = 0;
        for (const Single& single : singles_) {
            const bool wanted = single.drafts > 0 ? !steady_drafting_ : !steady_plain_;
            if (!wanted && single.drafts == 0) {
                continue;
            }
            run.at_line(single.line);
            RunCell& cell = run.cell(wanted ? single.interval.running : 0.0, single.drafts);
            if (single.drafts > 0) {
                run.count(cell, single.counts);
            }
            if (wanted) {
                cell.tokens_per_second.add(single.interval.throughput, single.tokens());
                prompts = std::max(prompts, single.interval.prompts / single.interval.throughput);
                timed_intervals_ += single.drafts > 0 ? 1 : 0;
                ++taken;
            }
        }
        if (taken > 0) {
            run.remark(fmt::format(
                "{}: {} stand{} alone, so that nothing says whether as many requests ran from {} beginning to {} end; {} "
                "tokens/s were taken as they are, with pauses and prompts in them (up to {:.2g} prompt tokens for each "
                "generated one).",
                run.file(), taken == 1 ? "an interval" : std::to_string(taken) + " intervals", taken == 1 ? "s" : "",
                taken == 1 ? "its" : "their", taken == 1 ? "its" : "their", taken == 1 ? "its" : "their", prompts));
        }
    }

    std::map<std::string, std::optional<Interval>> waiting_;  ///< by the process that writes
    std::map<std::string, Counted> sums_;                     ///< of V0, by the process that writes
    std::map<std::string, double> last_running_;              ///< by process and engine
    std::set<std::string> engines_, drafting_;                ///< the latter: processes that write of drafts
    std::vector<Single> singles_;
    bool steady_drafting_ = false, steady_plain_ = false;  ///< whether a steady interval was of drafts, of plain decoding
    struct Draft {
        int tokens = 0, positions = 0;
    };
    Draft last_draft_;
    std::vector<Interval> silent_;  ///< of a look-up, without a line on drafts
    long silent_before_ = 0;        ///< of them, since the last line on drafts
    double seconds_ = interval_seconds;
    double aggregated_ = 0.0;
    long drafting_intervals_ = 0, timed_intervals_ = 0, alone_ = 0;  ///< the last: lines on drafts without an interval
};

}  // namespace

std::unique_ptr<LineReader> vllm_log() { return std::make_unique<VllmLog>(); }

}  // namespace treeline::runs::run_formats_of
