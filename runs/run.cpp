#include "runs/run.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "json/wording.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline::runs {
namespace {

/// Contexts that differ by less are one load.
constexpr double same_context = 0.1;
/// TPOT times accept length over the median time between steps: the mean holds a few prompts that the median leaves out.
constexpr double most_apart = 1.3;

/// "meta-llama/Llama-3.1-8B" and "/models/llama-3.1-8b/" are one name.
std::string plain_name(std::string name) {
    while (name.ends_with('/')) {
        name.pop_back();
    }
    name = name.substr(name.find_last_of('/') + 1);
    for (char& c : name) {
        c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return name.ends_with(".gguf") ? name.substr(0, name.size() - 5) : name;
}

bool same_load(const RunCell& a, const RunCell& b) {
    const double larger = std::max(a.context, b.context), smaller = std::min(a.context, b.context);
    return a.batch == b.batch && a.draft_tokens == b.draft_tokens && a.shape == b.shape &&
           (smaller <= 0.0 || larger - smaller <= same_context * larger);
}

double weighted(double a, double weight_a, double b, double weight_b) {
    return a <= 0.0 ? b : b <= 0.0 || weight_a + weight_b <= 0.0 ? a : (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

/// Tokens that it generated; 0 where nothing counts them.
double tokens_of(const RunCell& cell) {
    const double length = std::max(1.0, cell.accept_length());
    const double rounds = std::max(cell.round.is_counted() ? cell.round.weight() : 0.0, cell.acceptance.drafts);
    return std::max(rounds * length, cell.tpot.is_counted() ? cell.tpot.weight() : 0.0);
}

void add(RunCell& to, const RunCell& from) {
    double a = tokens_of(to), b = tokens_of(from);
    if (a <= 0.0 || b <= 0.0) {
        a = b = 1.0;  // two runs of the same requests
    }
    to.context = weighted(to.context, a, from.context, b);
    to.prompt_tokens = weighted(to.prompt_tokens, a, from.prompt_tokens, b);
    to.output_tokens = weighted(to.output_tokens, a, from.output_tokens, b);
    to.stated_length = weighted(to.stated_length, a, from.stated_length, b);
    to.concurrency = to.concurrency && from.concurrency;
    to.acceptance.add(from.acceptance);
    to.round.add(from.round);
    to.tpot.add(from.tpot);
    to.ttft.add(from.ttft);
    to.tokens_per_second.add(from.tokens_per_second);
    to.drafting.add(from.drafting);
    to.captured_steps += from.captured_steps;
    to.eager_steps += from.eager_steps;
}

/// Takes over what is not known yet; a contradiction is a problem.
void agree(std::string& known, const std::string& said, const char* what, const std::string& file, bool by_name,
           std::vector<std::string>& problems) {
    if (known.empty()) {
        known = said;
    } else if (!said.empty() && (by_name ? plain_name(known) != plain_name(said) : known != said)) {
        problems.push_back(
            fmt::format("{}: is of the {} {}, but what was read before it is of {}; import runs of one deployment "
                        "together, and others by themselves",
                        file, what, said, known));
    }
}

/// Drafts that a round accepts; below 0 where that is not known.
double yield_of(const RunCell& cell) { return cell.draft_tokens > 0 ? cell.accept_length() - 1.0 : -1.0; }

/// The cell of `run` at the load of `cell`; null if there is none.
RunCell* at_load_of(MeasuredRun& run, const RunCell& cell) {
    const auto same =
        std::find_if(run.cells.begin(), run.cells.end(), [&](const RunCell& other) { return same_load(cell, other); });
    return same == run.cells.end() ? nullptr : &*same;
}

bool drafts(const MeasuredRun& run) {
    return std::any_of(run.cells.begin(), run.cells.end(), [](const RunCell& cell) { return cell.draft_tokens > 0; });
}

/// What sets a run apart from those before it, as people read it: "CUDA", "an fp8 cache"; its file where what its drafts yield
/// at a load is the only sign. Empty where it is of the same deployment.
std::string variant_beside(MeasuredRun& all, const MeasuredRun& run, const std::string& file) {
    if (all.cells.empty() || run.cells.empty()) {
        return "";
    }
    const std::string &before = all.cells.front().variant, &own = run.cells.front().variant;
    if (!before.empty() && !own.empty() && plain_name(before) != plain_name(own)) {
        return own;
    }
    if (drafts(all) && drafts(run)) {  // a baseline may run with other kernels
        for (const auto& [known, said, what] : {std::tuple{&all.settings.attention, &run.settings.attention, "attention"},
                                                {&all.settings.cache_format, &run.settings.cache_format, "cache"}}) {
            if (!known->empty() && !said->empty() && *known != *said) {
                return fmt::format("{} {}", *said, what);
            }
        }
    }
    constexpr double other_deployment = 2.0, least_yield = 0.3;
    for (const RunCell& cell : run.cells) {
        const RunCell* same = at_load_of(all, cell);
        const double a = same == nullptr ? -1.0 : yield_of(*same), b = yield_of(cell);
        if (std::min(a, b) >= 0.0 && std::max(a, b) >= least_yield && std::max(a, b) > other_deployment * std::min(a, b)) {
            return own.empty() ? file : own;
        }
    }
    return "";
}

std::string first_file_of(const MeasuredRun& run) { return run.sources.empty() ? "the run" : run.sources.front().file; }

void keep_apart(MeasuredRun& all, const MeasuredRun& run, const std::string& variant) {
    const std::string before = all.cells.front().variant.empty() ? first_file_of(all) : all.cells.front().variant;
    for (RunCell& cell : all.cells) {
        cell.variant = cell.variant.empty() ? before : cell.variant;
    }
    for (RunCell cell : run.cells) {
        cell.variant = variant;
        all.elsewhere.push_back(std::move(cell));
    }
    all.remarks.push_back(
        fmt::format("{}: ran with {}, files before it with {}. Its loads are kept apart: costs and acceptance are those of {}, "
                    "and treeline diagnose compares both.",
                    first_file_of(run), variant, before, before));
}

/// Acceptance that differs by more than its sampling errors is averaged, and that is said.
void say_average(const RunCell& before, const RunCell& cell, const std::string& file, std::vector<std::string>& remarks) {
    constexpr double differs = 0.1, deviations = 3.0;
    const double a = yield_of(before), b = yield_of(cell);
    const double error = before.acceptance.accept_length_error() + cell.acceptance.accept_length_error();
    if (std::min(a, b) >= 0.0 && std::abs(a - b) > differs * std::max(a, b) && std::abs(a - b) > deviations * error) {
        RunCell both = before;
        add(both, cell);
        remarks.push_back(fmt::format(
            "{}: with {} at batch {:g} a round yields {:.2f} tokens, where {:.2f} were read before; {:.2f} "
            "is kept, their mean by how often each was measured.",
            file, cell.draft_text(), cell.batch, cell.accept_length(), before.accept_length(), both.accept_length()));
    }
}

/// Times that differ by more than both errors, and by more than a tenth, are averaged, and that is said of the first of them.
void say_average_of_times(const RunCell& before, const RunCell& cell, const std::string& file,
                          std::vector<std::string>& remarks) {
    constexpr double differs = 0.1, deviations = 3.0;
    struct Kind {
        MeasuredMean RunCell::*mean;
        const char *what, *unit, *weight;
        double scale;
    };
    for (const Kind& kind : {Kind{&RunCell::round, "a round takes", "ms", "rounds", 1e3},
                             {&RunCell::tpot, "a token takes", "ms", "tokens", 1e3},
                             {&RunCell::tokens_per_second, "all requests get", "tokens/s", "tokens", 1.0}}) {
        const MeasuredMean &a = before.*kind.mean, &b = cell.*kind.mean;
        const double apart = std::abs(a.mean() - b.mean()), error = a.standard_error() + b.standard_error();
        if (!a.known() || !b.known() || apart <= differs * std::min(a.mean(), b.mean()) || apart <= deviations * error) {
            continue;
        }
        MeasuredMean both = a;
        both.add(b);
        remarks.push_back(fmt::format(
            "{}: with {} at batch {:g} {} {:.4g} {}, where {:.4g} were read before; {:.4g} is kept, their mean by {}.", file,
            cell.draft_tokens > 0 ? cell.draft_text() : "plain decoding", cell.batch, kind.what, kind.scale * b.mean(),
            kind.unit, kind.scale * a.mean(), kind.scale * both.mean(),
            a.is_counted() || b.is_counted() ? kind.weight : "files"));
        return;
    }
}

}  // namespace

void RunSettings::add(const RunSettings& other) {
    if (other.graphs > graphs) {
        graphs = other.graphs;
        graphs_because = other.graphs_because;
    }
    for (const auto& [known, said] : {std::pair{&cache_format, &other.cache_format},
                                      {&attention, &other.attention},
                                      {&weights, &other.weights},
                                      {&scheduling, &other.scheduling}}) {
        if (known->empty()) {
            *known = *said;
        }
    }
    data_parallel = std::max(data_parallel, other.data_parallel);
}

std::string SglangDraft::shape() const {
    return branches() ? fmt::format("sglang:{},{},{}", steps, top_k, tokens) : std::string();
}

std::optional<SglangDraft> sglang_draft_of(const std::string& text) {
    constexpr std::string_view prefix = "sglang:";
    const std::vector<std::string> parts = text::split(text.starts_with(prefix) ? text.substr(prefix.size()) : text, ',');
    std::vector<int> numbers;
    for (const std::string& part : parts) {
        numbers.push_back(text::parse_number<int>(part).value_or(0));
    }
    const bool three = numbers.size() == 3 && numbers[0] >= 1 && numbers[1] >= 1 && numbers[2] >= 2 &&
                       numbers[2] <= sim::most_draft_tokens + 1 && numbers[0] <= sim::most_draft_tokens;
    const SglangDraft draft = three ? SglangDraft{numbers[0], numbers[1], numbers[2]} : SglangDraft();
    return draft.branches() ? std::optional(draft) : std::nullopt;
}

std::string RunCell::draft_text() const {
    return shape.empty() ? fmt::format("{} draft token{}", draft_tokens, draft_tokens == 1 ? "" : "s")
                         : fmt::format("a tree of {} draft tokens ({})", draft_tokens, shape);
}

std::vector<std::string> RunCell::problems() const {
    constexpr double printed = 0.01;  // of a length in two decimals
    // Drafts that were not all as long as the load says, as in RunBuilder::count.
    constexpr double rounding = 0.5;
    std::vector<std::string> found;
    const double most = most_accepted() + 1.0;
    const std::string of = draft_tokens > 0 ? draft_text() : "plain decoding";
    if (batch != 0.0 && (!(batch > 0.0) || batch > sim::largest_batch)) {
        found.push_back(fmt::format("says that {:g} requests ran at once", batch));
    }
    if (stated_length != 0.0 && !(stated_length >= 1.0 && stated_length <= most + printed)) {
        found.push_back(fmt::format("gives an accept length of {:.2f} with {}, which is {} than can be", stated_length, of,
                                    stated_length < 1.0 ? "less" : "more"));
    }
    if (acceptance.known() && draft_tokens > 0 && acceptance.accept_length() > most + rounding) {
        found.push_back(
            fmt::format("counts {:.2f} tokens a round with {}, which is more than can be", acceptance.accept_length(), of));
    } else if (acceptance.known() && draft_tokens > 0 && !acceptance.derived &&
               acceptance.draft_length() > draft_tokens + rounding) {
        found.push_back(fmt::format("counts {:.2f} draft tokens a round with {}", acceptance.draft_length(), of));
    }
    return found;
}

double RunCell::accept_length() const {
    if (draft_tokens == 0 && !acceptance.known() && stated_length <= 0.0) {
        return 1.0;
    }
    return acceptance.known() ? acceptance.accept_length() : stated_length;
}

bool RunCell::round_is_decoding() const {
    if (!round.known() || !tpot.known()) {
        return round.known();
    }
    const double length = std::max(1.0, accept_length());
    const double apart = tpot.mean() * length / round.mean();
    // Requests that end, and so prompts that come, in each round.
    const double ending = output_tokens > 0.0 && prompt_tokens > 0.0 ? batch * length / output_tokens : 0.0;
    return apart < most_apart && apart > 1.0 / most_apart && ending < std::log(2.0);
}

double RunCell::round_seconds() const {
    const double length = accept_length();
    if (round_is_decoding() || (round.known() && length <= 0.0)) {
        return round.mean();
    }
    if (tpot.known()) {
        return tpot.mean() * length;
    }
    return tokens_per_second.known() ? batch * length / tokens_per_second.mean() : 0.0;
}

double RunCell::tpot_seconds() const {
    const double length = accept_length();
    if (tpot.known()) {
        return tpot.mean();
    }
    if (tokens_per_second.known() && batch > 0.0) {
        return batch / tokens_per_second.mean();
    }
    return round.known() && length > 0.0 ? round.mean() / length : 0.0;
}

AcceptanceCounts MeasuredRun::acceptance() const {
    AcceptanceCounts sum;
    for (const RunCell& cell : cells) {
        if (cell.draft_tokens > 0) {
            sum.add(cell.acceptance);
        }
    }
    return sum;
}

AcceptanceCounts MeasuredRun::acceptance(int draft_tokens, const std::string& shape) const {
    AcceptanceCounts sum;
    for (const RunCell& cell : cells) {
        if (cell.draft_tokens == draft_tokens && cell.shape == shape) {
            sum.add(cell.acceptance);
        }
    }
    return sum;
}

std::vector<int> MeasuredRun::draft_lengths() const {
    std::set<int> lengths;
    for (const RunCell& cell : cells) {
        if (cell.draft_tokens > 0 && cell.shape.empty()) {
            lengths.insert(cell.draft_tokens);
        }
    }
    return {lengths.begin(), lengths.end()};
}

std::vector<RunCell> MeasuredRun::drafts() const {
    std::map<std::tuple<bool, int, std::string>, RunCell> found;
    for (const RunCell& cell : cells) {
        if (cell.draft_tokens > 0) {
            found.emplace(std::tuple{!cell.shape.empty(), cell.draft_tokens, cell.shape}, cell);
        }
    }
    std::vector<RunCell> drafts;
    for (const auto& [key, cell] : found) {
        drafts.push_back(cell);
    }
    return drafts;
}

MeasuredRun joined(const std::vector<MeasuredRun>& runs) {
    MeasuredRun all;
    std::vector<std::string> problems;
    for (const MeasuredRun& run : runs) {
        const std::string file = first_file_of(run);
        agree(all.identity.engine, run.identity.engine, "engine", file, false, problems);
        agree(all.identity.model, run.identity.model, "model", file, true, problems);
        agree(all.identity.drafter, run.identity.drafter, "drafter", file, true, problems);
        agree(all.identity.method, run.identity.method, "method", file, true, problems);
        agree(all.identity.device, run.identity.device, "device", file, true, problems);
        if (!all.identity.version.empty() && !run.identity.version.empty() && all.identity.version != run.identity.version) {
            all.remarks.push_back(
                fmt::format("{}: is of version {}, files before it of {}.", file, run.identity.version, all.identity.version));
        } else if (all.identity.version.empty()) {
            all.identity.version = run.identity.version;
        }
        if (const std::string variant = variant_beside(all, run, file); !variant.empty()) {
            all.sources.insert(all.sources.end(), run.sources.begin(), run.sources.end());
            all.elsewhere.insert(all.elsewhere.end(), run.elsewhere.begin(), run.elsewhere.end());
            all.remarks.insert(all.remarks.end(), run.remarks.begin(), run.remarks.end());
            keep_apart(all, run, variant);
            continue;
        }
        all.elsewhere.insert(all.elsewhere.end(), run.elsewhere.begin(), run.elsewhere.end());
        all.settings.add(run.settings);
        all.identity.ranks = std::max(all.identity.ranks, run.identity.ranks);
        all.sources.insert(all.sources.end(), run.sources.begin(), run.sources.end());
        all.passes.insert(all.passes.end(), run.passes.begin(), run.passes.end());
        all.remarks.insert(all.remarks.end(), run.remarks.begin(), run.remarks.end());
        for (const RunCell& cell : run.cells) {
            if (RunCell* same = at_load_of(all, cell)) {
                say_average(*same, cell, file, all.remarks);
                say_average_of_times(*same, cell, file, all.remarks);
                add(*same, cell);
            } else {
                all.cells.push_back(cell);
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::stable_sort(all.cells.begin(), all.cells.end(), [](const RunCell& a, const RunCell& b) {
        return std::tie(a.draft_tokens, a.shape, a.batch, a.context) < std::tie(b.draft_tokens, b.shape, b.batch, b.context);
    });
    return all;
}

}  // namespace treeline::runs
