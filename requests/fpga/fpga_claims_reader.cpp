#include <fmt/format.h>

#include "hardware/fpga.h"
#include "requests/fpga/fpga_claims_reader.h"
#include "requests/keys/fpga_keys.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

std::vector<sweeps::FpgaModel> read_models(json::Reader& at, Descriptions& descriptions) {
    std::vector<sweeps::FpgaModel> models;
    for (json::Reader& entry : at.objects_or_texts(fpga_claim_keys::drafters, "model")) {
        if (const sim::Model* model = descriptions.model(entry, "model")) {
            const std::string problem = sim::fpga::shape_problem(*model);
            if (problem.empty()) {
                models.push_back({model->name, sim::fpga::shape_of(*model)});
            } else {
                entry.problem("model", problem);
            }
        }
        entry.finish();
    }
    return models;
}

std::vector<sweeps::ClaimedStorage> read_states(json::Reader& at) {
    std::vector<sweeps::ClaimedStorage> states;
    for (json::Reader& entry : at.objects(fpga_claim_keys::states)) {
        sweeps::ClaimedStorage state;
        state.label = read(entry, fpga_state_keys::label);
        state.storage.bits = read(entry, fpga_state_keys::bits);
        state.storage.scale_bits = read(entry, fpga_state_keys::scale_bits);
        state.storage.group = read(entry, fpga_state_keys::group);
        entry.finish();
        states.push_back(std::move(state));
    }
    return states;
}

/// The run on other designs, each on its own board.
std::vector<sweeps::FpgaRun> read_designs(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware,
                                          const sweeps::FpgaRun& run) {
    std::vector<sweeps::FpgaRun> runs;
    for (const std::string& name : at.texts(fpga_claim_keys::designs)) {
        try {
            sweeps::FpgaRun other = run;
            json::Described<sim::fpga::Design> design = hardware::load_design(hardware, descriptions.resolved(name));
            other.design = std::move(design.value);
            other.board = hardware::load_board(hardware, other.design.board).value;
            descriptions.add_provenance(design.provenance);
            for (const std::string& problem : problems_of(other)) {
                at.problem(fpga_claim_keys::designs, problem);
            }
            runs.push_back(std::move(other));
        } catch (const text::InputError& error) {
            for (const std::string& problem : error.problems()) {
                at.problem(fpga_claim_keys::designs, problem);
            }
        }
    }
    return runs;
}

void read_structures(json::Reader at, Descriptions& descriptions, sweeps::FpgaClaimsInput& input) {
    input.structures_source = read(at, fpga_structure_keys::source);
    const double bonus = read(at, fpga_structure_keys::bonus_token_counted) ? 0.0 : 1.0;
    for (json::Reader& entry : at.objects(fpga_structure_keys::rows_key)) {
        sweeps::ClaimedStructure structure;
        structure.data = read(entry, fpga_structure_keys::data);
        structure.label = read(entry, fpga_structure_keys::label);
        const sim::TreeShape shape = read_shape_under(entry, fpga_structure_keys::shape, descriptions);
        structure.accept_length = bonus + read(entry, fpga_structure_keys::accepted);
        if (problems(shape).empty()) {
            structure.tree = sim::build_tree(shape, sim::RankAcceptance());
            if (structure.accept_length > structure.tree.depth() + 1.0) {
                entry.problem(fpga_structure_keys::accepted,
                              fmt::format("makes an accept length of {}, but this shape yields at most {}",
                                          text::short_text(structure.accept_length), structure.tree.depth() + 1));
            }
        }
        entry.finish();
        input.structures.push_back(std::move(structure));
    }
    at.finish();
}

}  // namespace

sweeps::FpgaClaimsInput read_fpga_claims(json::Document& document, Descriptions& descriptions,
                                         const std::filesystem::path& hardware) {
    sweeps::FpgaClaimsInput input;
    json::Reader root = document.root();
    json::Reader run = root.object(fpga_claim_keys::run);
    input.run = read_fpga_run(run, descriptions, hardware);
    run.finish();
    if (document.problems().empty() && !input.run.speculates()) {
        root.problem(fpga_claim_keys::run, "needs a drafter and a tree");
    }
    document.throw_if_problems();
    document.add_problems(problems_of(input.run));
    input.drafters = read_models(root, descriptions);
    input.states = read_states(root);
    input.designs = read_designs(root, descriptions, hardware, input.run);
    read_structures(root.object(fpga_claim_keys::structures), descriptions, input);
    static_cast<void>(read(root, fpga_claim_keys::title));
    root.finish();
    document.throw_if_problems();
    return input;
}

}  // namespace treeline::requests
