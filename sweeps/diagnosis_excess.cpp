// Which hypotheses explain what rounds take too long: one, several that are alike, or two together.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_hypotheses.h"

namespace treeline::sweeps {

namespace {

using diagnosis::at;
using diagnosis::captures_sizes;
using diagnosis::Hypothesis;
using diagnosis::ms;
using diagnosis::percent;

/// How a hypothesis fits the excess of all loads.
struct Fitted {
    double factor = 0.0, explained = 0.0;
};

/// "3 loads take", "the load takes".
std::string loads_take(std::size_t loads) { return loads == 1 ? "the load takes" : fmt::format("{} loads take", loads); }

/// `beside`: the other cause of two that explain the excess together; empty where one does.
std::string evidence_of(const Hypothesis& hypothesis, const Fitted& fitted, const std::string& beside,
                        const Diagnosis& diagnosis) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const Seconds extra(fitted.factor * hypothesis.seconds[diagnosis.focus]);
    std::string text =
        fmt::format("At {} a round takes {} where {} were expected. ", at(focus.cell), ms(focus.measured), ms(focus.expected));
    const std::string explains = beside.empty() ? fmt::format("explains {} of what {} too long", percent(fitted.explained),
                                                              loads_take(diagnosis.loads.size()))
                                                : fmt::format("and {} together explain {} of what {} too long", beside,
                                                              percent(fitted.explained), loads_take(diagnosis.loads.size()));
    text += hypothesis.sized() ? fmt::format("With {} it would take {} more, {:.1f} times which {}", hypothesis.unit,
                                             ms(Seconds(hypothesis.seconds[diagnosis.focus])), fitted.factor, explains)
                               : fmt::format("An extra {} for {} {}", ms(Seconds(fitted.factor)), hypothesis.unit, explains);
    text += fmt::format(" ({} here).", ms(extra));
    if (focus.cell.drafting.known() && hypothesis.kind == CauseKind::drafter_not_captured) {
        text +=
            fmt::format(" The engine measured {} of drafting in a round; {} were predicted.",
                        ms(Seconds(focus.cell.drafting.mean())), ms(focus.parts[static_cast<std::size_t>(RoundPart::draft)]));
    }
    return text;
}

/// What the loads take too long, and how much each counts.
struct Excess {
    std::vector<double> seconds, weight;
};

Excess excess_of(const Diagnosis& diagnosis) {
    Excess excess;
    for (const DiagnosedLoad& load : diagnosis.loads) {
        excess.seconds.push_back((load.measured - load.expected).value());
        excess.weight.push_back(1.0 / std::pow(load.measured.value(), 2));
    }
    return excess;
}

/// A known size that fits says more than a pattern whose size is free.
double plausibility(const Hypothesis& hypothesis, double factor) {
    return hypothesis.sized() ? 1.0 - 0.15 * std::abs(std::log2(factor)) : 0.75;
}

/// One hypothesis with its fit, or two that explain the excess only together.
struct Explanation {
    std::vector<const Hypothesis*> parts;
    std::vector<double> factors;
    double explained = 0.0;
    /// Of two: what would do as well in the place of each.
    std::vector<std::vector<const Hypothesis*>> instead = {};

    [[nodiscard]] double plausible() const {
        double sum = 0.0;
        for (std::size_t j = 0; j < parts.size(); ++j) {
            sum += plausibility(*parts[j], factors[j]) / static_cast<double>(parts.size());
        }
        return sum;
    }
    [[nodiscard]] double rank() const { return explained * explained * plausible(); }
    /// Among fits that all explain nearly everything, by the relative error that is left.
    [[nodiscard]] double exactness() const { return (1.0 - std::sqrt(std::max(0.0, 1.0 - explained))) * plausible(); }
};

Explanation explanation_of(std::vector<const Hypothesis*> parts, const Excess& excess) {
    const diagnosis::PatternFit fitted =
        diagnosis::fit(std::vector<const diagnosis::Pattern*>(parts.begin(), parts.end()), excess.seconds, excess.weight);
    return {std::move(parts), fitted.factors, fitted.explained};
}

/// Whether each part adds something worth naming to some load, and to the one in focus.
bool all_count(const Explanation& explanation, const Diagnosis& diagnosis) {
    for (std::size_t j = 0; j < explanation.parts.size(); ++j) {
        const double share = explanation.factors[j] * explanation.parts[j]->seconds[diagnosis.focus] /
                             diagnosis.loads[diagnosis.focus].measured.value();
        if (explanation.factors[j] <= 0.0 || share < 0.03) {
            return false;
        }
    }
    return true;
}

/// A fit that explains this much explains all: what explains less beside it is only like it.
constexpr double nearly_all = 0.9;

/// Two hypotheses where they explain nearly everything and the best one alone does not; nothing else.
Explanation best_of_two(const std::vector<Hypothesis>& hypotheses, const Excess& excess, const Diagnosis& diagnosis,
                        double alone) {
    Explanation best;
    std::vector<Explanation> all;
    constexpr std::size_t least_loads = 4;
    if (excess.seconds.size() < least_loads || alone >= 0.95) {
        return best;
    }
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        for (std::size_t j = i + 1; j < hypotheses.size(); ++j) {
            Explanation two = explanation_of({&hypotheses[i], &hypotheses[j]}, excess);
            const bool worth_it = two.explained >= nearly_all && 1.0 - two.explained <= 0.4 * (1.0 - alone);
            if (worth_it && all_count(two, diagnosis)) {
                all.push_back(std::move(two));
            }
        }
    }
    for (const Explanation& two : all) {
        best = best.parts.empty() || two.exactness() > best.exactness() ? two : best;
    }
    constexpr double hardly_less = 0.85;
    best.instead.resize(best.parts.size());
    for (const Explanation& two : all) {
        for (std::size_t j = 0; j < best.parts.size() && two.exactness() >= hardly_less * best.exactness(); ++j) {
            const Hypothesis* kept = best.parts[1 - j];
            const bool shares = two.parts[0] == kept || two.parts[1] == kept;
            const Hypothesis* other = two.parts[0] == kept ? two.parts[1] : two.parts[0];
            if (shares && other != best.parts[j]) {
                best.instead[j].push_back(other);
            }
        }
    }
    return best;
}

