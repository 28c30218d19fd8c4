// llama.cpp's log: times and acceptance of requests, of single rounds (-v) and of the whole log. tools/server and
// common/speculative.cpp of ggml-org/llama.cpp; pull requests 18211, 24536 and 27210.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/llama_generation.h"
#include "runs/formats/report_caption.h"
#include "runs/log_lines.h"
#include "sim/input_limits.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Whether only the fork ik_llama.cpp prints a line: what it says of itself when it loads a model, or times in the form that
/// llama.cpp gave up in September 2024 (pull request 9418), after that.
bool is_of_fork(std::string_view line) {
    constexpr double october_of_2024 = 1'727'740'800.0;
    for (const char* words : {"HAVE_FANCY_SIMD is ", ": fused_moe ", ": mla_attn "}) {
        if (line.find(words) != std::string_view::npos) {
            return true;
        }
    }
    return line.find("print_timings]") != std::string_view::npos &&
           number_after(line, "timestamp=").value_or(0.0) >= october_of_2024;
}

/// Acceptance of each slot of llama-server. A drafter whose state is kept for the first sequence alone accepts next to nothing
/// on the others (reported of several builds in 2026).
class Slots {
public:
    void add(std::string_view line, double drafted, double accepted) {
        const std::size_t slot = line.find("slot ");
        const auto id = slot == std::string_view::npos ? std::nullopt : number_after(line.substr(slot), "id");
        if (id && *id >= 0.0 && *id < most_slots) {
            auto& [all, good] = of_slot_[static_cast<int>(*id)];
            all += drafted;
            good += accepted;
        }
    }
    void say(RunBuilder& run) const {
        if (of_slot_.size() < 2) {
            return;
        }
        run.remark(run.file() +
                   ": several slots answered; where they did so at once, say --batch N, for times are else taken as "
                   "those of one request");
        const auto rate = [](const auto& slot) { return slot.second.second / std::max(1.0, slot.second.first); };
        const auto enough = [](const auto& slot) { return slot.second.first >= fewest_drafted; };
        const auto worse = [&](const auto& a, const auto& b) { return rate(a) < rate(b); };
        const auto [low, high] = std::minmax_element(of_slot_.begin(), of_slot_.end(), worse);
        if (enough(*low) && enough(*high) && rate(*low) < collapsed * rate(*high)) {
            run.remark(
                fmt::format("{}: slot {} accepts {:.1f} % of its drafts and slot {} {:.1f} %: this looks like a defect (the "
                            "drafter's state of one sequence used for another), not like a weak drafter; try another build, "
                            "or --parallel 1",
                            run.file(), low->first, 100.0 * rate(*low), high->first, 100.0 * rate(*high)));
        }
    }

private:
    static constexpr double most_slots = 4096.0, fewest_drafted = 30.0, collapsed = 0.25;
    std::map<int, std::pair<double, double>> of_slot_;  ///< drafted and accepted tokens
};

class LlamaCppLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (is_of_one_model(line, run)) {
            return true;
        }
        if (line.find(" draft tokens, new n_tokens") != std::string_view::npos && take_round(line, run)) {
            return true;
        }
        if (line.find("adaptive n :") != std::string_view::npos) {
            run.remark(
                "The draft length was adaptive: rounds drafted for different numbers of tokens, so later positions are "
                "reached less often than with a fixed length.");
            return true;
        }
        of_fork_ = of_fork_ || is_of_fork(line);
        const bool reads = line.find("prompt eval time =") != std::string_view::npos;
        const bool decodes = !reads && line.find("eval time =") != std::string_view::npos;
        const bool ends =
            line.find("release: id") != std::string_view::npos || line.find("total time =") != std::string_view::npos;
        const bool accepts =
            line.find("draft acceptance") != std::string_view::npos && line.find("accepted /") != std::string_view::npos;
        const bool sums = line.find("#calls(b,g,a)") != std::string_view::npos;
        const bool positions = pending_ && !sums && take_positions(line);
        if (reads || decodes || accepts || sums) {
            run.format(of_fork_ ? "a log of ik_llama.cpp" : "a log of llama.cpp");
            run.engine(of_fork_ ? "ik_llama.cpp" : "llama.cpp");
        }
        take_models(line, run);
        if (reads) {
            flush(run);
            prompt_ = number_after(line.substr(line.find("eval time")), "/").value_or(0.0);
        } else if (decodes) {
            flush(run);
            milliseconds_ = number_after(line, "eval time");
            const StatedDrafts& under = heading_.stated();
            stated_ = under.tokens >= 0 || under.drafting ? run.draft_tokens_or(under.tokens) : run.stated_draft_tokens();
            stated_ = under.tokens == 0 ? 0 : stated_;
            asks_ = under.drafting && stated_ < 0;
            heading_.end_report();
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
            flush_answer(run);
        } else if (ends && line.find("release") != std::string_view::npos) {
            flush(run);
        } else if (!reads && !decodes && !accepts && !sums && (line.starts_with('#') || line.starts_with("**"))) {
            heading_.take(line);
        }
        return reads || decodes || accepts || sums || positions;
    }

    void finish(RunBuilder& run) override {
        flush(run);
        run.at_line(0);
        if (const std::string& method = drafter_.empty() ? lookup_ : drafter_; !method.empty()) {
            RunIdentity said;
            said.engine = "llama.cpp";
            said.method = method.substr(method.starts_with("draft-") ? std::string_view("draft-").size() : 0);
            run.command(said);
        }
        count_rounds(run);
        count_sums(run);
        if (unsaid_ && !counted_) {
            run.lacks_draft_tokens(
                "has times under a heading that drafts, but nothing says how many tokens were drafted; --draft-tokens K says "
                "it");
        }
        slots_.say(run);
        if (drafting_calls_ > 0.0 && last_draft_length_ > 0) {
            run.time(run.cell(1.0, last_draft_length_).drafting, "a draft", drafting_ms_ * 1e-3 / drafting_calls_,
                     drafting_calls_);
        }
    }

