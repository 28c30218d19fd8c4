// Results that people write down in sentences and lists: "K=2: 220 tok/s, K=3: 231 tok/s, no spec: 140", "- n=2: 63 t/s (accept
// 71 %)", "without speculation I get 42 tok/s, with 3 draft tokens 78". They become rows of a table of loads, under the lines
// before them; a file that holds anything else that is read, or a script, is not searched for
// them.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/chinese_words.h"
#include "runs/formats/load_table.h"
#include "runs/formats/pipe_cells.h"
#include "runs/formats/prose_statements.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"
#include "text/plain_text.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Statements under the same lines, the last of which is `title`.
struct Paragraph {
    TableCaption caption;
    bool drafting = false;
    std::string title;
    std::vector<Statement> statements;
};

/// What a line says of all figures behind it that say nothing else.
struct Common {
    std::string unit, requests;
    int drafts = -1;        ///< of the last command line, or line for all that follows, that states them
    bool drafting = false;  ///< whether the last label that speaks of drafting says that it drafts ("MTP test")
    StatedSetup above;

    void take(std::string_view line) {
        TableCaption caption;
        caption.take(line);
        const Role role = caption.times();
        unit = role == Role::rate           ? "tok/s"
               : role == Role::rate_of_user ? "tok/s per user"
               : role == Role::tpot         ? fmt::format("TPOT ({})", name_of_unit(caption.unit_of(role)))
                                            : unit;
        requests = caption.batch() >= 1.0 ? fmt::format("{}", caption.batch()) : requests;
        const int before = above.drafts();
        above.take(line);
        const int stated = line.find(" --") != std::string_view::npos ? drafts_of_caption(std::string(line)) : -1;
        drafts = stated >= 0 ? stated : above.drafts() != before ? above.drafts() : drafts;
        constexpr std::ptrdiff_t most_words = 12;
        const std::string words = plain_words(line);
        if (std::count(words.begin(), words.end(), ' ') < most_words && (names_drafter(words) || means_plain(words))) {
            drafting = names_drafter(words);
        }
    }
};

/// Whether the deployment is told: with how many drafts, or without.
bool has_setup(const Statement& statement, const Paragraph& paragraph) {
    return !statement.setup.empty() || paragraph.caption.drafts() >= 0 || paragraph.drafting;
}

/// "K=3" or "baseline" as a statement says it, or else the lines before it; empty where neither does.
std::string setup_under(const Statement& statement, const Paragraph& paragraph) {
    const int drafts = paragraph.caption.drafts();
    return !statement.setup.empty() || drafts < 0 ? statement.setup : drafts == 0 ? "baseline" : fmt::format("K={}", drafts);
}

/// Whether something is drafted: rates alone may be of anything.
bool states_drafts(const Paragraph& paragraph) {
    return paragraph.drafting || paragraph.caption.drafts() > 0 ||
           std::any_of(paragraph.statements.begin(), paragraph.statements.end(),
                       [](const Statement& statement) { return !statement.setup.empty() && statement.setup != "baseline"; });
}

/// What tells the deployment of the figures below a line from others; none of a line that may name a drafter by its checkpoint.
DeploymentWords deployment_of_title(std::string title) {
    if (names_drafter(plain_words(title)) || title.find('/') != std::string::npos) {
        return {};
    }
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return deployment_in(title);
}

/// Of a command that goes on in the next line: what a flag may be is no result.
bool is_continued(std::string_view line) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return last != std::string_view::npos && line[last] == '\\';
}

