// Runs that the cost model itself made, with a known fault put in, for diagnoses of them.
#pragma once

#include <algorithm>
#include <vector>

#include "setups.h"
#include "sweeps/diagnosis.h"

namespace treeline::testing {

/// A small target with its draft model, whose rounds such runs are made of.
inline const sim::RoundSetup& small_pair() {
    static const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    return setup;
}

/// Seconds of a plain step of one sequence of it.
inline double small_step() {
    static const double step = sim::evaluate(sim::compile_round(small_pair()), {0, 1.0, 1000.0}).round.value();
    return step;
}

/// The cause of a kind; null if it is not found.
inline const sweeps::Cause* cause_of(const sweeps::Diagnosis& found, sweeps::CauseKind kind) {
    const auto at =
        std::find_if(found.causes.begin(), found.causes.end(), [&](const sweeps::Cause& cause) { return cause.kind == kind; });
    return at == found.causes.end() ? nullptr : &*at;
}

/// A measured load that takes `factor` times what is predicted.
inline sweeps::DiagnosedPoint measured_load(double batch, int length, double factor, double context = 1000.0) {
    static const sim::CompiledRound round = sim::compile_round(small_pair());
    sweeps::DiagnosedPoint point{{}, small_pair(), {length, batch, context}};
    point.cell.batch = batch;
    point.cell.draft_tokens = length;
    point.cell.context = context;
    const sim::RoundEstimate estimate = sim::evaluate(round, point.point);
    point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
    point.cell.round.add(factor * estimate.round.value());
    return point;
}

/// A load whose accept length is stated.
inline runs::RunCell accepted(double batch, int draft_tokens, double length, double context = 0.0) {
    runs::RunCell cell;
    cell.batch = batch;
    cell.draft_tokens = draft_tokens;
    cell.stated_length = length;
    cell.context = context;
    return cell;
}

/// Loads of a deployment: the model's own rounds, with `fault` seconds more.
template <class Fault>
sweeps::DiagnosisInput faulty(const sim::RoundSetup& setup, const std::vector<double>& batches, const std::vector<int>& lengths,
                              Fault fault) {
    const sim::CompiledRound round = sim::compile_round(setup);
    sweeps::DiagnosisInput input;
    for (const double batch : batches) {
        for (const int length : lengths) {
            sweeps::DiagnosedPoint point{{}, setup, {length, batch, 1000.0}};
            point.cell.batch = batch;
            point.cell.draft_tokens = length;
            const sim::RoundEstimate estimate = sim::evaluate(round, point.point);
            point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
            point.cell.round.add(estimate.round.value() + (length > 0 ? fault(batch, length) : 0.0));
            (length > 0 ? input.rounds : input.plain).push_back(point);
        }
    }
    return input;
}

/// A round that is as predicted, but for `factor`, with plain steps as predicted.
inline sweeps::DiagnosisInput as_predicted(const sim::RoundSetup& of, const sim::DesignPoint& point, double factor = 1.0) {
    sweeps::DiagnosisInput input;
    const sim::CompiledRound round = sim::compile_round(of);
    for (const int speculation : {point.speculation, 0}) {
        sweeps::DiagnosedPoint load{{}, of, {speculation, point.batch, point.context}};
        load.cell.batch = point.batch;
        load.cell.context = point.context;
        load.cell.draft_tokens = speculation;
        const sim::RoundEstimate e = sim::evaluate(round, load.point);
        load.cell.stated_length = speculation > 0 ? e.accept_length : 0.0;
        load.cell.round.add(e.round.value() * (speculation > 0 ? factor : 1.0));
        (speculation > 0 ? input.rounds : input.plain).push_back(load);
    }
    return input;
}

}  // namespace treeline::testing