private:
    bool of_fork_ = false, named_ = false;
    std::string drafter_, lookup_;  ///< what drafted by its sums: a model ("draft-mtp") and a look-up ("ngram-mod")

    /// The server names the files that it loads; what a loader says of the first one counts where it does not.
    void take_models(std::string_view line, RunBuilder& run) {
        if (line.find("load_model: loading draft model '") != std::string_view::npos) {
            run.drafter(quoted_after(line, "model '"));
        } else if (line.find("load_model: loading model '") != std::string_view::npos) {
            named_ = true;
            run.model(quoted_after(line, "model '"));
        } else if (const std::size_t from = line.find(" tensors from "); !named_ && from != std::string_view::npos) {
            named_ = true;
            run.model(
                std::string(line.substr(0, line.find(" (version")).substr(from + std::string_view(" tensors from ").size())));
        } else if (const std::size_t name = line.find("general.name str "); !named_ && name != std::string_view::npos) {
            named_ = true;
            run.model(word_after(line, "= "));
        }
    }

    /// What stands between a text, which ends in a quote, and the next quote.
    static std::string quoted_after(std::string_view line, std::string_view text) {
        line.remove_prefix(line.find(text) + text.size());
        return std::string(line.substr(0, line.find('\'')));
    }

    /// llama-speculative-simple names parts of a drafter: "Eagle3 Draft encoder:", "DFlash Draft decoder:".
    static bool names_part_of_drafter(std::string_view text) {
        constexpr std::size_t longest = 60;
        const std::size_t draft = text.size() < longest ? text.find("Draft ") : std::string_view::npos;
        return draft != std::string_view::npos && (text.ends_with("encoder:") || text.ends_with("decoder:"));
    }

    /// llama-speculative ends with the timings of its two models, under "draft:" and "target:". The first are the drafter's
    /// own; the second count what was verified as prompts, and a single run is no mean of plain decoding.
    bool is_of_one_model(std::string_view line, RunBuilder& run) {
        const std::string_view text = without_prefix(line);
        if (text == "draft:" || text == "target:" || names_part_of_drafter(text)) {
            flush(run);
            section_ = text == "target:" ? text : "draft:";
            return false;
        }
        const bool timing = text.starts_with("llama_print_timings:") || text.starts_with("llama_perf_") ||
                            text.starts_with("common_perf_print:");
        section_ = timing || text.empty() ? section_ : "";
        const std::size_t decoding = text.find(" eval time =");
        const bool many = decoding != std::string_view::npos && number_after(text.substr(decoding), "/").value_or(0.0) > 1.0 &&
                          text.find("prompt eval") == std::string_view::npos;
        if (section_ == "target:" && timing && many) {
            run.remark(run.file() + ": single steps of the model under \"target:\" were taken for plain decoding");
        }
        if (section_.empty() || !timing || (section_ == "target:" && many)) {
            return false;
        }
        const std::string why = "timings under \"draft:\" and \"target:\" are of one model's part of speculation";
        run.unread(why +
                   "; what llama-speculative prints before them (\"decoded ... tokens in\", n_drafted, n_accept) is read");
        run.remark(run.file() + ": " + why + " and were left out");
        return true;
    }

    void take_acceptance(std::string_view line, RunBuilder& run) {
        const std::size_t open = line.find('(', line.find("draft acceptance"));
        const auto accepted = number_after(line.substr(open == std::string_view::npos ? line.size() : open), "("),
                   drafted = number_after(line, "accepted /");
        if (!accepted || !drafted) {
            return run.problem("lacks the accepted or the generated drafts that lines on draft acceptance give");
        }
        slots_.add(line, *drafted, *accepted);
        LlamaGeneration of{predicted_.value_or(0.0), milliseconds_.value_or(0.0), *drafted, *accepted, 0.0, 0.0, {}, 0.0};
        of.mean_length =
            number_after(line, "mean acceptance length =").value_or(number_after(line, "mean len =").value_or(0.0));
        of.rates = numbers_after(line, "acceptance rate per position =");
        of.rates = of.rates.empty() ? numbers_after(line, "acc per pos =") : of.rates;
        flush_answer(run);
        pending_ = Answer{of, milliseconds_.has_value(), run.line()};
        milliseconds_.reset();
    }

    /// "#acc rate/pos = (0.902, 0.725)" on a line of its own, below the answer that it is of.
    bool take_positions(std::string_view line) {
        const std::vector<double> rates = numbers_after(line, "#acc rate/pos");
        pending_->of.rates = pending_->of.rates.empty() ? rates : pending_->of.rates;
        return !rates.empty();
    }

    /// Adds the answer whose acceptance waited for what the lines below it say of its positions.
    void flush_answer(RunBuilder& run) {
        if (!pending_) {
            return;
        }
        const long line = run.line();
        Answer answer = *std::exchange(pending_, std::nullopt);
        run.at_line(answer.line);
        answer.timed ? add_timed(answer.of, run) : add_untimed(answer.of, run);
        run.at_line(line);
    }

    void add_timed(LlamaGeneration& of, RunBuilder& run) {
        const double rounds = std::max(1.0, rounds_of(of));
        if (of.rates.empty() && longest_ > 0) {
            of.length = std::max(longest_, longest_by_mean(of.drafted, rounds));
        }
        add_llama_generation(run, of);
        counted_ = true;
        last_draft_length_ = run.draft_tokens_or(of.length > 0      ? of.length
                                                 : of.rates.empty() ? longest_by_mean(of.drafted, rounds)
                                                                    : static_cast<int>(of.rates.size()));
    }

    /// A request whose time is not in the log: its rounds follow from the printed mean, or from the draft length.
    void add_untimed(const LlamaGeneration& of, RunBuilder& run) {
        const int stated = run.draft_tokens_or(static_cast<int>(of.rates.size()));
        AcceptanceCounts counts;
        counts.drafted = of.drafted;
        counts.accepted = of.accepted;
        counts.drafts = of.mean_length > 1.0 ? std::round(of.accepted / (of.mean_length - 1.0))
                        : stated > 0         ? std::ceil(of.drafted / stated)
                                             : 0.0;
        if (counts.drafts < 1.0) {
            return run.remark(run.file() +
                              ": lines on draft acceptance without the time of their request were left out; "
                              "--draft-tokens K makes rounds of them");
        }
        for (const double rate : of.rates) {
            counts.reached.push_back(std::round(rate * counts.drafts));
            counts.drafts_with_positions = counts.drafts;
        }
        last_draft_length_ = stated > 0 ? stated : std::max(longest_, longest_by_mean(of.drafted, counts.drafts));
        run.count(run.cell(0.0, last_draft_length_), counts);
        counted_ = true;
    }

    /// A round, which llama-server prints with -v: "accepted 2/16 draft tokens, new n_tokens = 661".
    bool take_round(std::string_view line, RunBuilder& run) {
        const std::size_t start = line.find("accepted ");
        const std::string_view text = line.substr(std::min(start, line.size()));
        const auto accepted = number_after(text, "accepted "), drafted = number_after(text, "/");
        if (!accepted || !drafted) {
            return false;
        }
        run.format("a log of llama.cpp");
        run.engine("llama.cpp");
        if (*drafted < 1.0 || *drafted > sim::most_draft_tokens || *accepted > *drafted) {
            run.remark(run.file() +
                       ": rounds that accept more than they drafted were left out: before December 2025 llama.cpp "
                       "logged 0 drafted tokens");
            return true;
        }
        const auto length = static_cast<std::size_t>(*drafted);
        AcceptanceCounts& counts = rounds_[static_cast<int>(length)];
        counts.drafts += 1.0;
        counts.drafts_with_positions = counts.drafts;
        counts.drafted += *drafted;
        counts.accepted += *accepted;
        counts.reached.resize(length, 0.0);
        for (std::size_t i = 0; i < length && static_cast<double>(i) < *accepted; ++i) {
            counts.reached[i] += 1.0;
        }
        if (!counted_) {
            slots_.add(line, *drafted, *accepted);
        }
        return true;
    }

    /// Where no line of a request told its acceptance.
    void count_rounds(RunBuilder& run) {
        for (const auto& [length, counts] : rounds_) {
            if (!counted_) {
                last_draft_length_ = length;
                run.count(run.cell(0.0, length), counts);
            }
        }
        counted_ = counted_ || !rounds_.empty();
    }

    /// Sums since the start: the last line has them all.
    void take_sums(std::string_view line) {
        std::string of_drafter;
        if (const std::size_t named = line.find("statistics"); named != std::string_view::npos) {
            std::istringstream in{std::string(line.substr(named, 200))};
            std::string word, drafter;
            in >> word >> drafter;
            drafter = drafter.substr(0, drafter.find(':'));
            if (number_after(line, "#gen drafts").value_or(0.0) > 0.0) {
                (drafter.starts_with("draft-") ? drafter_ : lookup_) = drafter;
                of_drafter = drafter;
            }
        }
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
            if (*drafts > 0.0) {
                tell_answer(of_drafter);
            }
        }
    }

    /// What the sums grew by is the answer above them where it drafted and accepted as much: then its drafts and positions are
    /// known. Of a single drafter they tell its longest draft in any case.
    void tell_answer(const std::string& drafter) {
        const AcceptanceCounts before = std::exchange(sums_of_[drafter], sums_);  // larger where the server started anew
        AcceptanceCounts grown = sums_;
        if (before.drafts < sums_.drafts && before.drafted <= sums_.drafted && before.accepted <= sums_.accepted) {
            grown.drafts -= before.drafts;
            grown.drafted -= before.drafted;
            grown.accepted -= before.accepted;
            for (std::size_t i = 0; i < grown.reached.size() && i < before.reached.size(); ++i) {
                grown.reached[i] = std::max(0.0, grown.reached[i] - before.reached[i]);
            }
        }
        const int longest =
            sums_.reached.empty() ? longest_by_mean(sums_.drafted, sums_.drafts) : static_cast<int>(sums_.reached.size());
        longest_ = sums_of_.size() == 1 ? std::max(longest_, longest) : 0;
        if (!pending_ || pending_->of.drafted != grown.drafted || pending_->of.accepted != grown.accepted) {
            return;
        }
        // Rounds without a draft take time, too: where no mean is printed, those that drafted are not told apart from them.
        LlamaGeneration& of = pending_->of;
        const bool drafted_alone = of.mean_length > 1.0 || !pending_->timed;
        of.mean_length = drafted_alone ? 1.0 + grown.accepted / grown.drafts : 0.0;
        const double rounds = drafted_alone ? grown.drafts : std::max(grown.drafts, rounds_of(of));
        if (of.rates.empty() && are_exact(grown)) {
            for (const double reached : grown.reached) {
                of.rates.push_back(reached / rounds);
            }
        }
    }

    /// Whether positions by the difference of two sums can be counts: rates of long sums, in three decimals, are too coarse for
    /// a short answer.
    bool are_exact(const AcceptanceCounts& grown) const {
        constexpr double printed = 0.0005, least = 0.01;
        double accepted = 0.0, before = grown.drafts;
        for (const double reached : grown.reached) {
            if (reached > before) {
                return false;
            }
            before = reached;
            accepted += reached;
        }
        return printed * sums_.drafts <= std::max(0.5, least * grown.drafts) &&
               std::abs(accepted - grown.accepted) <= least * grown.accepted;
    }

    /// Where no line of a request told its acceptance.
    void count_sums(RunBuilder& run) {
        if (counted_ || sums_.drafts <= 0.0 || sums_.drafted <= 0.0) {
            return;
        }
        const int length =
            sums_.reached.empty() ? longest_by_mean(sums_.drafted, sums_.drafts) : static_cast<int>(sums_.reached.size());
        last_draft_length_ = run.draft_tokens_or(length);
        run.count(run.cell(0.0, last_draft_length_), sums_);
        run.remark("Acceptance is from llama.cpp's sums over the whole log, which tell no time of a round.");
    }

    void flush(RunBuilder& run) {
        flush_answer(run);
        if (milliseconds_) {
            const double milliseconds = *milliseconds_;
            milliseconds_.reset();
            if (*predicted_ > 1.0 && stated_ > 0) {
                // The server drafts, by its command or the heading above, and this answer does not say with what luck.
                run.time(run.cell_of_request(run.batch_or(1.0), stated_, 0.0, *predicted_ - 1.0).tpot, "a time per token",
                         milliseconds * 1e-3 / (*predicted_ - 1.0), *predicted_ - 1.0);
                run.remark(run.file() +
                           ": answers below a set-up that drafts, without a line on what was accepted, have a time per token "
                           "and no accept length");
            } else if (*predicted_ > 1.0) {
                unsaid_ = unsaid_ || asks_;
                add_llama_generation(run, {*predicted_, milliseconds, 0.0, 0.0, 0.0, 0.0, {}, 0.0});
            }
        }
    }

    /// An answer, the line of its acceptance, and whether its time is known.
    struct Answer {
        LlamaGeneration of;
        bool timed = false;
        long line = 0;
    };

    std::optional<double> milliseconds_, predicted_;
    std::optional<Answer> pending_;
    std::map<std::string, AcceptanceCounts> sums_of_;  ///< the last ones, by drafter
    int longest_ = 0;                                  ///< tokens of a draft by the sums; 0: not known
    double prompt_ = 0.0, drafting_ms_ = 0.0, drafting_calls_ = 0.0;
    int last_draft_length_ = 0;
    int stated_ = -1;                     ///< draft tokens by the heading or command above the answer whose time is pending
    bool asks_ = false, unsaid_ = false;  ///< it drafts by its heading, however many tokens; such a one was added as plain
    ReportCaption heading_;
    AcceptanceCounts sums_;
    std::map<int, AcceptanceCounts> rounds_;  ///< by draft length
    Slots slots_;
    bool counted_ = false;
    std::string section_;  ///< "draft:" or "target:" where timings stand under one of them
};

}  // namespace

std::unique_ptr<LineReader> llama_cpp_log() { return std::make_unique<LlamaCppLog>(); }

}  // namespace treeline::runs::run_formats_of