class ProseResults : public LineReader {
public:
    bool take(std::string_view original, RunBuilder& run) override {
        if (run.has_measurements()) {
            return false;
        }
        const std::string english = may_be_chinese(original) ? in_english(original) : std::string();
        const std::string_view line = english.empty() ? original : english;
        constexpr std::size_t most_statements = 1024;
        const std::size_t first = line.find_first_not_of(" \t>");
        const bool is_row = (first != std::string_view::npos && with_plain_bars(line.substr(first, 4)).front() == '|') ||
                            is_row_without_sides(line);
        StatedLine stated = taken_ < most_statements && !is_row && !is_continued(line) ? statements_of(line) : StatedLine();
        std::vector<Statement>& statements = stated.statements;
        lists_ = lists_ || stated.lists_left_out;
        drafter_ = drafter_ || stated.drafter_left_out;
        if (statements.empty()) {
            take_acceptance_below(line);
            take_load_below(line);
            take_caption(line);
            return false;
        }
        below_.clear();  // it was a line above these
        if (std::exchange(begins_, false)) {
            paragraphs_.push_back({caption_, common_.drafting, title_, {}});
            drafting_.clear();
            caption_.end_paragraph();
        }
        taken_ += statements.size();
        const DeploymentWords above = deployment_of_title(paragraphs_.back().title);
        for (Statement& statement : statements) {
            statement.deployment.add(above);
            statement.line = run.line();
            assumed_ = assumed_ || statement.assumed;
            alone_ = alone_ || statement.alone;
            if (deployment_.contradicts(statement.deployment)) {
                others_ += others_.empty() ? statement.deployment.text() : "";
                continue;
            }
            deployment_.add(statement.deployment);
            statement.requests = statement.requests.empty() ? common_.requests : statement.requests;
            statement.unit = statement.unit.empty() ? unit_in(statements) : statement.unit;
            const TableCaption& caption = paragraphs_.back().caption;
            const bool drafts = statement.setup == "drafts" || (statement.setup.empty() && paragraphs_.back().drafting);
            if (drafts && caption.drafts() < 0 && common_.drafts > 0) {
                statement.setup = fmt::format("K={}", common_.drafts);
            }
            // "BS 1: 50 -> 90 tok/s with K=3", "BS 8: 300 -> 400 tok/s"
            if (statement.setup.empty() && statement.follows) {
                statement.setup = drafting_;
            }
            if (statement.setup.empty() && !paragraphs_.back().drafting && caption.drafts() < 0 && run.command_is_plain()) {
                statement.setup = "baseline";
            }
            drafting_ = statement.setup.starts_with("K=") ? statement.setup : drafting_;
            if (sums_up(line, statement)) {
                continue;
            }
            paragraphs_.back().statements.push_back(statement);
        }
        return false;
    }

    void finish(RunBuilder& run) override {
        run.at_line(0);
        if (run.has_measurements()) {
            return;
        }
        give_load_below();
        bool any = false;
        const bool drafts = std::any_of(paragraphs_.begin(), paragraphs_.end(),
                                        [](const Paragraph& paragraph) { return states_drafts(paragraph); });
        for (auto paragraph = paragraphs_.begin(); drafts && paragraph != paragraphs_.end(); ++paragraph) {
            if (!repeats(paragraph, run)) {
                any = add(*paragraph, run) || any;
            }
        }
        if (any) {
            say_assumed(run);
        }
        if (any && !others_.empty()) {
            run.remark(fmt::format("{}: rates of {} and of what else contradicts {} were left out: a run is of one deployment",
                                   run.file(), others_, deployment_.text()));
        }
        if (!any && taken_ > 0) {
            run.unread(
                "its sentences give times or tokens/s, but not with how many draft tokens; \"K=3: 231 tok/s, without: 140\" "
                "does");
        }
    }

private:
    using Paragraphs = std::vector<Paragraph>;

    /// What the place of a rate before another leaves open, and what was left out.
    void say_assumed(RunBuilder& run) const {
        const std::string pair = run.file() + ": of two rates with an arrow or \"to\" between them, the first was ";
        if (assumed_) {
            run.remark(pair + "taken as plain decoding, since drafts are named beside them");
        }
        if (alone_) {
            run.remark(pair + "left out, since nothing says that it is of plain decoding");
        }
        if (lists_) {
            run.remark(run.file() + ": rates in a list were left out, since no list of as many settings stands before them");
        }
        if (drafter_) {
            run.remark(run.file() + ": rates of the drafter by itself were left out, for they are not of the target");
        }
    }

    /// A line of acceptance below the only statement of drafts.
    void take_acceptance_below(std::string_view line) {
        Statement* drafts = nullptr;
        for (Paragraph& paragraph : paragraphs_) {
            for (Statement& statement : paragraph.statements) {
                if (statement.setup == "baseline") {
                    continue;
                }
                if (drafts != nullptr) {
                    return;  // of which of them is not known
                }
                drafts = &statement;
            }
        }
        if (drafts != nullptr && drafts->setup.starts_with("K=")) {
            take_acceptance_of_line(line, *drafts);
        }
    }

    /// A line of requests in flight below the statements.
    void take_load_below(std::string_view line) {
        const std::string requests = paragraphs_.empty() ? "" : requests_of_line(line);
        if (!requests.empty()) {
            below_.insert(requests);
        }
    }

    /// The only one is said of all statements, if none of them says how many requests ran.
    void give_load_below() {
        const bool said = std::any_of(paragraphs_.begin(), paragraphs_.end(), [](const Paragraph& paragraph) {
            return std::any_of(paragraph.statements.begin(), paragraph.statements.end(),
                               [](const Statement& statement) { return !statement.requests.empty(); });
        });
        for (Paragraph& paragraph : paragraphs_) {
            for (Statement& statement : paragraph.statements) {
                statement.requests = !said && below_.size() == 1 ? *below_.begin() : statement.requests;
            }
        }
    }

