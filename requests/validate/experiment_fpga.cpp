// Rows of accelerators: their conditions are those of `treeline fpga estimate`; the platform names the design.
#include <fmt/format.h>

#include "hardware/fpga.h"
#include "json/wording.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/validate/experiment_point.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct NamedStage {
    const char* name;
    fpga::AblationStage stage;
};

constexpr NamedStage stages[] = {{"no speculation", fpga::AblationStage::plain},
                                 {"naive", fpga::AblationStage::naive},
                                 {"T1", fpga::AblationStage::hybrid_backtracking},
                                 {"T1 + T2", fpga::AblationStage::fifo_tree},
                                 {"T1 + T2 + T3", fpga::AblationStage::overlap}};

std::optional<fpga::AblationStage> take_stage(Json& conditions) {
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
    throw InputError({fmt::format("stage must be {}", listed(names, "or"))});
}

}  // namespace

void ExperimentPoints::read_design(const std::string& name, json::Reader& at, ExperimentPlatform& platform) {
    platform.design = with_whole_paths(at.text("design"), folder_);
    at.finish();
    shared_.platforms[name] = at.raw();
    try {
        for (const Provenance& number : load_design(hardware_, platform.design).provenance) {
            if (number.kind == "fitted") {
                const std::string place = number.path.substr(number.path.rfind('/') + 1);
                platform.fitted_numbers.push_back(fmt::format("{} = {}: {}", place, number.text, number.source));
            }
        }
    } catch (const InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem("design", problem);
        }
    }
}

ExperimentPoint ExperimentPoints::fpga_point(Json conditions, const ExperimentPlatform& platform) {
    FpgaPoint point;
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
    const FpgaRun run = read_fpga_run(root, descriptions_, hardware_);
    ExperimentPoint result;
    if (const Model* target = descriptions_.model(root, "target")) {
        result.setup.target = *target;
    }
    root.finish();
    document.throw_if_problems();
    if (std::vector<std::string> problems = problems_of(run); !problems.empty()) {
        throw InputError(std::move(problems));
    }
    point.board = run.board;
    point.design = run.design;
    point.target = run.target.shape;
    point.drafter = run.drafter ? run.drafter->shape : fpga::MambaShape();
    point.tree = run.tree;
    point.accept_length = run.accept_length;
    point.options = run.options;
    result.fpga = std::move(point);
    return result;
}

}  // namespace treeline
