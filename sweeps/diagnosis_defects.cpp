// What the deployment's own words and counts betray before any time is compared: a drafter that is broken, rounds without
// graphs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "sweeps/diagnosis_causes.h"

namespace treeline::sweeps {
namespace {

using diagnosis::at;
using diagnosis::percent;

/// First drafts of trained drafters are accepted in 40 to 90 % of rounds, and random ones in next to none.
constexpr double noise = 0.02;
/// Acceptance is flat with the batch in all public series that print it (within a sixth of what drafts yield).
constexpr double collapse = 2.0;
/// Trained heads are accepted in up to 89 % of their drafts where a round has several, a copy of the target in fp8 in 96 % (of
/// 1,600 public pairs of runs), so that more than this is no drafter's.
constexpr double perfection = 0.98;
/// A later draft is accepted more easily than the first by a few percent, where texts are easy.
constexpr double jump = 0.3;
/// Of the rate of the draft before it, a later draft of a trained drafter keeps 0.6 at least, given that it is reached (249
/// public series by position).
constexpr double drop = 0.25;
/// Rounds from which shares are taken seriously.
constexpr double least_rounds = 40.0;

const char* const check_drafter =
    "check the drafter before its draft length: the checkpoint is of this very target and in the format that it expects, the "
    "hidden "
    "layers that it reads are those it was trained on, the template is the target's, and another back end or engine gives the "
    "same";

bool counts_enough(const runs::RunCell& cell) {
    return cell.draft_tokens > 0 &&
           (cell.acceptance.known() ? cell.acceptance.drafts >= least_rounds : cell.stated_length >= 1.0);
}

/// Drafts that a round accepts in the mean.
double yield_of(const runs::RunCell& cell) { return cell.accept_length() - 1.0; }

/// P(the first draft is accepted), or what bounds it from above.
double first_of(const runs::RunCell& cell) {
    const std::vector<double> positions = cell.acceptance.positions();
    return positions.empty() ? yield_of(cell) : positions.front();
}

std::string defect_of_noise(const runs::RunCell& cell) {
    return first_of(cell) > noise
               ? ""
               : fmt::format(
                     "At {} the first draft is accepted in {:.1f} % of rounds, which is what random tokens reach: the "
                     "drafter's "
                     "output is not used as it was trained to be (reports of that kind: vLLM issues 55605 and 52833, oMLX "
                     "issue 3370).",
                     at(cell), 100.0 * std::max(0.0, first_of(cell)));
}

std::string defect_of_perfection(const runs::RunCell& cell) {
    const double share = cell.most_accepted() < 2 ? 0.0 : yield_of(cell) / cell.most_accepted();
    return share < perfection
               ? ""
               : fmt::format(
                     "At {} {} accepted. No drafter that is cheaper than its target does that on real text: either the text "
                     "repeats itself, acceptance is simulated, or rejected drafts are not counted (llama.cpp pull request "
                     "25818).",
                     at(cell),
                     share >= 0.9995 ? std::string("every draft is") : fmt::format("{:.1f} % of drafts are", 100.0 * share));
}

std::string defect_of_order(const runs::RunCell& cell) {
    if (const std::optional<std::size_t> rise = cell.acceptance.rising_position()) {
        const std::vector<double>& reached = cell.acceptance.reached;
        return fmt::format(
            "At {} draft {} is accepted in {} of rounds, draft {} in {}: a draft counts only where all before it were "
            "accepted, "
            "so these rates cannot rise. Either drafts behind a rejected one are kept, and the text is not the target's, or "
            "they are counted at the wrong position.",
            at(cell), *rise + 1, percent(reached[*rise] / cell.acceptance.drafts_with_positions), *rise,
            percent(reached[*rise - 1] / cell.acceptance.drafts_with_positions));
    }
    const std::vector<double> positions = cell.acceptance.positions();
    for (std::size_t i = 1; i < positions.size(); ++i) {
        const double later = positions[i - 1] * cell.acceptance.drafts >= least_rounds ? positions[i] / positions[i - 1] : 0.0;
        if (positions.front() < 0.5 && later > positions.front() + jump) {
            return fmt::format(
                "At {} draft {} is accepted in {} of the rounds that reach it, the first draft in {}: drafts get harder "
                "with their position, so the first one is made from wrong states.",
                at(cell), i + 1, percent(later), percent(positions.front()));
        }
    }
    return "";
}

/// Whether all drafts were of the full length: where some end early, later positions are reached less often.
bool has_fixed_length(const runs::AcceptanceCounts& counts, std::size_t positions) {
    constexpr double nearly = 0.95;
    return counts.drafted <= 0.0 || counts.draft_length() >= nearly * static_cast<double>(positions);
}

/// A draft that is accepted far less easily than the one before it.
std::string defect_of_later_drafts(const runs::RunCell& cell) {
    const std::vector<double> positions = cell.acceptance.positions();
    double before = positions.empty() ? 0.0 : positions.front();
    for (std::size_t i = 1; i < positions.size() && has_fixed_length(cell.acceptance, positions.size()); ++i) {
        const double reached = positions[i - 1] * cell.acceptance.drafts;
        if (reached < least_rounds) {
            break;
        }
        const double rate = positions[i] / positions[i - 1], error = std::sqrt(rate * (1.0 - rate) / reached);
        if (rate <= noise || rate + 2.0 * error < drop * before) {
            return fmt::format(
                "At {}, draft {} is accepted in {} of the rounds that reach it, {} in {}: what follows {} is made from wrong "
                "states or positions (a report of that kind: speculators issue 613).",
                at(cell), i + 1, percent(rate), i == 1 ? "the first draft" : fmt::format("draft {}", i),
                percent(before) + (i == 1 ? " of all" : ""), i == 1 ? "the first draft" : fmt::format("draft {}", i));
        }
        before = rate;
    }
    return "";
}

/// Two loads between which what drafts yield collapses; null where none do.
struct Contrast {
    const runs::RunCell *best = nullptr, *worst = nullptr;
};

/// The largest contrast between two loads that `may_differ` holds for, of at least this factor. `least` bounds what a load
/// yields from below, `most` from above.
template <typename MayDiffer>
Contrast largest_contrast(const std::vector<runs::RunCell>& cells, double (*least)(const runs::RunCell&),
                          double (*most)(const runs::RunCell&), const MayDiffer& may_differ, double factor = collapse) {
    Contrast found;
    for (const runs::RunCell& good : cells) {
        for (const runs::RunCell& bad : cells) {
            const bool collapses = counts_enough(good) && counts_enough(bad) && least(good) > 0.3 &&
                                   least(good) > factor * most(bad) && may_differ(good, bad);
            if (collapses && (found.best == nullptr || least(good) * most(*found.worst) > least(*found.best) * most(bad))) {
                found = {&good, &bad};
            }
        }
    }
    return found;
}

/// Contexts of one order, as far as they are known.
bool similar_contexts(const runs::RunCell& a, const runs::RunCell& b) {
    return a.context <= 0.0 || b.context <= 0.0 || std::max(a.context, b.context) < 2.0 * std::min(a.context, b.context);
}

/// Two loads of the same draft length whose yields differ too much for the text to be the reason.
std::string defect_of_batch(const std::vector<runs::RunCell>& cells) {
    const Contrast found = largest_contrast(cells, yield_of, yield_of, [](const runs::RunCell& few, const runs::RunCell& many) {
        return few.draft_tokens == many.draft_tokens && few.shape == many.shape && few.batch >= 1.0 && many.batch > few.batch &&
               similar_contexts(few, many);
    });
    return found.best == nullptr
               ? ""
               : fmt::format(
                     "With the same {} draft tokens a round yields {:.2f} tokens at batch {:g} and {:.2f} at batch {:g}: what "
                     "a drafter gets right does not depend on who else is served, so states of sequences are mixed up, or "
                     "some are not drafted for (reports of that kind: llama.cpp issues 27117 and 26750).",
                     found.best->draft_tokens, found.best->accept_length(), found.best->batch, found.worst->accept_length(),
                     found.worst->batch);
}

/// Back ends, builds, caches and devices round differently, which moves what a round yields by a few percent.
constexpr double collapse_elsewhere = 1.5;

/// The same drafts with another back end, build, cache or device, of which a drafter knows nothing.
std::string defect_of_variant(const DiagnosisInput& input) {
    std::vector<runs::RunCell> cells = input.accepted;
    cells.insert(cells.end(), input.elsewhere.begin(), input.elsewhere.end());
    const auto apart = [](const runs::RunCell& a, const runs::RunCell& b) {
        return a.variant != b.variant && a.draft_tokens == b.draft_tokens && a.shape == b.shape &&
               (a.batch == b.batch || a.batch <= 0.0 || b.batch <= 0.0) && similar_contexts(a, b);
    };
    const Contrast found = largest_contrast(cells, yield_of, yield_of, apart, collapse_elsewhere);
    return found.best == nullptr
               ? ""
               : fmt::format(
                     "With the same {} draft tokens a round yields {:.2f} tokens with {} and {:.2f} with {}. If the requests "
                     "were alike, states are mixed up, another checkpoint is loaded, or a kernel is wrong with the latter: "
                     "what "
                     "a drafter gets right does not depend on the back end, build, cache or device (reports of that kind: "
                     "llama.cpp issues 26750 and 23088, vLLM issue 53323, SGLang issue 16274).",
                     found.best->draft_tokens, found.best->accept_length(), found.best->variant, found.worst->accept_length(),
                     found.worst->variant);
}

/// P(the first draft is accepted) is at least the mean over all drafts.
double least_first(const runs::RunCell& cell) {
    return cell.acceptance.positions().empty() ? yield_of(cell) / cell.most_accepted() : first_of(cell);
}

/// What follows the first draft does not change it.
std::string defect_of_length(const std::vector<runs::RunCell>& cells) {
    const Contrast found =
        largest_contrast(cells, least_first, first_of, [](const runs::RunCell& good, const runs::RunCell& bad) {
            return good.draft_tokens != bad.draft_tokens && good.shape.empty() && bad.shape.empty() &&
                   good.batch == bad.batch && similar_contexts(good, bad);
        });
    return found.best == nullptr
               ? ""
               : fmt::format(
                     "The first of {} drafts is accepted in {} of rounds, the first of {} in {}: it does not know how "
                     "many follow, so with {} drafts it is made, or checked, in another way.",
                     found.best->draft_tokens, percent(least_first(*found.best)), found.worst->draft_tokens,
                     percent(first_of(*found.worst)), found.worst->draft_tokens);
}

/// Acceptance that collapses as contexts grow: the drafter has not learned such positions, or turns them wrongly.
void add_long_contexts(const std::vector<runs::RunCell>& cells, std::vector<Cause>& causes) {
    const Contrast found =
        largest_contrast(cells, yield_of, yield_of, [](const runs::RunCell& small, const runs::RunCell& large) {
            return small.draft_tokens == large.draft_tokens && small.shape == large.shape && small.batch == large.batch &&
                   small.context > 0.0 && large.context >= 2.0 * small.context;
        });
    if (found.best != nullptr) {
        const double lost = 1.0 - found.worst->accept_length() / found.best->accept_length();
        causes.push_back(
            {CauseKind::long_contexts, lost, 1.0 + lost, true,
             fmt::format("With the same {} draft tokens a round yields {:.2f} tokens at {:.0f} tokens of context "
                         "and {:.2f} at {:.0f}.",
                         found.best->draft_tokens, found.best->accept_length(), found.best->context,
                         found.worst->accept_length(), found.worst->context),
             "a drafter that was trained on sequences of that length, the target's rope scaling in its config, and "
             "a window over its cache",
             "until then draft at short contexts only"});
    }
}

}  // namespace

std::string diagnosis::defects_of(const DiagnosisInput& input) {
    const std::vector<runs::RunCell>& cells = input.accepted;
    std::string evidence;
    const auto take = [&](const std::string& sentence) {
        if (!sentence.empty() && evidence.find(sentence) == std::string::npos) {
            evidence += (evidence.empty() ? "" : " ") + sentence;
        }
    };
    if (input.looks_up) {
        return "";
    }
    take(defect_of_variant(input));
    take(defect_of_batch(cells));
    take(defect_of_length(cells));
    for (const auto& defect : {defect_of_noise, defect_of_later_drafts, defect_of_perfection, defect_of_order}) {
        const auto found = std::find_if(cells.begin(), cells.end(), [&](const runs::RunCell& cell) {
            return counts_enough(cell) && !defect(cell).empty();
        });
        take(found == cells.end() ? "" : defect(*found));
    }
    return evidence;
}

void diagnosis::add_defects(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const std::string evidence = defects_of(diagnosis.input);
    if (!evidence.empty()) {
        const double length = diagnosis.loads.empty() ? 0.0 : diagnosis.loads[diagnosis.focus].accept_length;
        const double lost = length > 0.0 ? 1.0 - length / (diagnosis.loads[diagnosis.focus].cell.most_accepted() + 1.0) : 0.0;
        causes.push_back({CauseKind::defect, lost, 2.0, true, evidence, check_drafter});
    }
    if (!diagnosis.input.looks_up) {
        add_long_contexts(diagnosis.input.accepted, causes);
    }
}

void diagnosis::add_logged_graphs(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const double excess = std::max(0.0, (focus.measured - focus.expected) / focus.measured);
    const sim::Stack& stack = diagnosis.input.rounds[diagnosis.focus].setup.platform.stack;
    if (focus.cell.eager_steps > focus.cell.captured_steps) {
        add(causes, CauseKind::rounds_not_captured, std::max(0.5, excess), true,
            fmt::format("The log says that {} of the steps at {} ran without a graph.",
                        percent(focus.cell.eager_steps / (focus.cell.eager_steps + focus.cell.captured_steps)), at(focus.cell)),
            "raise the largest captured batch" + in_words_of(stack, {{"sglang", "SGLang", "--cuda-graph-max-bs"}}) +
                " or lower the running requests");
        return;
    }
    const runs::RunSettings& settings = diagnosis.input.settings;
    const bool none = settings.graphs == runs::GraphMode::none;
    if (none || settings.graphs == runs::GraphMode::piecewise) {
        const std::string words = settings.graphs_because.empty() ? "" : fmt::format(" (\"{}\")", settings.graphs_because);
        causes.push_back(
            {CauseKind::rounds_not_captured, excess, 1.5, true,
             fmt::format("The log says that passes run {}{}. At {} a round takes {} where {} were expected.",
                         none ? "without graphs" : "in pieces of graphs", words, at(focus.cell), ms(focus.measured),
                         ms(focus.expected)),
             none ? "leave out what switches graphs off" +
                        in_words_of(stack, {{"vllm", "vLLM", "--enforce-eager"}, {"sglang", "SGLang", "--disable-cuda-graph"}})
                  : "an attention back end that supports several rows of a sequence in whole graphs, or a cache in 16 bits" +
                        in_words_of(stack, {{"vllm", "vLLM", "issue 49547"}})});
    }
}

}  // namespace treeline::sweeps