void add_explanation(const Explanation& explanation, const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const double excess = (focus.measured - focus.expected) / focus.measured;
    const bool together = explanation.parts.size() > 1;
    for (std::size_t j = 0; j < explanation.parts.size(); ++j) {
        const Hypothesis& hypothesis = *explanation.parts[j];
        const double share =
            std::min(1.0, explanation.factors[j] * hypothesis.seconds[diagnosis.focus] / focus.measured.value());
        const std::string beside = together ? std::string(name_of(explanation.parts[1 - j]->kind)) : "";
        // The larger part of two comes first.
        const double rank = excess * explanation.rank() * (together ? 0.95 + 0.05 * share : 1.0);
        Cause cause{hypothesis.kind,
                    share,
                    rank,
                    true,
                    evidence_of(hypothesis, {explanation.factors[j], explanation.explained}, beside, diagnosis),
                    hypothesis.remedy,
                    hypothesis.fewer_drafts,
                    true};
        cause.together = together;
        for (const Hypothesis* other : together ? explanation.instead[j] : std::vector<const Hypothesis*>{}) {
            cause.evidence += fmt::format(" In its place \"{}\" would explain nearly as much.", name_of(other->kind));
        }
        causes.push_back(std::move(cause));
    }
}

void add_unexplained(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const Seconds excess = focus.measured - focus.expected;
    diagnosis::add(causes, CauseKind::unexplained, excess / focus.measured, true,
                   fmt::format("At {} a round takes {} where {} were expected, and how much more the {} loads take follows "
                               "neither their batches nor their drafts, contexts or prompts.",
                               at(focus.cell), ms(focus.measured), ms(focus.expected), diagnosis.loads.size()),
                   "measure this load again, with a warm-up, and its neighbours; then look for what is peculiar to it: another "
                   "process on the devices, compilation during the run" +
                       std::string(captures_sizes(diagnosis.input.rounds[diagnosis.focus].setup.platform)
                                       ? ", a size without a captured graph"
                                       : ""));
}

}  // namespace

void diagnosis::add_excess_causes(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const Excess excess = excess_of(diagnosis);
    const bool eager_logged = std::any_of(causes.begin(), causes.end(),
                                          [](const Cause& cause) { return cause.kind == CauseKind::rounds_not_captured; });
    if (excess.seconds[diagnosis.focus] < notable * diagnosis.loads[diagnosis.focus].measured.value()) {
        return;
    }
    std::vector<Hypothesis> hypotheses = hypotheses_of(diagnosis);
    std::erase_if(hypotheses, [&](const Hypothesis& hypothesis) {
        return eager_logged && hypothesis.kind == CauseKind::rounds_not_captured;
    });
    std::vector<Explanation> single;
    double best = 0.0;
    for (const Hypothesis& hypothesis : hypotheses) {
        Explanation one = explanation_of({&hypothesis}, excess);
        if (one.explained >= 0.3 && all_count(one, diagnosis)) {
            best = std::max(best, one.explained);
            single.push_back(std::move(one));
        }
    }
    if (const Explanation two = best_of_two(hypotheses, excess, diagnosis, best); !two.parts.empty()) {
        add_explanation(two, diagnosis, causes);
        return;
    }
    constexpr double alike = 0.15;
    for (const Explanation& one : single) {
        if (best < nearly_all || one.explained >= best - alike) {
            add_explanation(one, diagnosis, causes);
        }
    }
    if (single.empty() && !eager_logged) {
        add_unexplained(diagnosis, causes);
    }
}

}  // namespace treeline::sweeps
