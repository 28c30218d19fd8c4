#include "validation/breakdown.h"

#include "validation/predict.h"

namespace treeline::validation {
namespace {

using Terms = std::vector<PredictedTerm>;

void add_time(Terms& terms, const char* name, Seconds time) { terms.push_back({name, time.value(), "time"}); }

Terms memory_terms(const sim::CompiledRound& round, const ExperimentPoint& point) {
    Terms terms;
    for (const sim::MemoryPart& part : sim::memory_parts(round, design_point(point))) {
        terms.push_back({part.part, part.bytes.value(), "size"});
    }
    return terms;
}

Terms scan_terms(const sim::CompiledRound& round, const ExperimentPoint& point) {
    Terms terms;
    for (const sim::ExplainedPass& pass : sim::explain(round, design_point(point))) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            if (operation.kind == sim::OperationKind::scan) {
                terms.push_back({pass.phase + ": scan of a layer", operation.time.value() / operation.count, "time"});
            }
        }
    }
    return terms;
}

Terms round_terms(const sim::CompiledRound& round, const ExperimentPoint& point) {
    const sim::RoundEstimate estimate = sim::evaluate(round, design_point(point));
    Terms terms;
    add_time(terms, "round", estimate.round);
    add_time(terms, "draft", estimate.draft);
    add_time(terms, "verify", estimate.verify);
    add_time(terms, "rollback", estimate.rollback);
    add_time(terms, "host, outside the passes", estimate.host);
    add_time(terms, "plain decoding, one token", estimate.autoregressive);
    terms.push_back({"accept length", estimate.accept_length, "count"});
    if (point.generated_tokens > 0.0) {
        add_time(terms, "prompt", sim::time_to_first_token(round, point.prompt_tokens));
    }
    return terms;
}

Terms fpga_terms(const FpgaPoint& point) {
    const sim::fpga::RoundCost round = round_of(point);
    Terms terms;
    add_time(terms, "round", round.time);
    add_time(terms, "draft", round.draft);
    add_time(terms, "verify", round.verify.time);
    add_time(terms, "verify: units", round.verify.compute);
    add_time(terms, "verify: memory", round.verify.memory);
    add_time(terms, "verify: states moved alongside", round.verify.exposed);
    add_time(terms, "plain decoding, one token", round.plain.time);
    terms.push_back({"accept length", round.accept_length, "count"});
    return terms;
}

Terms terms_of(Observable observable, const ExperimentPoint& point, const sim::Platform& platform) {
    if (point.fpga) {
        return dimension_of(observable) == "count" ? Terms{} : fpga_terms(*point.fpga);
    }
    const sim::CompiledRound round = compiled_round(point, platform);
    return observable == Observable::memory      ? memory_terms(round, point)
           : observable == Observable::scan_time ? scan_terms(round, point)
                                                 : round_terms(round, point);
}

}  // namespace

Breakdown breakdown_of(const ExperimentRow& row, const sim::Platform& platform) {
    Breakdown breakdown = {terms_of(row.observable, *row.point, platform), {}};
    if (row.relative_to) {
        breakdown.relative_to = terms_of(row.observable, *row.relative_to, platform);
    }
    return breakdown;
}

}  // namespace treeline::validation
