// Rows of accelerators: their conditions are those of a run of `treeline estimate`; the platform names the design.
#include <fmt/format.h>

#include "hardware/fpga.h"
#include "json/wording.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/validate/experiment_point.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

struct NamedStage {
    const char* name;
    sim::fpga::AblationStage stage;
};

constexpr NamedStage stages[] = {{"no speculation", sim::fpga::AblationStage::plain},
                                 {"naive", sim::fpga::AblationStage::naive},
                                 {"T1", sim::fpga::AblationStage::hybrid_backtracking},
                                 {"T1 + T2", sim::fpga::AblationStage::fifo_tree},
                                 {"T1 + T2 + T3", sim::fpga::AblationStage::overlap}};

std::optional<sim::fpga::AblationStage> take_stage(Json& conditions) {
    if (!conditions.contains("stage")) {
        return std::nullopt;
    }
    const Json value = conditions["stage"];
    conditions.erase("stage");
    std::vector<std::string> names;
    for (const NamedStage& known : stages) {
        if (value == known.name) {
            return known.stage;
        }
        names.emplace_back(known.name);
    }
    throw text::InputError({fmt::format("stage must be {}", text::listed(names, "or"))});
}

}  // namespace

void ExperimentPoints::read_design(const std::string& name, json::Reader& at, validation::ExperimentPlatform& platform) {
    platform.design = with_whole_paths(at.text("design"), folder_);
    at.finish();
    shared_.platforms[name] = at.raw();
    try {
        for (const text::Provenance& number : hardware::load_design(hardware_, platform.design).provenance) {
            if (number.kind == "fitted") {
                const std::string place = number.path.substr(number.path.rfind('/') + 1);
                platform.fitted_numbers.push_back(fmt::format("{} = {}: {}", place, number.text, number.source));
            }
        }
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem("design", problem);
        }
    }
}

validation::ExperimentPoint ExperimentPoints::fpga_point(Json conditions, const validation::ExperimentPlatform& platform) {
    validation::FpgaPoint point;
    point.stage = take_stage(conditions);
    if (conditions.value("draft_tokens", Json()) == 0) {
        for (const char* key : {"drafter", "shape", "accept_length"}) {
            conditions.erase(key);
        }
    }
    conditions.erase("draft_tokens");
    conditions.erase("platform");
    conditions["design"] = platform.design;
    json::Document document = json::Document::of(conditions, "");
    json::Reader root = document.root();
    const sweeps::FpgaRun run = read_fpga_run(root, descriptions_, hardware_);
    validation::ExperimentPoint result;
    if (const sim::Model* target = descriptions_.model(root, "target")) {
        result.setup.target = *target;
    }
    root.finish();
    document.throw_if_problems();
    if (std::vector<std::string> problems = problems_of(run); !problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    point.board = run.board;
    point.design = run.design;
    point.target = run.target.shape;
    point.drafter = run.drafter ? run.drafter->shape : sim::fpga::MambaShape();
    point.tree = run.tree;
    point.accept_length = run.accept_length;
    point.options = run.options;
    result.fpga = std::move(point);
    return result;
}

}  // namespace treeline::requests
