#include "hardware/accelerators.h"

#include <vector>

#include "hardware/catalogue.h"
#include "hardware/catalogue_files.h"
#include "hardware/fpga.h"
#include "json/wording.h"

namespace treeline::hardware {
namespace {

namespace fs = std::filesystem;

const CatalogueFolders all_folders = {"gpu", "cpu", "fpga", "fpga/designs"};

HardwareKind kind_of_description(const std::string& path) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    return root.has("linear") ? HardwareKind::design : root.has("dsps") ? HardwareKind::board : HardwareKind::device;
}

/// Names of the designs that were made for this board.
std::vector<std::string> designs_for(const fs::path& catalogue, const std::string& board) {
    std::vector<std::string> designs;
    for (const std::string& name : design_names(catalogue)) {
        if (load_design(catalogue, name).value.board == board) {
            designs.push_back(name);
        }
    }
    return designs;
}

std::string why_no_design(const fs::path& catalogue, const std::string& board) {
    const std::vector<std::string> designs = designs_for(catalogue, board);
    return "is an FPGA board: it needs a \"design\"" +
           (designs.empty() ? ", the name or path of an accelerator for it"
                            : "; " + text::listed(designs, "and") + (designs.size() > 1 ? " are" : " is") + " made for it");
}

json::Described<sim::Platform> on_board(const fs::path& catalogue, const std::string& design, const std::string& board) {
    json::Described<sim::fpga::Design> described = load_design(catalogue, design);
    json::Described<sim::fpga::Board> carrier = load_board(catalogue, board.empty() ? described.value.board : board);
    std::vector<text::Provenance> provenance = std::move(carrier.provenance);
    provenance.insert(provenance.end(), described.provenance.begin(), described.provenance.end());
    return {sim::platform_of({std::move(carrier.value), std::move(described.value)}), std::move(provenance)};
}

}  // namespace

HardwareKind hardware_kind_of(const fs::path& catalogue, const std::string& name_or_path) {
    const fs::path file = catalogue_file(catalogue, all_folders, "device", name_or_path);
    if (file == name_or_path) {
        return kind_of_description(name_or_path);
    }
    const std::string folder = file.parent_path().filename().string();
    return folder == "designs" ? HardwareKind::design : folder == "fpga" ? HardwareKind::board : HardwareKind::device;
}

json::Described<sim::Platform> load_hardware(const fs::path& catalogue, const std::string& name_or_path,
                                             const std::string& design) {
    const HardwareKind kind = hardware_kind_of(catalogue, name_or_path);
    if (kind == HardwareKind::design && design.empty()) {
        return on_board(catalogue, name_or_path, "");
    }
    if (kind == HardwareKind::board && !design.empty()) {
        return on_board(catalogue, design, name_or_path);
    }
    if (kind == HardwareKind::board) {
        throw text::InputError({name_or_path + " " + why_no_design(catalogue, fs::path(name_or_path).stem().string())});
    }
    if (!design.empty()) {
        throw text::InputError({name_or_path + " is not an FPGA board, so it cannot carry the design " + design});
    }
    json::Described<sim::Device> device = load_device(catalogue, name_or_path);
    sim::Platform platform;
    platform.device = std::move(device.value);
    return {std::move(platform), std::move(device.provenance)};
}

}  // namespace treeline::hardware
