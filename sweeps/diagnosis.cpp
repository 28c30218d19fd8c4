#include "sweeps/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_plain.h"

namespace treeline::sweeps {
namespace {

Seconds& part_of(RoundParts& parts, RoundPart part) { return parts[static_cast<std::size_t>(part)]; }

/// The parts of the predicted round. What launches and host add to a pass beyond its operations counts as its phase.
RoundParts parts_of(const sim::CompiledRound& round, const sim::DesignPoint& point, const sim::RoundEstimate& estimate) {
    RoundParts parts{};
    part_of(parts, RoundPart::draft) = estimate.draft;
    part_of(parts, RoundPart::verify) = estimate.verify;
    part_of(parts, RoundPart::states) = estimate.rollback;
    part_of(parts, RoundPart::host) = estimate.host;
    part_of(parts, RoundPart::prompts) = estimate.prompts;
    for (const sim::ExplainedPass& pass : sim::explain(round, point)) {
        const bool draft = pass.phase.starts_with("draft"), verify = pass.phase.starts_with("verify");
        if (!draft && !verify) {
            continue;
        }
        Seconds& phase = part_of(parts, draft ? RoundPart::draft : RoundPart::verify);
        for (const sim::OperationEstimate& operation : pass.operations) {
            if (operation.kind == sim::OperationKind::experts || operation.kind == sim::OperationKind::collective) {
                const Seconds time = std::min(operation.time * pass.runs, phase);
                part_of(parts, operation.kind == sim::OperationKind::experts ? RoundPart::experts : RoundPart::collectives) +=
                    time;
                phase -= time;
            }
        }
    }
    return parts;
}

/// A step of plain decoding at a load, with the same share of prompts. The mode is the deployment's: without graphs where its
/// log says so.
Seconds predicted_plain(const sim::CompiledRound& round, const DiagnosedPoint& measured, bool graphs) {
    sim::DesignPoint point = measured.point;
    point.speculation = 0;
    const sim::RoundEstimate plain = sim::evaluate(round, point);
    const Seconds host = diagnosis::launched_one_by_one(round.pass(sim::PassId::plain), measured.setup.platform);
    const Seconds pass = plain.round - plain.prompts;
    return graphs ? plain.round : plain.round + std::max(Seconds(0.0), host - pass);
}

DiagnosedLoad load_of(const DiagnosedPoint& measured, const DiagnosisInput& input) {
    const sim::CompiledRound round = sim::compile_round(measured.setup);
    const sim::RoundEstimate estimate = sim::evaluate(round, measured.point);
    DiagnosedLoad load;
    load.cell = measured.cell;
    load.measured = Seconds(measured.cell.round_seconds());
    load.parts = parts_of(round, measured.point, estimate);
    load.predicted = estimate.round;
    const diagnosis::PlainStep step_of_plain = diagnosis::plain_step(input.plain, measured.cell);
    const double factor = step_of_plain.factor;  // of steps with graphs
    load.plain_predicted = predicted_plain(round, measured, factor > 0.0 || input.settings.graphs != runs::GraphMode::none);
    load.plain_interpolated = factor > 0.0 && step_of_plain.time <= Seconds(0.0);
    load.plain_measured = load.plain_interpolated ? load.plain_predicted * factor : step_of_plain.time;
    load.plain_expected = factor > 0.0 ? load.plain_measured : predicted_plain(round, measured, true);
    load.expected = load.predicted * (factor > 0.0 ? factor : 1.0);
    load.accept_length = measured.cell.accept_length();
    const Seconds step = factor > 0.0 ? load.plain_measured : load.plain_predicted;
    load.break_even = load.measured / step;
    load.speedup = load.accept_length / load.break_even;
    load.served_speedup = measured.cell.tpot.known() ? step_of_plain.tpot / measured.cell.tpot.mean() : 0.0;
    // Of a look-up that drafts in some rounds, these alone can yield more.
    load.ceiling = (1.0 + measured.cell.acceptance.hit_rate() * measured.cell.most_accepted()) / load.break_even;
    return load;
}

/// Least squares over the draft lengths of one batch.
std::pair<double, double> line(const std::vector<double>& x, const std::vector<double>& y) {
    const double n = static_cast<double>(x.size());
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    return {(sy - slope * sx) / n, slope};
}

std::vector<DraftLaw> laws_of(const std::vector<DiagnosedLoad>& loads) {
    std::map<std::pair<double, double>, std::vector<const DiagnosedLoad*>> by_load;
    for (const DiagnosedLoad& load : loads) {
        if (load.cell.shape.empty()) {  // a tree's nodes are no steps
            by_load[{load.cell.batch, std::round(load.cell.context)}].push_back(&load);
        }
    }
    std::vector<DraftLaw> laws;
    for (const auto& [place, members] : by_load) {
        std::vector<double> lengths, measured, predicted;
        for (const DiagnosedLoad* load : members) {
            lengths.push_back(load->cell.draft_tokens);
            measured.push_back(load->measured.value());
            predicted.push_back(load->predicted.value());
        }
        const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
        if (*least == *most) {
            continue;
        }
        const auto [a, b] = line(lengths, measured);
        const auto [pa, pb] = line(lengths, predicted);
        laws.push_back({place.first, place.second, Seconds(a), Seconds(b), Seconds(pa), Seconds(pb),
                        members.front()->plain_measured, static_cast<int>(lengths.size())});
    }
    return laws;
}

/// The load that loses most, or, where acceptance is not known, whose round exceeds expectation most.
std::size_t focus_of(const std::vector<DiagnosedLoad>& loads) {
    std::size_t focus = 0;
    const auto badness = [](const DiagnosedLoad& load) {
        return load.speedup > 0.0 ? -load.speedup : load.measured / load.expected - 100.0;
    };
    for (std::size_t i = 1; i < loads.size(); ++i) {
        focus = badness(loads[i]) > badness(loads[focus]) ? i : focus;
    }
    return focus;
}

/// The cause, and those that the measured times hardly tell from it.
std::vector<CauseKind> hardly_less_than(const Cause& first, const Diagnosis& diagnosis) {
    constexpr double hardly_less = 0.85;  // of its rank
    std::vector<CauseKind> kinds = {first.kind};
    for (const Cause& cause : diagnosis.causes) {
        if (cause.kind != first.kind && first.is_pattern && cause.is_pattern && cause.rank >= hardly_less * first.rank) {
            kinds.push_back(cause.kind);
        }
    }
    return kinds;
}

}  // namespace

std::string Cause::what_to_try() const { return remedy + (remedy.empty() || fewer_drafts.empty() ? "" : "; ") + fewer_drafts; }

std::vector<CauseKind> likeliest(const Diagnosis& diagnosis) {
    return diagnosis.causes.empty() ? std::vector<CauseKind>{} : hardly_less_than(diagnosis.causes.front(), diagnosis);
}

std::vector<CauseKind> likeliest_beyond(const Diagnosis& diagnosis) {
    const auto pattern =
        std::find_if(diagnosis.causes.begin(), diagnosis.causes.end(), [](const Cause& cause) { return cause.is_pattern; });
    const bool predicted = !diagnosis.causes.empty() && !diagnosis.causes.front().beyond_prediction;
    return predicted && pattern != diagnosis.causes.end() ? hardly_less_than(*pattern, diagnosis) : std::vector<CauseKind>{};
}

std::vector<std::string> problems_of(const DiagnosisInput& input) {
    if (input.rounds.empty() && (input.idle.empty() || input.plain.empty()) && diagnosis::defects_of(input).empty()) {
        return {
            "the run holds no load with a known batch at which rounds of drafts were timed; measure at a fixed concurrency "
            "(`treeline import --batch N` states it where a log does not), and where there are times per token alone, give "
            "accept lengths, too"};
    }
    return {};
}

Diagnosis diagnose(DiagnosisInput input) {
    Diagnosis diagnosis;
    for (const DiagnosedPoint& point : input.rounds) {
        diagnosis.loads.push_back(load_of(point, input));
    }
    diagnosis.focus = focus_of(diagnosis.loads);
    diagnosis.laws = laws_of(diagnosis.loads);
    diagnosis.input = std::move(input);
    diagnosis.causes = causes_of(diagnosis);
    return diagnosis;
}

}  // namespace treeline::sweeps
