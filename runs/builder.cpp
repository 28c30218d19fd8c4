#include "runs/builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "json/wording.h"
#include "runs/rates_by_load.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline::runs {
namespace {

constexpr std::size_t most_run_problems = 5;
/// A schedule by batch and every batch of a large engine; more are a file of something else.
constexpr std::size_t most_cells = 20'000;
/// What commands say of a deployment by name.
constexpr std::array<std::string RunIdentity::*, 4> commanded_fields = {&RunIdentity::engine, &RunIdentity::model,
                                                                        &RunIdentity::drafter, &RunIdentity::method};
/// A step that takes longer is no step.
constexpr double longest_time = 3600.0;

/// The text of a number at the beginning of `text`.
std::string_view leading_number(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
                                 std::string_view(".+-eE").find(text[end]) != std::string_view::npos)) {
        ++end;
    }
    while (end > 0 && std::string_view(".+-eE").find(text[end - 1]) != std::string_view::npos) {
        --end;
    }
    return text.substr(0, end);
}

std::string_view after(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(found + text.size());
    while (!line.empty() && (line.front() == ' ' || line.front() == '=' || line.front() == ':' || line.front() == '(')) {
        line.remove_prefix(1);
    }
    return line;
}

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

void RunBuilder::take_over_commands() {
    RunIdentity& known = run_.identity;
    if (!known.engine.empty() && !commanded_.front().contains(known.engine)) {
        return;  // of another server
    }
    if (commanded_.front().size() > 1) {
        return;
    }
    for (std::size_t i = 0; i < commanded_.size(); ++i) {
        std::string& name = known.*commanded_fields[i];
        name = name.empty() && commanded_[i].size() == 1 ? *commanded_[i].begin() : name;
    }
    known.ranks = known.ranks <= 0.0 && commanded_ranks_.size() == 1 ? *commanded_ranks_.begin() : known.ranks;
}

void RunBuilder::keep_variants_apart() {
    std::vector<RunCell> own;
    for (RunCell& cell : run_.cells) {
        const bool apart = !cell.variant.empty();
        cell.variant = apart ? cell.variant : own_variant_;
        (apart ? run_.elsewhere : own).push_back(std::move(cell));
    }
    run_.cells = std::move(own);
}

