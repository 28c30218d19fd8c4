#include "runs/builder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::runs {
namespace {

constexpr std::size_t most_run_problems = 5;
/// A schedule by batch and every batch of a large engine; more are a file of something else.
constexpr std::size_t most_cells = 20'000;
/// A step that takes longer is no step.
constexpr double longest_time = 3600.0;

}  // namespace

RunBuilder::RunBuilder(std::string file, const RunHints& hints) : file_(std::move(file)), hints_(hints) {
    run_.identity = hints.identity;
}

void RunBuilder::format(const std::string& name) {
    last_format_ = name;
    if (std::find(formats_.begin(), formats_.end(), name) == formats_.end()) {
        formats_.push_back(name);
        run_.sources.push_back({file_, name});
    }
}

void RunBuilder::say(std::string& known, const std::string& said, const std::string& hinted, const char* what) {
    if (known.empty() || known == said) {
        known = said;
    } else if (!said.empty() && contradictions_.size() < most_run_problems) {
        MeasuredRun a, b;
        a.sources = b.sources = {{file_, ""}};
        a.identity.model = known;
        b.identity.model = said;
        try {
            static_cast<void>(joined({a, b}));  // judges whether two names mean the same
        } catch (const text::InputError&) {
            contradiction(
                known == hinted
                    ? fmt::format("is of the {} {}, but --{} says {}", what, said, what, known)
                    : fmt::format("is of the {} {}, but lines before it are of {}; each deployment needs a file of its own",
                                  what, said, known));
        }
    }
}

void RunBuilder::engine(const std::string& name, const std::string& version) {
    say(run_.identity.engine, name, hints_.identity.engine, "engine");
    if (run_.identity.version.empty()) {
        run_.identity.version = version;
    }
}

void RunBuilder::model(const std::string& name) { say(run_.identity.model, name, hints_.identity.model, "model"); }
void RunBuilder::drafter(const std::string& name) { say(run_.identity.drafter, name, hints_.identity.drafter, "drafter"); }
void RunBuilder::method(const std::string& name) { say(run_.identity.method, name, hints_.identity.method, "method"); }

void RunBuilder::command(const RunIdentity& said) {
    for (std::size_t i = 0; i < commanded_.size(); ++i) {
        if (const std::string& name = said.*commanded_fields[i]; !name.empty() && commanded_[i].size() < 2) {
            commanded_[i].insert(name);
        }
    }
    if (said.ranks >= 1.0 && commanded_ranks_.size() < 2) {
        commanded_ranks_.insert(said.ranks);
    }
}

int RunBuilder::draft_tokens_or(int counted) const {
    if (hints_.draft_tokens >= 0 || hints_.tree.branches()) {
        return hints_.tree.branches() ? hints_.tree.draft_tokens() : hints_.draft_tokens;
    }
    return counted > 0 && !stated_tree_.branches() ? counted : stated_draft_tokens_;
}

void RunBuilder::draft(const SglangDraft& stated) {
    draft_tokens(stated.draft_tokens());
    stated_tree_ = stated.branches() ? stated : SglangDraft();
}

void RunBuilder::agree_with_hint(const SglangDraft& stated) {
    const auto text = [](const SglangDraft& draft) {
        RunCell cell;
        cell.draft_tokens = draft.draft_tokens();
        cell.shape = draft.shape();
        return cell.draft_text();
    };
    const bool tree = hints_.tree.branches();
    if (stated.draft_tokens() <= 0 || (!tree && hints_.draft_tokens < 0)) {
        return;
    }
    if (tree && stated.shape() != hints_.tree.shape()) {
        contradiction(fmt::format("is of {}, but --shape says {}", text(stated), text(hints_.tree)));
    } else if (!tree && stated.draft_tokens() != hints_.draft_tokens) {
        contradiction(fmt::format("is of {}, but --draft-tokens says {}", text(stated), hints_.draft_tokens));
    }
}

SglangDraft RunBuilder::tree_of(int draft_tokens) const {
    const SglangDraft& tree = hints_.tree.branches() ? hints_.tree : stated_tree_;
    return tree.branches() && tree.draft_tokens() == draft_tokens ? tree : SglangDraft();
}

