// The estimate of an accelerator as JSON.
#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_output.h"
#include "reports/provenance_output.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json resources_json(const sim::fpga::Resources& resources) {
    return {{"dsps", resources.dsps}, {"luts", resources.luts}, {"bram18s", resources.bram18s}, {"urams", resources.urams}};
}

Json stream_json(const sim::fpga::TileStream& stream) {
    return {{"tiles_per_block", stream.tiles_per_block},
            {"blocks", stream.blocks},
            {"cycles_per_tile", stream.cycles_per_tile},
            {"array_cycles", stream.array_cycles},
            {"memory_cycles", stream.memory_cycles},
            {"multiplier_cycles", stream.multiplier_cycles},
            {"bound", name_of(stream.bound)},
            {"padded_share", stream.padded_share}};
}

Json layer_json(const sim::fpga::LayerCycles& layer) {
    Json terms = Json::object();
    for (const sweeps::FpgaTerm& term : sweeps::terms_of(layer)) {
        terms[term.name] = term.cycles;
    }
    return {{"cycles", layer.total},
            {"terms", terms},
            {"in_proj", stream_json(layer.in_stream)},
            {"out_proj", stream_json(layer.out_stream)},
            {"scan_linear_cycles", layer.scan_linear},
            {"ssm_cycles", layer.ssm_busy},
            {"replay_cycles", layer.replay},
            {"padded_state_share", layer.padded_state_share},
            {"convolution_cycles", layer.convolution_busy},
            {"scan_bound", name_of(layer.bound)},
            {"linear_stall_cycles", layer.linear_stall},
            {"ssm_stall_cycles", layer.ssm_stall}};
}

Json pass_json(const sweeps::FpgaNamedPass& pass) {
    const sim::fpga::PassCost& cost = *pass.cost;
    return {{"pass", pass.name},
            {"runs", pass.runs},
            {"seconds", cost.time.value()},
            {"compute_seconds", cost.compute.value()},
            {"memory_seconds", cost.memory.value()},
            {"exposed_seconds", cost.exposed.value()},
            {"bound", name_of(cost.bound)},
            {"bytes",
             {{"weights", cost.bytes.weights.value()},
              {"lm_head", cost.bytes.head.value()},
              {"states", cost.bytes.states.value()},
              {"activations", cost.bytes.activations.value()},
              {"exposed_states", cost.bytes.exposed_states.value()}}},
            {"lm_head_cycles", cost.head_cycles},
            {"layer", layer_json(cost.layer)}};
}

Json fifo_json(const sweeps::FpgaEstimate& estimate) {
    const sim::fpga::IssueSchedule& schedule = estimate.work.schedule;
    return {{"depth", estimate.run.design.ssm.fifo_depth},
            {"depth_needed", schedule.fifo_depth_needed},
            {"high_water", schedule.fifo_high_water},
            {"issue_cycles", schedule.issue},
            {"group_cycles", schedule.cycles},
            {"stall_cycles", schedule.stall_cycles},
            {"occupancy",
             sim::fpga::fifo_occupancy(sim::fpga::verified_parents(estimate.run.tree), estimate.run.design.ssm.rules)}};
}

Json used_json(const sweeps::FpgaEstimate& estimate) {
    Json units = Json::array();
    for (const sim::fpga::UnitUse& unit : estimate.resources.units) {
        Json entry = resources_json(unit.used);
        entry["unit"] = unit.unit;
        units.push_back(std::move(entry));
    }
    return {{"total", resources_json(estimate.resources.total)},
            {"board", resources_json(estimate.run.board.resources)},
            {"units", units}};
}

}  // namespace

Json fpga_json(const sweeps::FpgaEstimate& estimate, const Json& echo) {
    const sim::fpga::RoundCost& round = estimate.round;
    Json passes = Json::array();
    for (const sweeps::FpgaNamedPass& pass : sweeps::passes_of(estimate)) {
        passes.push_back(pass_json(pass));
    }
    Json result = {{"format", "treeline-fpga-estimate"},
                   {"version", 1},
                   {"answer", sentence_of(estimate)},
                   {"input", echo},
                   {"design", estimate.run.design.name},
                   {"board", estimate.run.board.name},
                   {"changes", estimate.run.changes},
                   {"tokens_per_second", round.tokens_per_second},
                   {"speedup", round.speedup},
                   {"accept_length", round.accept_length},
                   {"break_even_accept_length", round.break_even_accept_length},
                   {"round_seconds", round.time.value()},
                   {"draft_seconds", round.draft.value()},
                   {"draft_passes", round.draft_passes}};
    const sim::fpga::PowerParts& power = round.power;
    const bool knows_power = power.total().value() > 0.0;
    result["watts"] = knows_power ? Json(power.total().value()) : Json();
    result["watts_by_cause"] = knows_power ? Json{{"leakage", power.leakage.value()},
                                                  {"clocked", power.clocked.value()},
                                                  {"memory", power.memory.value()},
                                                  {"products", power.products.value()}}
                                           : Json();
    result["tokens_per_joule"] = knows_power ? Json(round.tokens_per_joule) : Json();
    result["passes"] = std::move(passes);
    if (estimate.run.speculates()) {
        result["fifo"] = fifo_json(estimate);
    }
    result["resources"] = used_json(estimate);
    result["memory_bytes"] = estimate.memory.value();
    result["inputs"] = provenance_json(estimate.run.provenance);
    return result;
}

}  // namespace treeline::reports