/// A program that times plain decoding and drafts compares them itself: plain decoding that another one of the file timed
/// otherwise at the same batch, and nothing else, is of other prompts, and is left out.
void RunBuilder::leave_out_other_baselines() {
    constexpr double differs = 0.1;
    std::set<std::string> drafting;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        if (run_.cells[i].draft_tokens > 0 && run_.cells[i].tpot.known()) {
            drafting.insert(formats_of_cells_[i]);
        }
    }
    const auto times_plain = [&](std::size_t i) { return run_.cells[i].draft_tokens == 0 && run_.cells[i].tpot.known(); };
    std::map<double, std::size_t> compared;  // cells, by batch
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        if (times_plain(i) && drafting.contains(formats_of_cells_[i])) {
            compared.emplace(run_.cells[i].batch, i);
        }
    }
    std::vector<RunCell> kept;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        const RunCell& own = run_.cells[i];
        const auto other = compared.find(own.batch);
        const bool apart = times_plain(i) && other != compared.end() && !drafting.contains(formats_of_cells_[i]);
        const double beside = apart ? run_.cells[other->second].tpot.mean() : 0.0;
        if (!apart || std::abs(own.tpot.mean() / beside - 1.0) <= differs) {
            kept.push_back(own);
            continue;
        }
        remark(
            fmt::format("{}: plain decoding at {:.3g} tokens/s ({}) was left out beside {:.3g} ({}), with which drafts were "
                        "compared",
                        file_, 1.0 / own.tpot.mean(), formats_of_cells_[i], 1.0 / beside, formats_of_cells_[other->second]));
    }
    run_.cells = std::move(kept);
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
    if (wrong.empty() && cell.draft_tokens > 0 && block.drafted > block.drafts * (cell.draft_tokens + 0.5) && !block.derived) {
        return problem(fmt::format("counts {} draft tokens in {} drafts of {}", text::short_text(block.drafted),
                                   text::short_text(block.drafts), cell.draft_tokens));
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

void RunBuilder::leave_out_bad_records() {
    if (file_is_bad_ || good_records_ <= bad_records_) {
        return;
    }
    for (const std::string& problem : problems_) {
        remark(problem + "; it is left out");
    }
    if (bad_records_ > static_cast<long>(problems_.size())) {
        remark(fmt::format("{}: {} records in all are left out for reasons of that kind", file_, bad_records_));
    }
    problems_.clear();
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

/// Loads of which all records were left out.
void RunBuilder::leave_out_empty_cells() {
    std::vector<RunCell> kept;
    std::vector<std::string> formats;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        const RunCell& cell = run_.cells[i];
        const bool timed = cell.round.known() || cell.tpot.known() || cell.ttft.known() || cell.drafting.known() ||
                           cell.tokens_per_second.known() || cell.captured_steps + cell.eager_steps > 0.0;
        if (timed || cell.acceptance.known() || cell.stated_length > 0.0) {
            kept.push_back(cell);
            formats.push_back(formats_of_cells_[i]);
        }
    }
    run_.cells = std::move(kept);
    formats_of_cells_ = std::move(formats);
}

/// What no load can be refuses the file; what only a defect explains is said.
void RunBuilder::judge_cells() {
    line_ = 0;
    for (const std::vector<RunCell>* cells : {&run_.cells, &run_.elsewhere}) {
        for (const RunCell& cell : *cells) {
            for (const std::string& wrong : cell.problems()) {
                problem(wrong);
            }
            if (cell.acceptance.rising_position()) {
                remark(fmt::format(
                    "{}: later drafts are accepted more often than earlier ones, which no drafter can do: treeline diagnose "
                    "says what to check.",
                    file_));
            }
        }
    }
}

void RunBuilder::remark(const std::string& sentence) {
    if (std::find(run_.remarks.begin(), run_.remarks.end(), sentence) == run_.remarks.end() && run_.remarks.size() < 20) {
        run_.remarks.push_back(sentence);
    }
}

MeasuredRun RunBuilder::take() {
    if (broken()) {
        throw text::InputError(contradictions_);
    }
    leave_out_bad_records();
    if (!is_own_run_) {
        leave_out_empty_cells();
    }
    judge_cells();
    if (problems_.empty() && formats_.empty()) {
        throw UnknownFormat(file_, unread_);
    }
    if (problems_.empty() && run_.cells.empty() && run_.passes.empty() && run_.identity.model.empty()) {
        line_ = 0;
        problem(fmt::format("looks like {}, but measures nothing: neither accepted drafts nor times of steps",
                            text::listed(formats_, "and")));
        problems_.insert(problems_.end(), run_.remarks.begin(), run_.remarks.end());  // why
    }
    if (!problems_.empty()) {
        throw text::InputError(problems_);
    }
    take_over_commands();
    if (!is_own_run_) {
        leave_out_other_baselines();
        keep_variants_apart();
    }
    if (const std::string doubt = doubt_of_totals(run_); !doubt.empty()) {
        remark(file_ + ": " + doubt);
    }
    return std::move(run_);
}

const RunJson* node_at(const RunJson& json, std::string_view path) {
    const RunJson* node = &json;
    while (!path.empty() && node != nullptr) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string key(path.substr(0, dot));
        path.remove_prefix(std::min(dot + 1, path.size()));
        const auto found = node->is_object() ? node->find(key) : node->end();
        node = node->is_object() && found != node->end() && !found->is_null() ? &*found : nullptr;
    }
    return node;
}

std::optional<double> number_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    return node != nullptr && node->is_number() ? std::optional(node->get<double>()) : std::nullopt;
}

std::string text_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    return node != nullptr && node->is_string() ? node->get<std::string>() : std::string();
}

std::optional<std::vector<double>> numbers_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    if (node == nullptr || !node->is_structured()) {
        return std::nullopt;
    }
    std::vector<double> numbers;
    for (const auto& [key, value] : node->items()) {
        const std::optional<std::size_t> index = node->is_object() ? text::parse_number<std::size_t>(key) : numbers.size();
        if (!value.is_number() || !index || *index > static_cast<std::size_t>(sim::most_draft_tokens)) {
            return std::nullopt;
        }
        numbers.resize(std::max(numbers.size(), *index + 1));
        numbers[*index] = value.get<double>();
    }
    return numbers;
}

std::optional<double> number_after(std::string_view line, std::string_view text) {
    return text::parse_number(leading_number(after(line, text)));
}

std::vector<double> numbers_after(std::string_view line, std::string_view text) {
    std::vector<double> numbers;
    std::string_view rest = after(line, text);
    while (!rest.empty()) {
        const std::string_view number = leading_number(rest);
        const std::optional<double> value = text::parse_number(number);
        if (!value) {
            break;
        }
        numbers.push_back(*value);
        rest.remove_prefix(number.size());
        if (!rest.starts_with(",")) {
            break;
        }
        rest.remove_prefix(1);
        while (rest.starts_with(" ")) {
            rest.remove_prefix(1);
        }
    }
    return numbers;
}

std::string word_after(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(found + text.size());
    const char quote = !line.empty() && (line.front() == '\'' || line.front() == '"') ? line.front() : '\0';
    if (quote != '\0') {
        line.remove_prefix(1);
    }
    const std::size_t end = quote != '\0' ? line.find(quote) : line.find_first_of(", )]}\t");
    return std::string(line.substr(0, end));
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