    /// "avg: 71.5 tok/s" below two runs or more of the same setup.
    [[nodiscard]] bool sums_up(std::string_view line, const Statement& statement) const {
        const std::string words = plain_words(text::head(line, 40)), first = words.substr(0, words.find(' '));
        const std::vector<Statement>& before = paragraphs_.back().statements;
        const auto alike = std::count_if(before.begin(), before.end(), [&](const Statement& run) {
            return run.setup == statement.setup && run.requests == statement.requests && run.context == statement.context;
        });
        return alike > 1 && (first == "avg" || first == "average" || first == "mean" || first == "median");
    }

    /// Of a table without bars at its sides, which a ruler between bars begins ("---|---").
    bool is_row_without_sides(std::string_view line) {
        const bool bars = line.find('|') != std::string_view::npos;
        sideless_ = bars && (sideless_ || line.find_first_not_of("-:| \t\r") == std::string_view::npos);
        return sideless_;
    }

    void take_caption(std::string_view line) {
        const bool blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
        if (only_draws(line) && !blank) {
            return;  // the fence of a block of code
        }
        caption_.take(line);
        common_.take(line);
        if (!blank) {
            begins_ = true;
            title_ = text::trimmed(text::head(line, 80));
        }
    }

    /// The unit of others in the line, or of the lines before it.
    [[nodiscard]] std::string unit_in(const std::vector<Statement>& statements) const {
        const auto stated =
            std::find_if(statements.begin(), statements.end(), [](const Statement& other) { return !other.unit.empty(); });
        return stated == statements.end() ? common_.unit : stated->unit;
    }

    /// Whether an earlier paragraph states the same setup at the same load: then it is of another deployment.
    bool repeats(Paragraphs::const_iterator paragraph, RunBuilder& run) const {
        const auto in_earlier = [&](const Statement& statement) {
            const std::string setup = setup_under(statement, *paragraph);
            return !setup.empty() && std::any_of(paragraphs_.begin(), paragraph, [&](const Paragraph& before) {
                return std::any_of(before.statements.begin(), before.statements.end(), [&](const Statement& other) {
                    return setup_under(other, before) == setup && other.requests == statement.requests &&
                           other.context == statement.context;
                });
            });
        };
        if (std::none_of(paragraph->statements.begin(), paragraph->statements.end(), in_earlier)) {
            return false;
        }
        run.remark(
            fmt::format("{}: what stands under \"{}\" was left out: lines before it give the same draft lengths, and a run "
                        "is of one deployment",
                        run.file(), paragraph->title));
        return true;
    }

    /// A table of the statements that tell their deployment, for each unit; false where none does.
    static bool add(const Paragraph& paragraph, RunBuilder& run) {
        bool any = false;
        const auto untold = std::count_if(paragraph.statements.begin(), paragraph.statements.end(),
                                          [&](const Statement& statement) { return !has_setup(statement, paragraph); });
        if (untold > 0) {
            run.remark(fmt::format("{}: {} without a draft length {} left out", run.file(),
                                   untold == 1 ? "a rate" : std::to_string(untold) + " rates", untold == 1 ? "was" : "were"));
        }
        std::vector<std::string> units = {"tok/s", "tok/s per user"};
        for (const Statement& statement : paragraph.statements) {
            const bool known = std::find(units.begin(), units.end(), statement.unit) != units.end();
            if (!known && statement.unit.starts_with("TPOT")) {
                units.push_back(statement.unit);
            }
        }
        for (const std::string& unit : units) {
            LoadTable table({"setup", "concurrency", "context", unit, "accept length", "accept rate"}, paragraph.caption,
                            "results in sentences");
            for (const Statement& statement : paragraph.statements) {
                if (statement.unit == unit && has_setup(statement, paragraph)) {
                    run.at_line(statement.line);
                    any = table.take({setup_under(statement, paragraph), statement.requests, statement.context, statement.time,
                                      statement.length, statement.rate},
                                     run) ||
                          any;
                    run.at_line(0);
                }
            }
        }
        return any;
    }

    TableCaption caption_;
    Common common_;
    std::string title_;
    std::string drafting_;  ///< the last drafting setup of the paragraph
    Paragraphs paragraphs_;
    std::size_t taken_ = 0;
    DeploymentWords deployment_;            ///< of the first statements
    std::string others_;                    ///< the first deployment that was left out
    bool sideless_ = false;                 ///< the lines are rows of a table without bars at its sides
    bool assumed_ = false, alone_ = false;  ///< Statement's, of any
    bool lists_ = false, drafter_ = false;  ///< StatedLine's, of any
    std::set<std::string> below_;           ///< requests in flight that lines below the last statement say
    bool begins_ = true;                    ///< the next statement stands under other lines than the last
};

}  // namespace

std::unique_ptr<LineReader> prose_results() { return std::make_unique<ProseResults>(); }

}  // namespace treeline::runs::run_formats_of