RunCell& RunBuilder::cell(double batch, int draft_tokens, double context) {
    context = context > 0.0 ? context : hints_.context;
    return cell_at(batch, draft_tokens, context, std::lround(context));
}

RunCell& RunBuilder::cell_of_request(double batch, int draft_tokens, double context, double rounds) {
    context = context > 0.0 ? context : hints_.context;
    RunCell& cell = cell_at(batch, draft_tokens, context, context > 0.0 ? -1 - std::ilogb(context) : 0);
    double& before = rounds_of_cells_[static_cast<std::size_t>(&cell - run_.cells.data())];
    cell.context = (cell.context * before + context * rounds) / (before + rounds);
    before += rounds;
    return cell;
}

RunCell& RunBuilder::cell_of_line(double batch, int draft_tokens, double context) {
    constexpr double widest = 1.9, few_tokens = 512.0;
    context = context > 0.0 ? context : hints_.context;
    if (!(context > 0.0)) {
        return cell_at(batch, draft_tokens, 0.0, 0);
    }
    std::vector<ContextClass>& classes = classes_[{draft_tokens, tree_of(draft_tokens).shape(), batch}];
    const auto spread = [&](const ContextClass& of) { return std::max(of.largest, context) / std::min(of.least, context); };
    auto nearest =
        std::min_element(classes.begin(), classes.end(), [&](const auto& a, const auto& b) { return spread(a) < spread(b); });
    const auto is_far = [&](const ContextClass& of) {
        return spread(of) > widest && std::max(of.largest, context) - std::min(of.least, context) > few_tokens;
    };
    if (nearest == classes.end() || is_far(*nearest)) {
        nearest = classes.insert(classes.end(), {context, context});
    }
    nearest->least = std::min(nearest->least, context);
    nearest->largest = std::max(nearest->largest, context);
    return cell_at(batch, draft_tokens, context, -1 - (nearest - classes.begin()));
}

RunCell& RunBuilder::cell_at(double batch, int draft_tokens, double context, long context_key) {
    batch = batch > 0.0 ? batch : hints_.batch;
    if (!(batch >= 0.0) || batch > sim::largest_batch) {
        problem(fmt::format("says that {} requests ran at once; between 1 and {} can", text::short_text(batch),
                            text::short_text(sim::largest_batch)));
        batch = 0.0;
    }
    if (draft_tokens > sim::most_draft_tokens) {
        problem(fmt::format("says that {} tokens are drafted; at most {} can", draft_tokens, sim::most_draft_tokens));
        draft_tokens = 0;
    }
    const SglangDraft tree = tree_of(draft_tokens);
    const auto key = std::tuple{draft_tokens, tree.shape(), batch, context_key, variant_};
    const auto [found, is_new] = cells_.emplace(key, run_.cells.size());
    if (is_new) {
        if (run_.cells.size() >= most_cells) {
            throw text::InputError(
                {fmt::format("{}: holds more than {} different loads; is it of one deployment?", file_, most_cells)});
        }
        RunCell cell;
        cell.variant = variant_;
        cell.batch = batch;
        cell.draft_tokens = draft_tokens;
        cell.shape = tree.shape();
        cell.depth = tree.branches() ? tree.steps : 0;
        cell.context = context;
        run_.cells.push_back(cell);
        formats_of_cells_.push_back(last_format_);
    }
    return run_.cells[found->second];
}

void RunBuilder::count(RunCell& cell, const AcceptanceCounts& block) {
    const std::vector<std::string> wrong = block.problems();
    for (const std::string& end : wrong) {
        problem("counts " + end);
    }
    if (wrong.empty() && cell.draft_tokens > 0 && !block.derived &&
        block.drafted > (block.drafts - block.undrafted) * (cell.draft_tokens + 0.5)) {
        return problem(fmt::format("counts {} draft tokens in {} drafts of {}", text::short_text(block.drafted),
                                   text::short_text(block.drafts - block.undrafted), cell.draft_tokens));
    }
    if (wrong.empty() && block.drafts > 0.0) {
        cell.acceptance.add(block.as_block());
        good();
    }
}

void RunBuilder::state_length(RunCell& cell, double length, double weight) {
    if (!(length >= 1.0) || !(weight > 0.0)) {
        return;
    }
    double& before = weights_of_lengths_[static_cast<std::size_t>(&cell - run_.cells.data())];
    cell.stated_length = (cell.stated_length * before + length * weight) / (before + weight);
    before += weight;
}

void RunBuilder::time(MeasuredMean& mean, const char* what, double seconds, double weight) {
    if (!(seconds > 0.0) || seconds > longest_time) {
        return problem(fmt::format("says {} of {} s; it must lie above 0", what, text::short_text(seconds)));
    }
    mean.add(seconds, weight);
    good();
}

UnknownFormat::UnknownFormat(const std::string& file, const std::string& why)
    : InputError({file + (why.empty() ? ": is in none of the formats that are read; treeline import --help lists them"
                                      : ": " + why +
                                            "; the rest is in none of the formats that are read "
                                            "(treeline import --help lists them)")}),
      why_(why) {}

std::string RunBuilder::placed(const std::string& sentence) const {
    return line_ > 0 ? fmt::format("{}: line {}: {}", file_, line_, sentence) : fmt::format("{}: {}", file_, sentence);
}

void RunBuilder::problem(const std::string& sentence) {
    bad_records_ += line_ != bad_line_ || bad_records_ == 0 ? 1 : 0;
    bad_line_ = line_;
    file_is_bad_ = file_is_bad_ || line_ == 0;
    const bool said = std::any_of(problems_.begin(), problems_.end(),
                                  [&](const std::string& problem) { return problem.ends_with(": " + sentence); });
    if (!said && problems_.size() < most_run_problems) {
        problems_.push_back(placed(sentence));
    }
}

void RunBuilder::lacks_draft_tokens(const std::string& sentence) {
    stated_above_ = unknown_drafts_ ? stated_above_ : !stated_lengths_.empty();
    unknown_drafts_ = true;
    problem(sentence);
}

int RunBuilder::drafts_stated_below() const {
    std::set<int> lengths = stated_lengths_;
    for (const RunCell& cell : run_.cells) {
        if (cell.draft_tokens > 0 && std::ssize(cell.acceptance.reached) == cell.draft_tokens) {
            lengths.insert(cell.draft_tokens);
        }
    }
    const bool only = lengths.size() == 1 && !stated_above_;
    return unknown_drafts_ && only && hints_.draft_tokens < 0 ? *lengths.begin() : 0;
}

void RunBuilder::contradiction(const std::string& sentence) {
    if (contradictions_.size() < most_run_problems) {
        contradictions_.push_back(placed(sentence));
    }
}

void RunBuilder::good() {
    good_records_ += line_ != good_line_ || good_records_ == 0 ? 1 : 0;
    good_line_ = line_;
}

double RunBuilder::length_of_rate(double rate, int drafts) {
    constexpr int long_drafts = 10;
    constexpr double most_kept = 0.65;  // of drafts plus one; of long ones, 0.6 is the most that anyone measured (shared rows)
    const double length = 1.0 + rate * drafts;
    if (drafts < long_drafts || length <= most_kept * (drafts + 1)) {
        return length;
    }
    remark(fmt::format(
        "{}: {:.0f} % of {} draft tokens accepted would be {:.1f} tokens a round, more than any drafter is known to reach; if "
        "it is a share of generated tokens, as MLX's runners print, it is {:.1f}. It was left out; an accept length settles it",
        file(), 100.0 * rate, drafts, length, 1.0 / std::max(1.0 - rate, 1.0 / (drafts + 1))));
    return 0.0;
}

void RunBuilder::remark(const std::string& sentence) {
    if (std::find(run_.remarks.begin(), run_.remarks.end(), sentence) == run_.remarks.end() && run_.remarks.size() < 20) {
        run_.remarks.push_back(sentence);
    }
}

AcceptanceCounts counts_of_mean(double accept_length, double tokens, int draft_tokens) {
    AcceptanceCounts counts;
    counts.derived = true;
    counts.drafts = tokens / accept_length;
    counts.accepted = tokens - counts.drafts;
    counts.drafted = counts.drafts * draft_tokens;
    return counts;
}

}  // namespace treeline::runs
